import { startWorker } from '../../../../jobs/worker.js'
import { openStore } from '../../../../src/platform/database/store.js'
import { createLog } from '../../../../src/platform/observability/log.js'
import { type WorkerProcessOptions, workerDeps } from './world.js'

// A worker process for tests: says "ready", stops on SIGTERM, and never outlives the test that forked it.
const options: WorkerProcessOptions = JSON.parse(process.argv[2] ?? '')
const store = openStore({ url: options.url, max: 4, applicationName: 'test worker process' })
const worker = await startWorker(workerDeps(store, options, createLog('fatal')))
const orphaned = () => process.exit(1)
process.once('disconnect', orphaned)
// Nothing forces the exit: whatever stayed open would keep the process, and fail the test.
process.once('SIGTERM', async () => {
  await worker.close()
  await store.close()
  process.off('disconnect', orphaned)
  process.disconnect()
})
process.send?.('ready')
