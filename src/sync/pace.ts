import { setTimeout as sleep } from 'node:timers/promises'

/** Keeps to so many requests at a time and a second; everything waits while the other side has asked for a pause. */
export class Pace {
  readonly #concurrency: number
  readonly #intervalMs: number
  #active = 0
  readonly #waiting: (() => void)[] = []
  #next = 0
  #pausedUntil = 0

  constructor({ concurrency, perSecond }: { readonly concurrency: number; readonly perSecond: number }) {
    this.#concurrency = concurrency
    this.#intervalMs = 1000 / perSecond
  }

  /** Runs `work` when its turn has come; throws the signal's reason when it is aborted while waiting. */
  async run<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T> {
    await this.#enter()
    try {
      await this.#turn(signal)
      return await work()
    } finally {
      this.#active--
      this.#waiting.shift()?.()
    }
  }

  /** Lets nobody begin for so long. */
  pause(ms: number): void {
    this.#pausedUntil = Math.max(this.#pausedUntil, performance.now() + ms)
  }

  async #enter(): Promise<void> {
    while (this.#active >= this.#concurrency) await new Promise<void>((resolve) => this.#waiting.push(resolve))
    this.#active++
  }

  async #turn(signal: AbortSignal): Promise<void> {
    const at = Math.max(this.#next, performance.now())
    this.#next = at + this.#intervalMs
    for (let until = at; ; until = this.#pausedUntil) {
      const ms = Math.max(until, this.#pausedUntil) - performance.now()
      signal.throwIfAborted()
      if (ms <= 0) return
      await sleep(ms, undefined, { signal })
    }
  }
}
