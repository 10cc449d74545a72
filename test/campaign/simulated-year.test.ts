import { expect, it } from 'vitest'
import { record } from './support/record.js'
import { scaled } from './support/scale.js'
import { liveYear } from './support/year.js'

// YEAR_SEED=n lives one year again, YEAR_SEED=n-m those from n to m.
const [first = 1, last = first] = process.env.YEAR_SEED?.split('-').map(Number) ?? [1, scaled(20)]
const seeds = Array.from({ length: last - first + 1 }, (_, index) => first + index)

it.each(seeds)('nothing is lost, doubled or left open in the year of seed %i', async (seed) => {
  const { happened, violations } = await liveYear(seed)
  expect(violations).toEqual([])
  record({
    name: `a simulated year, seed ${seed}`,
    engine: 'PostgreSQL',
    tried: 366,
    outcome: Object.entries(happened)
      .map(([what, times]) => `${times} ${what}`)
      .join(', '),
  })
})
