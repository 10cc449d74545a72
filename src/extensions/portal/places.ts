// Lists of places of projects, sorted, and arrays of a byte for each place. Loops of their own: `for of` takes three times as
// long over a typed array.

/** The most points that a place can have. */
export const mostPoints = 255

/** The places whose byte is not 0. */
export function placesIn(found: Uint8Array): Uint32Array<ArrayBuffer> {
  const places = new Uint32Array(countIn(found))
  for (let place = 0, at = 0; at < places.length; place++) if (found[place] !== 0) places[at++] = place
  return places
}

/** How many bytes are not 0. */
export function countIn(found: Uint8Array): number {
  let count = 0
  for (let place = 0; place < found.length; place++) if (found[place] !== 0) count++
  return count
}

/** Those of the places whose byte is not 0. */
export function having(places: Uint32Array, bits: Uint8Array): Uint32Array<ArrayBuffer> {
  let count = 0
  for (let from = 0; from < places.length; from++) if ((bits[places[from] ?? 0] ?? 0) !== 0) count++
  const had = new Uint32Array(count)
  for (let from = 0, at = 0; at < count; from++) {
    const place = places[from] ?? 0
    if ((bits[place] ?? 0) !== 0) had[at++] = place
  }
  return had
}

/** Whether a sorted list has a place. */
export function isAmong(places: Uint32Array, place: number): boolean {
  return places[firstAt(places, place)] === place
}

/** The places in their order, with one more. */
export function withPlace(places: Uint32Array, place: number): Uint32Array<ArrayBuffer> {
  const at = firstAt(places, place)
  const all = new Uint32Array(places.length + 1)
  all.set(places.subarray(0, at))
  all.set(places.subarray(at), at + 1)
  all[at] = place
  return all
}

/** A part of the places by their points, most first, those with as many in their order. */
export function mostFirst(places: Uint32Array, points: Uint8Array, from: number, to: number): Uint32Array {
  const ranks = new Uint32Array(mostPoints + 1)
  for (let at = 0; at < points.length; at++) {
    const many = points[at] ?? 0
    if (many > 0) ranks[many - 1] = (ranks[many - 1] ?? 0) + 1
  }
  for (let many = mostPoints - 1; many >= 0; many--) ranks[many] = (ranks[many] ?? 0) + (ranks[many + 1] ?? 0)
  const part = new Uint32Array(Math.max(0, Math.min(to, places.length) - from))
  for (let at = 0; at < places.length; at++) {
    const many = points[at] ?? 0
    const rank = ranks[many] ?? 0
    ranks[many] = rank + 1
    if (rank >= from && rank < to) part[rank - from] = places[at] ?? 0
  }
  return part
}

/** Where the first of equal values stands in a sorted list that has it. */
export function firstAt(sorted: ArrayLike<number>, value: number): number {
  let [low, high] = [0, sorted.length]
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((sorted[middle] ?? 0) < value) low = middle + 1
    else high = middle
  }
  return low
}
