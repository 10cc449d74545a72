import { appendFileSync } from 'node:fs'
import { inject } from 'vitest'
import { randomFrom } from '../../support/values/random.js'

/** A line of the campaign's table. */
export type CampaignRow = {
  readonly name: string
  readonly engine: 'PostgreSQL' | 'Redis' | 'both' | '-'
  readonly tried: number
  readonly outcome: string
}

/** Puts a line into the campaign's table. */
export function record(row: CampaignRow): void {
  appendFileSync(inject('campaignFile'), `${JSON.stringify(row)}\n`)
}

/** Numbers from 0 to 1 that follow from the seed, which is printed: the same seed, the same numbers. */
export function seeded(what: string, seed = Math.floor(Math.random() * 2 ** 31)): () => number {
  console.log(`${what}: seed ${seed}`)
  return randomFrom(seed)
}

/** `3 ms`, or `1.2 s` from a second on. */
export function duration(ms: number): string {
  return ms < 1000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(1)} s`
}
