import { startWorker } from '../../../../jobs/worker.js'
import { ofExtensions } from '../../../../src/extensions.js'
import { readConfig } from '../../../../src/platform/config/config.js'
import { openStore } from '../../../../src/platform/database/store.js'
import { createLog } from '../../../../src/platform/observability/log.js'
import { createPublication } from '../../../../src/release/create-publication.js'
import { mappingConfig } from '../../../support/values/builders.js'
import type { PublicationStep, PublishingWorkerOptions } from './worker.js'

// A worker with the real publication that may kill itself, as kill -9 would, after a step.
const options: PublishingWorkerOptions = JSON.parse(process.argv[2] ?? '')
const { url, connection, feedsDir, lockSeconds, schedule, dieAfter } = options
const store = openStore({ url, max: 5, applicationName: 'giving test publisher' })
const config = readConfig({ PUBLISH_SCHEDULE: schedule, SHUTDOWN_SECONDS: '6' })
const clock = () => new Date()
const onStep = (step: PublicationStep) => {
  if (step === dieAfter) process.kill(process.pid, 'SIGKILL')
}
const worker = await startWorker({
  config,
  databaseUrl: url,
  store,
  publication: createPublication({
    store,
    mappingConfig,
    feedsDir,
    keepReleases: 3,
    maxLossPercent: 5,
    addFiles: ofExtensions('addFiles'),
    beside: ofExtensions('beside'),
    clock,
    onStep,
  }),
  log: createLog('fatal'),
  clock,
  queue: { connection, lockSeconds, attempts: 5, backoffMs: 100 },
})
const orphaned = () => process.exit(1)
process.once('disconnect', orphaned)
process.once('SIGTERM', async () => {
  await worker.close()
  await store.close()
  process.off('disconnect', orphaned)
  process.disconnect()
})
process.send?.('ready')
