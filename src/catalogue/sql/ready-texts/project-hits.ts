/** All hits of a search, best first and ties by id, as one statement saw them. Arrays of numbers: there may be many. */
export type ProjectHits = {
  readonly ids: Float64Array
  readonly ranks: Float32Array
  /** The snapshot of the statement; a later one shows whether the hits still hold. */
  readonly snapshot: string
}

/** The ids of `limit` hits from number `start` on. */
export function hitsFrom({ ids }: ProjectHits, start: number, limit: number): number[] {
  return [...ids.subarray(start, start + limit)]
}

/** Ids as PostgreSQL's int8send writes them, one after another. */
export function readIds(bytes: Buffer): Float64Array {
  const ids = new Float64Array(bytes.length / 8)
  for (let index = 0; index < ids.length; index++) {
    ids[index] = bytes.readInt32BE(index * 8) * 0x1_0000_0000 + bytes.readUInt32BE(index * 8 + 4)
  }
  return ids
}

/** Ranks as PostgreSQL's float4send writes them, one after another. */
export function readRanks(bytes: Buffer): Float32Array {
  const ranks = new Float32Array(bytes.length / 4)
  for (let index = 0; index < ranks.length; index++) ranks[index] = bytes.readFloatBE(index * 4)
  return ranks
}

/** The hits without those whose ids are in `changed`, and with `found` in their places. */
export function replaceHits(hits: ProjectHits, changed: ReadonlySet<number>, found: ProjectHits): ProjectHits {
  const most = hits.ids.length + found.ids.length
  const ids = new Float64Array(most)
  const ranks = new Float32Array(most)
  let length = 0
  const push = (id: number, rank: number) => {
    ids[length] = id
    ranks[length++] = rank
  }
  let next = 0
  const pushFoundBefore = (id: number, rank: number) => {
    for (; next < found.ids.length; next++) {
      const foundId = found.ids[next] ?? 0
      const foundRank = found.ranks[next] ?? 0
      if (foundRank < rank || (foundRank === rank && foundId > id)) return
      push(foundId, foundRank)
    }
  }
  for (let index = 0; index < hits.ids.length; index++) {
    const id = hits.ids[index] ?? 0
    const rank = hits.ranks[index] ?? 0
    if (changed.has(id)) continue
    pushFoundBefore(id, rank)
    push(id, rank)
  }
  pushFoundBefore(Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY)
  return { ids: ids.slice(0, length), ranks: ranks.slice(0, length), snapshot: found.snapshot }
}
