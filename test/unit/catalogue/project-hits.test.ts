import { describe, expect, it } from 'vitest'
import {
  hitsFrom,
  type ProjectHits,
  readIds,
  readRanks,
  replaceHits,
} from '../../../src/catalogue/sql/ready-texts/project-hits.js'

type Hit = readonly [id: number, rank: number]

const inOrder = (hits: readonly Hit[]) => hits.toSorted(([a, left], [b, right]) => right - left || a - b)

function toHits(hits: readonly Hit[], snapshot: string): ProjectHits {
  const sorted = inOrder(hits)
  return {
    ids: Float64Array.from(sorted, ([id]) => id),
    ranks: Float32Array.from(sorted, ([, rank]) => rank),
    snapshot,
  }
}

// Quarters are the same as floats of four bytes and of eight.
const rankOf = (seed: number) => ((seed * 7_919) % 5) / 4

describe('hits of a search', () => {
  it('are read as PostgreSQL sends them', () => {
    const ids = Buffer.alloc(24)
    for (const [index, id] of [1n, 2n ** 32n + 7n, 2n ** 53n - 1n].entries()) ids.writeBigInt64BE(id, index * 8)
    expect([...readIds(ids)]).toEqual([1, 2 ** 32 + 7, 2 ** 53 - 1])
    const ranks = Buffer.alloc(8)
    ranks.writeFloatBE(0.75, 0)
    ranks.writeFloatBE(Math.fround(0.6079271), 4)
    expect([...readRanks(ranks)]).toEqual([0.75, Math.fround(0.6079271)])
  })

  it('are cut into pages, the last one short and further ones empty', () => {
    const hits = toHits(
      [1, 2, 3].map((id) => [id, 0]),
      '',
    )
    expect([hitsFrom(hits, 0, 2), hitsFrom(hits, 2, 2), hitsFrom(hits, 9, 2)]).toEqual([[1, 2], [3], []])
  })

  it.each([...Array(50).keys()])('are the same updated and found anew, %d', (seed) => {
    const before: Hit[] = []
    const after: Hit[] = []
    const found: Hit[] = []
    const changed = new Set<number>()
    for (let id = 1; id <= 12; id++) {
      const isHit = (when: number) => (id * 31 + seed * 17 + when * 13) % 3 > 0
      const old: Hit = [id, rankOf(id + seed)]
      if (isHit(1)) before.push(old)
      if ((id * 5 + seed) % 4 > 0) {
        if (isHit(1)) after.push(old)
        continue
      }
      changed.add(id)
      const now: Hit = [id, rankOf(id + seed * 3)]
      if (isHit(2)) {
        after.push(now)
        found.push(now)
      }
    }
    expect(replaceHits(toHits(before, 'before'), changed, toHits(found, 'after'))).toEqual(toHits(after, 'after'))
  })
})
