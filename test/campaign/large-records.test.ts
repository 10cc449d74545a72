import { test } from 'vitest'
import { expectLinear, repeatedThings } from '../support/release/large-records.js'
import { scaled } from './support/scale.js'

test.each(Object.keys(repeatedThings))('40,000 %s cost at most 2.3 times as much as 20,000', async (thing) => {
  await expectLinear(thing, scaled(10_000))
})
