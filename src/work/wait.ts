import { setTimeout as sleep } from 'node:timers/promises'
import { ServiceError } from '../kernel/errors.js'
import { isFinished } from './run.js'

export type WaitOptions<Summary> = {
  readonly signal: AbortSignal
  /** Called with the run whenever it was looked up and has not ended. */
  readonly onProgress?: (run: Summary) => void
  readonly pollMs?: number
}

/** Polls a run until it has ended. Throws `aborted` by the signal, and what `look` throws. */
export async function waitForEnd<Summary extends { readonly id: number; readonly state: string }>(
  look: () => Promise<Summary>,
  { signal, onProgress, pollMs = 250 }: WaitOptions<Summary>,
): Promise<Summary> {
  for (;;) {
    const run = await look()
    if (isFinished(run)) return run
    onProgress?.(run)
    try {
      await sleep(pollMs, undefined, { signal })
    } catch (error) {
      throw new ServiceError('aborted', `no longer waiting for run ${run.id}`, { cause: error })
    }
  }
}
