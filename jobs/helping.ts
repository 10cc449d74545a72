import { setTimeout as sleep } from 'node:timers/promises'
import type { Log } from '../src/platform/observability/log.js'
import type { QueueWorker } from './queue-worker.js'
import { guarded } from './rounds.js'

const askEveryMs = 1000

/** What ends the work of a process: a consumer of a queue, or help beside the queue. */
export type Ending = Pick<QueueWorker, 'pause' | 'idle' | 'abort'>

/** Helps with what other processes have begun: asks for some of it each second, and again at once after each piece. */
export function startHelping(log: Log, help: (signal: AbortSignal) => Promise<boolean>): Ending {
  const paused = new AbortController()
  const aborted = new AbortController()
  let helped = false
  const ask = guarded(log, 'help with the run of another process', async () => {
    helped = await help(aborted.signal)
  })
  const repeat = async () => {
    while (!paused.signal.aborted) {
      helped = false
      await ask()
      if (!helped) await sleep(askEveryMs, undefined, { signal: paused.signal }).catch(() => undefined)
    }
  }
  const helping = repeat()
  return {
    pause: () => paused.abort(),
    idle: (ms) => Promise.race([helping.then(() => true), sleep(ms, false, { ref: false })]),
    abort: () => aborted.abort(),
  }
}
