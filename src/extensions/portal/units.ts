const half = 2n ** 32n

/** Units of money by place, each as two numbers: adding bigints takes many times as long. */
export class Units {
  readonly #low: Uint32Array
  readonly #high: Int32Array
  #isAny = false

  /** Zeros, or those of `before` and more. */
  constructor(places: number, before?: Units) {
    this.#low = new Uint32Array(places)
    this.#high = new Int32Array(places)
    if (!before) return
    this.#low.set(before.#low)
    this.#high.set(before.#high)
    this.#isAny = before.#isAny
  }

  set(place: number, units: bigint): void {
    this.#isAny ||= units !== 0n
    this.#low[place] = Number(BigInt.asUintN(32, units))
    this.#high[place] = Number(units >> 32n)
  }

  at(place: number): bigint {
    return BigInt(this.#high[place] ?? 0) * half + BigInt(this.#low[place] ?? 0)
  }

  /** The nearest number. */
  near(place: number): number {
    return (this.#high[place] ?? 0) * Number(half) + (this.#low[place] ?? 0)
  }

  /** Exact below two million places. */
  sumOf(places: Uint32Array): bigint {
    if (!this.#isAny) return 0n
    let low = 0
    let high = 0
    // As in `places.ts`: `for of` takes three times as long.
    for (let at = 0; at < places.length; at++) {
      const place = places[at] ?? 0
      low += this.#low[place] ?? 0
      high += this.#high[place] ?? 0
    }
    return BigInt(high) * half + BigInt(low)
  }
}
