import { toServiceError } from '../src/kernel/errors.js'
import type { Store } from '../src/platform/database/store.js'
import type { Log } from '../src/platform/observability/log.js'
import type { RunKind } from '../src/work/run.js'
import { reserveQueued, takeNextQueued } from '../src/work/sql/leases.js'
import type { JobQueue } from './queue.js'

/** What giving a run to the queue needs: any process may do it. */
export type DispatchDeps = { readonly store: Store; readonly queue: JobQueue }

/** The job that takes up a queued run, by its kind. */
const startJobs = {
  publication: { queue: 'publish', name: 'start' },
  sync: { queue: 'sync', name: 'sync' },
} as const satisfies Record<RunKind, { queue: string; name: string }>

/**
 * Gives the queue the oldest queued run of a kind when none is worked on. Called whenever a run was entered or an
 * attempt is over, and by every worker each second, so that no single call has to succeed. Throws `queue-unavailable`.
 */
export async function dispatchNext({ store, queue }: DispatchDeps, kind: RunKind): Promise<void> {
  const next = await takeNextQueued(store.db, kind, queue.settings.lockSeconds)
  if (!next) return
  try {
    await queue.add({ ...startJobs[kind], data: { runId: next.id, attempt: next.attempt } })
  } catch (error) {
    await reserveQueued(store.db, kind, next.id, undefined)
    throw error
  }
}

/** `dispatchNext` where a failure must not undo what was achieved: the next round dispatches. */
export async function tryDispatchNext(deps: DispatchDeps & { readonly log: Log }, kind: RunKind): Promise<void> {
  try {
    await dispatchNext(deps, kind)
  } catch (error) {
    deps.log.warn({ kind, error: toServiceError(error).message }, 'the next run could not be given to the queue yet')
  }
}
