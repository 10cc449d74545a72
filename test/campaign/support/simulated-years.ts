import { describe, expect, it } from 'vitest'
import { record } from './record.js'
import { scaled } from './scale.js'
import { liveYear } from './year.js'

// YEAR_SEED=n lives one year again, YEAR_SEED=n-m those from n to m.
const [first = 1, last = first] = process.env.YEAR_SEED?.split('-').map(Number) ?? [1, scaled(20)]
const seeds = Array.from({ length: last - first + 1 }, (_, index) => first + index)

/** Lives the years of the odd or the even seeds: each file is a process, with a clock of its own. */
export function describeYears(which: 'odd' | 'even'): void {
  const ours = seeds.filter((seed) => seed % 2 === (which === 'odd' ? 1 : 0))
  describe.skipIf(ours.length === 0)(`years of ${which} seeds`, () => {
    it.each(ours)('nothing is lost, doubled or left open in the year of seed %i', async (seed) => {
      const began = performance.now()
      const { happened, violations } = await liveYear(seed)
      expect(violations).toEqual([])
      const events = Object.entries(happened).map(([what, times]) => `${times} ${what}`)
      const seconds = Math.round((performance.now() - began) / 1000)
      record({
        name: `a simulated year, seed ${seed}`,
        engine: 'PostgreSQL',
        tried: 366,
        outcome: `${seconds} s: ${events.join(', ')}`,
      })
    })
  })
}
