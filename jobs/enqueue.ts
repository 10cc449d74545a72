import type { Clock } from '../src/domain/dates.js'
import { createRun } from '../src/store/runs/runs.js'
import type { Store } from '../src/store/store.js'
import type { JobQueue } from './queue.js'
import { dispatchNext } from './settle.js'

/** What entering a run needs: any process may do it. */
export type EnqueueDeps = { readonly store: Store; readonly queue: JobQueue; readonly clock: Clock }

/**
 * Enters a run of its own and gives it to the queue, behind the one that is going on, if there is one. Returns the
 * run's id. Throws `queue-unavailable`; the run is in the ledger all the same, and a worker takes it up.
 */
export async function enqueueRun(
  { store, queue, clock }: EnqueueDeps,
  { trigger, force }: { readonly trigger: 'manual' | 'start'; readonly force: boolean },
): Promise<number> {
  const { id } = await createRun(store.db, { trigger, force, at: clock() })
  await dispatchNext({ store, queue, lockSeconds: queue.settings.lockSeconds })
  return id
}
