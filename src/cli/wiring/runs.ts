import { listSyncRuns, type SyncSummary } from '../../catalogue/sql/sync-runs.js'
import type { Store } from '../../platform/database/store.js'
import type { RunSummary } from '../../work/sql/runs.js'

/** One line about a run. */
export function describeRun(run: RunSummary): string {
  const held = run.held > 0 ? `; ${run.held} held` : ''
  switch (run.state) {
    case 'published':
      return `run ${run.id} published release ${run.releaseId}: ${run.rendered} activities rendered${held}`
    case 'unchanged':
      if (run.reason !== undefined) return `run ${run.id} is ${run.reason}: release ${run.releaseId}`
      return `run ${run.id} changed nothing: release ${run.releaseId} stays, ${run.rendered} activities rendered${held}`
    case 'held':
      return `run ${run.id} is held: ${run.reason ?? 'no reason was recorded'}`
    case 'failed':
      return `run ${run.id} failed: ${run.error?.message ?? 'no reason was recorded'}`
    case 'queued':
    case 'running':
      return `run ${run.id} is ${run.state}`
    default:
      return run.state satisfies never
  }
}

/** The last syncs, and how many seconds the mirror is behind. */
export async function lookAtMirror(db: Store['db'], upstream: string | undefined, now: Date) {
  const runs = await listSyncRuns(db, 20)
  const mirroredUntil = runs.find((run) => run.state === 'done')?.mirroredUntil
  return { upstream, lagSeconds: mirroredUntil && Math.round((now.getTime() - mirroredUntil.getTime()) / 1000), runs }
}

/** One line about a sync. */
export function describeSync(run: SyncSummary): string {
  const seconds =
    run.startedAt && run.finishedAt && `, ${((run.finishedAt.getTime() - run.startedAt.getTime()) / 1000).toFixed(1)} s`
  const counts =
    `${run.pages} pages, ${run.created} created, ${run.changed} changed, ${run.unchanged} unchanged, ` +
    `${run.refused} refused, ${run.deactivated} made inactive, ${run.requests} requests`
  const why = run.reason ?? (run.error && `${run.error.code}: ${run.error.message}`)
  return `sync ${run.id} (${run.kind}) ${run.state}: ${counts}${seconds ?? ''}${why ? `; ${why}` : ''}`
}
