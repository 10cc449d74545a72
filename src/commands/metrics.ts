import { createMetrics, type Metrics, type SharedNumbers } from '../observability/metrics.js'
import { publicationHealth } from '../publishing/health.js'
import { createReleaseReader } from '../publishing/releases.js'
import { runNumbers } from '../store/run-numbers.js'
import type { Runtime } from './runtime.js'

/** The metrics of this process; what all processes share is looked up in the ledger and the live release. */
export function openMetrics(runtime: Runtime): Metrics {
  const { log, feedsDir, clock } = runtime
  const store = runtime.store.answeringWithin(5000)
  const releases = createReleaseReader(feedsDir)
  const shared = async (): Promise<SharedNumbers> => {
    const numbers = await runNumbers(store.db)
    const { live, lastGoodRun, overdue } = await publicationHealth({ store, releases, clock })
    const since = (at: Date) => Math.max(0, (clock().getTime() - at.getTime()) / 1000)
    return {
      runsFinished: numbers.finished,
      runsWaiting: numbers.waiting,
      activitiesRendered: numbers.rendered,
      watchdogRuns: numbers.watchdog,
      openShards: numbers.openShards,
      stageSeconds: numbers.timings,
      overdue,
      ...(live && {
        live: {
          ageSeconds: since(new Date(live.manifest.generated)),
          activities: live.manifest.totals.activities,
          held: live.manifest.held.count,
        },
      }),
      ...(lastGoodRun?.finishedAt && { goodRunAgeSeconds: since(lastGoodRun.finishedAt) }),
    }
  }
  return createMetrics({
    shared,
    onError: (err, source) => log.warn({ err, source }, 'some metrics cannot be looked up'),
  })
}
