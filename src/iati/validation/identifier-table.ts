/** Remembers which identifiers were seen, and in which line first, in 12 to 24 bytes each however long they are. */
export type IdentifierTable = {
  /** Remembers it; returns the line where it was first seen (0: unknown) when it was there already. */
  add(identifier: string, line: number | undefined): number | undefined
  has(identifier: string): boolean
}

const firstCapacity = 1024

/**
 * An open-addressing table of 64-bit hashes instead of the texts: a text cut out of a file would keep the piece of the
 * file that it was cut from in memory. Among a million identifiers two share a hash once in 37 million files.
 */
export function createIdentifierTable(): IdentifierTable {
  let capacity = firstCapacity
  let high = new Uint32Array(capacity)
  let low = new Uint32Array(capacity)
  // The line plus 1; 0 is a free place.
  let lines = new Uint32Array(capacity)
  let used = 0

  function placeOf(upper: number, lower: number): number {
    let place = lower & (capacity - 1)
    while (lines[place] !== 0 && (high[place] !== upper || low[place] !== lower)) place = (place + 1) & (capacity - 1)
    return place
  }

  function put(upper: number, lower: number, line: number): void {
    const place = placeOf(upper, lower)
    high[place] = upper
    low[place] = lower
    lines[place] = line
  }

  function grow(): void {
    const [oldHigh, oldLow, oldLines] = [high, low, lines]
    capacity *= 2
    high = new Uint32Array(capacity)
    low = new Uint32Array(capacity)
    lines = new Uint32Array(capacity)
    for (let place = 0; place < oldLines.length; place += 1) {
      const line = oldLines[place] ?? 0
      if (line !== 0) put(oldHigh[place] ?? 0, oldLow[place] ?? 0, line)
    }
  }

  return {
    add(identifier, line = 0) {
      const [upper, lower] = hashOf(identifier)
      const known = lines[placeOf(upper, lower)] ?? 0
      if (known !== 0) return known - 1
      if ((used + 1) * 2 > capacity) grow()
      put(upper, lower, line + 1)
      used += 1
      return undefined
    },
    has(identifier) {
      const [upper, lower] = hashOf(identifier)
      return lines[placeOf(upper, lower)] !== 0
    },
  }
}

/** 64 bits in two halves, well spread for short texts (two multiplicative hashes, mixed as in MurmurHash3). */
function hashOf(text: string): [upper: number, lower: number] {
  let a = 0xdeadbeef
  let b = 0x41c6ce57
  for (let index = 0; index < text.length; index += 1) {
    const unit = text.charCodeAt(index)
    a = Math.imul(a ^ unit, 0x9e3779b1)
    b = Math.imul(b ^ unit, 0x5f356495)
  }
  return [mixed(a ^ Math.imul(b ^ (b >>> 13), 0xc2b2ae35)), mixed(b ^ Math.imul(a ^ (a >>> 15), 0x85ebca6b))]
}

function mixed(value: number): number {
  const once = Math.imul(value ^ (value >>> 16), 0x85ebca6b)
  const twice = Math.imul(once ^ (once >>> 13), 0xc2b2ae35)
  return (twice ^ (twice >>> 16)) >>> 0
}
