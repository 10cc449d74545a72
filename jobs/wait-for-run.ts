import { setTimeout as sleep } from 'node:timers/promises'
import { ServiceError } from '../src/domain/errors.js'
import { getRun, isFinished, type RunProgress, type RunSummary } from '../src/store/runs/runs.js'
import type { Store } from '../src/store/store.js'

export type WaitOptions = {
  readonly signal: AbortSignal
  /** Hears of the progress whenever it was looked up and has changed. */
  readonly onProgress?: (progress: RunProgress) => void
  readonly pollMs?: number
}

/** Waits until the ledger says that the run has ended. Throws `not-found` for an unknown run, `aborted` by the signal. */
export async function waitForRun(store: Store, runId: number, options: WaitOptions): Promise<RunSummary> {
  let last = ''
  for (;;) {
    const run = await getRun(store.db, runId)
    if (isFinished(run)) return run
    const progress = JSON.stringify(run.progress ?? null)
    if (run.progress && progress !== last) options.onProgress?.(run.progress)
    last = progress
    try {
      await sleep(options.pollMs ?? 250, undefined, { signal: options.signal })
    } catch (error) {
      throw new ServiceError('aborted', `no longer waiting for publication run ${runId}`, { cause: error })
    }
  }
}
