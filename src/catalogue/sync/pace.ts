import { setTimeout as sleep } from 'node:timers/promises'
import pLimit, { type LimitFunction } from 'p-limit'

/** The time and how to wait, in milliseconds. */
export type Timer = {
  now(): number
  /** Rejects when the signal is aborted. */
  sleep(ms: number, signal: AbortSignal): Promise<void>
}

const realTime: Timer = {
  now: () => performance.now(),
  sleep: (ms, signal) => sleep(ms, undefined, { signal }),
}

/** Limits requests at a time and a second, evenly spaced; no request starts during a pause that the upstream asked for. */
export class Pace {
  readonly #limit: LimitFunction
  readonly #intervalMs: number
  readonly #time: Timer
  #next = 0
  #pausedUntil = 0

  constructor(
    { concurrency, perSecond }: { readonly concurrency: number; readonly perSecond: number },
    time: Timer = realTime,
  ) {
    this.#limit = pLimit(concurrency)
    this.#intervalMs = 1000 / perSecond
    this.#time = time
  }

  /** Runs `work` when its slot comes; throws the signal's reason when that is aborted first. */
  async run<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T> {
    return await this.#limit(async () => {
      await this.#waitForSlot(signal)
      return await work()
    })
  }

  /** Delays every request that has not started yet. */
  pause(ms: number): void {
    this.#pausedUntil = Math.max(this.#pausedUntil, this.#time.now() + ms)
  }

  async #waitForSlot(signal: AbortSignal): Promise<void> {
    const at = Math.max(this.#next, this.#time.now())
    this.#next = at + this.#intervalMs
    for (let until = at; ; until = this.#pausedUntil) {
      const ms = Math.max(until, this.#pausedUntil) - this.#time.now()
      signal.throwIfAborted()
      if (ms <= 0) return
      await this.#time.sleep(ms, signal)
    }
  }
}
