import { hash } from 'node:crypto'

/**
 * The line on which each key of a file stood first, in 24 to 48 bytes for each key: an open-addressing table of 64-bit
 * hashes. Two of a million keys have the same hash once in 40 million files.
 */
export class FirstLines {
  #slots = new Uint32Array(3 * 1024)
  #size = 0

  /** The line of the same key before, or undefined when this is the first. */
  add(key: string, line: number): number | undefined {
    const digest = hash('sha256', key, 'buffer')
    const high = digest.readUInt32LE(0)
    const low = digest.readUInt32LE(4)
    const at = this.#find(high, low)
    const known = this.#slots[at + 2] ?? 0
    if (known !== 0) return known
    this.#slots.set([high, low, line], at)
    this.#size++
    if (this.#size * 6 > this.#slots.length) this.#grow()
    return undefined
  }

  /** The place of a key, or the free one where it belongs; lines begin at 1, so 0 is free. */
  #find(high: number, low: number): number {
    const slots = this.#slots
    const count = slots.length / 3
    for (let slot = low % count; ; slot = (slot + 1) % count) {
      const at = slot * 3
      if (slots[at + 2] === 0 || (slots[at] === high && slots[at + 1] === low)) return at
    }
  }

  #grow(): void {
    const old = this.#slots
    this.#slots = new Uint32Array(old.length * 2)
    for (let at = 0; at < old.length; at += 3) {
      if (old[at + 2] !== 0) this.#slots.set(old.subarray(at, at + 3), this.#find(old[at] ?? 0, old[at + 1] ?? 0))
    }
  }
}
