import { startWorker, type Worker } from '../../../jobs/worker.js'
import { openStore } from '../../../src/platform/database/store.js'
import { createLog } from '../../../src/platform/observability/log.js'
import { type WorkerProcessOptions, workerDeps } from '../../support/processes/jobs/world.js'

// Starts a worker when it is told to and stops it when it is told to, so that five of these can start at the very same
// moment, again and again. Ends with the process that forked it.
let worker: Worker | undefined
const { url, connection } = JSON.parse(process.argv[2] ?? '') as WorkerProcessOptions
const store = openStore({ url, max: 3, applicationName: 'test starter' })

const obey = async (schedule: string | null): Promise<string> => {
  if (schedule === null) {
    await worker?.close()
    return 'stopped'
  }
  const deps = workerDeps(store, { url, connection, schedule }, createLog('fatal'))
  worker = await startWorker(deps)
  return 'started'
}

process.on('message', (message: { readonly schedule: string | null }) => {
  obey(message.schedule).then(
    (answer) => process.send?.(answer),
    (error: unknown) => process.send?.(`failed: ${error instanceof Error ? error.stack : String(error)}`),
  )
})
process.once('disconnect', () => process.exit(0))
process.send?.('there')
