const minuteMs = 60_000

/** Counts names, such as addresses, in each minute. */
export class MinuteCounter {
  readonly most: number
  readonly #counts = new Map<string | number, number>()
  #endsAt = Number.NEGATIVE_INFINITY

  /** `most`: of one name in a minute; 0: no limit. */
  constructor(most: number) {
    this.most = most
  }

  /** Whether this name has reached its number for this minute. */
  isFull(name: string | number, nowMs = performance.now()): boolean {
    return this.most > 0 && nowMs < this.#endsAt && (this.#counts.get(name) ?? 0) >= this.most
  }

  /** Counts one more of a name; returns after how many seconds it may come again, 0 when it may come now. */
  add(name: string | number, nowMs = performance.now()): number {
    if (this.most === 0) return 0
    if (nowMs >= this.#endsAt) {
      this.#counts.clear()
      this.#endsAt = nowMs + minuteMs
    }
    const count = (this.#counts.get(name) ?? 0) + 1
    if (count > this.most) return Math.ceil((this.#endsAt - nowMs) / 1000)
    this.#counts.set(name, count)
    return 0
  }
}
