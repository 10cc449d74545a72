import { startWorker, workerFields } from '../../../jobs/worker.js'
import { isoInstantOf } from '../../kernel/dates.js'
import type { Metrics } from '../../platform/observability/metrics.js'
import { pruneReleasesWhenIdle } from '../../release/operate/prune-releases.js'
import { publicationSchedule } from '../../release/run.js'
import { onceReachable } from '../../work/outage.js'
import { nextDue } from '../../work/schedule.js'
import { ownFolderRefusal } from './folder.js'
import { resolveBaseUrl } from './listening.js'
import { openPayments, paymentFields } from './payments.js'
import { openPublication, publicationFields } from './publication.js'
import { tellingRefusal } from './publisher.js'
import type { Runtime } from './runtime.js'
import { needsToTell } from './service-status.js'
import { deliveryOf, keepFollowing, openDelivery } from './shared-folders.js'

export const workFields = [...workerFields, ...publicationFields, ...paymentFields] as const

// A connection that stalls gives no error; the largest query of a publication may take this long.
const workAnswerMs = 120_000

/** Starts a worker in this process, whose first round waits for `entered`; it is closed with the rest. */
export async function openWork(given: Runtime, metrics: Metrics, entered?: Promise<unknown>): Promise<void> {
  const runtime = { ...given, store: given.store.answeringWithin(workAnswerMs) }
  const { config, store, log, clock, signal, feedsDir } = runtime
  // Before it looks whether the database is older than the live release.
  await (await keepFollowing(runtime)).first
  const publication = await onceReachable(log, signal, () => openPublication(runtime))
  const { keepReleases } = config.publish
  const payments = await openPayments(runtime)
  const deliver = await onceReachable(log, signal, () => openDelivery(runtime))
  const worker = await startWorker({
    ...runtime,
    ...{ publication, payments, entered },
    telling: { feedsDir, refusal: () => tellingRefusal(runtime), baseUrl: () => resolveBaseUrl(runtime) },
    ...(deliver && { deliver }),
    needs: () => needsToTell(runtime, payments),
    // The live release of a folder that is not the store's tells nothing about the store.
    pruneFiles: async () => {
      if ((await ownFolderRefusal(runtime)) !== undefined) return
      const shared = (await deliveryOf(runtime))?.shared
      await pruneReleasesWhenIdle({ store, feedsDir, keepReleases, clock, shared })
    },
    onStageSeconds: (stage, seconds) => metrics.observeStage(stage, seconds),
  })
  runtime.defer(() => worker.close())
  metrics.watchQueue(() => worker.queueCounts())
}

/** When the next publication is due, as configured. */
export function nextByConfiguration({ config, clock }: Runtime): string {
  return isoInstantOf(nextDue(publicationSchedule(config), clock()))
}
