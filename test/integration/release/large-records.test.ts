import { it } from 'vitest'
import { expectLinear } from '../../support/release/large-records.js'

// The others, and 40,000 of each, are in the campaign.
it.each(['transactions', 'budgets of recipient regions, each with an error', 'payouts', 'reports'])(
  'a record with four times as many %s costs four times as much, not sixteen times',
  async (thing) => await expectLinear(thing, 1_000),
)
