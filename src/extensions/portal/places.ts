// Lists of places of projects, sorted, and arrays of a byte for each place. Loops of their own: `for of` takes three times as
// long over a typed array.

/** The most points that a place can have: all bits of a score that are points. */
export const mostPoints = 255

// Places are written here and counted as they are, so that no loop has a branch, which processors guess wrongly as often as not.
let scratch = new Uint32Array(1 << 12)

/** The places whose byte is not 0. */
export function placesIn(found: Uint8Array): Uint32Array<ArrayBuffer> {
  const room = roomFor(found.length)
  let count = 0
  for (let place = 0; place < found.length; place++) {
    room[count] = place
    count += ((found[place] ?? 0) + 255) >>> 8
  }
  return room.slice(0, count)
}

/** Those of the places whose byte is not 0, of which `most` at most. */
export function having(places: Uint32Array, bits: Uint8Array, most = places.length): Uint32Array<ArrayBuffer> {
  const room = roomFor(places.length)
  let count = 0
  for (let from = 0; from < places.length && count < most; from++) {
    const place = places[from] ?? 0
    room[count] = place
    count += ((bits[place] ?? 0) + 255) >>> 8
  }
  return room.slice(0, count)
}

/** A bit for each place: whether its byte is not 0. */
export function marksFor(found: Uint8Array): Uint32Array {
  const marks = new Uint32Array(Math.ceil(found.length / 32))
  for (let place = 0; place < found.length; place++) {
    const at = place >>> 5
    marks[at] = (marks[at] ?? 0) | ((((found[place] ?? 0) + 255) >>> 8) << (place & 31))
  }
  return marks
}

/** Keeps the marks that others have too; false when none is left. */
export function keepCommon(marks: Uint32Array, others: Uint32Array): boolean {
  let left = 0
  for (let at = 0; at < marks.length; at++) {
    const common = (marks[at] ?? 0) & (others[at] ?? 0)
    marks[at] = common
    left |= common
  }
  return left !== 0
}

/** The places that are marked. */
export function markedIn(marks: Uint32Array): Uint32Array<ArrayBuffer> {
  const room = roomFor(32 * marks.length)
  let count = 0
  for (let at = 0; at < marks.length; at++) {
    for (let rest = marks[at] ?? 0; rest !== 0; rest &= rest - 1)
      room[count++] = 32 * at + 31 - Math.clz32(rest & -rest)
  }
  return room.slice(0, count)
}

function roomFor(places: number): Uint32Array<ArrayBuffer> {
  if (scratch.length < places) scratch = new Uint32Array(places)
  return scratch
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

/** A part of the places by the points in their scores, most first, those with as many in their order. */
export function mostFirst(places: Uint32Array, scores: Uint32Array, from: number, to: number): Uint32Array {
  const ranks = new Uint32Array(mostPoints + 1)
  for (let at = 0; at < scores.length; at++) {
    const points = (scores[at] ?? 0) & mostPoints
    ranks[points] = (ranks[points] ?? 0) + 1
  }
  // How many have more points.
  for (let points = mostPoints, more = 0; points >= 0; points--) {
    const count = ranks[points] ?? 0
    ranks[points] = more
    more += count
  }
  const part = new Uint32Array(Math.max(0, Math.min(to, places.length) - from))
  for (let at = 0; at < places.length; at++) {
    const points = (scores[at] ?? 0) & mostPoints
    const rank = ranks[points] ?? 0
    ranks[points] = rank + 1
    if (rank >= from && rank < to) part[rank - from] = places[at] ?? 0
  }
  return part
}

/** Where the first value that is not smaller stands in a sorted list. */
export function firstAt(sorted: ArrayLike<number>, value: number): number {
  let [low, high] = [0, sorted.length]
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((sorted[middle] ?? 0) < value) low = middle + 1
    else high = middle
  }
  return low
}
