import { statfs } from 'node:fs/promises'
import { createMetrics, type LiveNumbers, type Metrics, type SharedNumbers } from '../../observability/metrics.js'
import { publicationHealth } from '../../publishing/health.js'
import { createReleaseReader } from '../../publishing/release/read/release-reader.js'
import { countDatasets, findRegistryRecord } from '../../registry/registry-record.js'
import { measureSkew } from '../../runs/clock-check.js'
import { sumDifferences } from '../../store/donations/reconciliation.js'
import { runNumbers } from '../../store/runs/run-numbers.js'
import { listSyncRuns } from '../../store/runs/sync-runs.js'
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
      datasets: countDatasets(await findRegistryRecord(store.db)),
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
  return createMetrics({
    shared,
    live,
    freeDisk,
    ...(name !== undefined && { process: name }),
    onError: (err, source) => log.warn({ err, source }, 'some metrics cannot be looked up'),
  })
}
