import { statfs } from 'node:fs/promises'
import { listSyncRuns } from '../../catalogue/sql/sync-runs.js'
import { ofExtensions } from '../../extensions.js'
import { sumDifferences } from '../../money/sql/reconciliation.js'
import {
  createMetrics,
  type LiveNumbers,
  type Metrics,
  type SharedNumbers,
} from '../../platform/observability/metrics.js'
import { publicationHealth } from '../../release/health.js'
import { createReleaseReader } from '../../release/read/release-reader.js'
import { measureSkew } from '../../work/clock-check.js'
import { runNumbers } from '../../work/sql/run-numbers.js'
import type { Runtime } from './runtime.js'

/**
 * The metrics of this process, which has a `name` among several of a worker; numbers that all processes share come from the run
 * ledger and the live release.
 */
export function openMetrics(runtime: Runtime, name?: string): Metrics {
  const { log, feedsDir, clock } = runtime
  const store = runtime.store.answeringWithin(5000)
  const releases = createReleaseReader(feedsDir)
  const since = (at: Date) => Math.max(0, (clock().getTime() - at.getTime()) / 1000)
  const shared = async (): Promise<SharedNumbers> => {
    const numbers = await runNumbers(store.db)
    const lastGoodSync = (await listSyncRuns(store.db, 20)).find(({ state }) => state === 'done')
    const { lastGoodRun, overdue, bucketBehind } = await publicationHealth({ store, releases, clock })
    return {
      runsFinished: numbers.finished,
      runsWaiting: numbers.waiting,
      activitiesRendered: numbers.rendered,
      watchdogRuns: numbers.watchdog,
      openShards: numbers.openShards,
      stageSeconds: numbers.timings,
      overdue,
      ...(bucketBehind !== undefined && { bucketBehind }),
      reconciliationDifference: await sumDifferences(store.db),
      clockSkewSeconds: await measureSkew(store, clock),
      ...(lastGoodSync?.finishedAt && { goodSyncAgeSeconds: since(lastGoodSync.finishedAt) }),
      ...(lastGoodRun?.finishedAt && { goodRunAgeSeconds: since(lastGoodRun.finishedAt) }),
    }
  }
  const live = async (): Promise<LiveNumbers | undefined> => {
    const manifest = (await releases.live())?.manifest
    return (
      manifest && {
        ageSeconds: since(new Date(manifest.generated)),
        activities: manifest.totals.activities,
        held: manifest.held.count,
      }
    )
  }
  const freeDisk = async () => {
    const { bavail, blocks } = await statfs(runtime.config.dataDir)
    return bavail / blocks
  }
  const gauges = ofExtensions('gauge')
  return createMetrics({
    shared,
    gauges: gauges.map((gauge) => ({ ...gauge, read: () => gauge.read(store.db) })),
    live,
    freeDisk,
    ...(name !== undefined && { process: name }),
    onError: (err, source) => log.warn({ err, source }, 'cannot read some metrics'),
  })
}
