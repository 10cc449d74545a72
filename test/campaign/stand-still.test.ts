import { describe, expect, it } from 'vitest'
import { testDatabase } from '../support/store/database.js'
import { processorNames } from './support/donation-faults/processors.js'
import { StandingDonations, type StandingTimes } from './support/donation-faults/stand-still.js'
import { record, seeded } from './support/record.js'
import { scale } from './support/scale.js'

/** The times of the program, and those of a small model of it. */
const models: readonly (readonly [length: string, StandingTimes])[] = [
  ['eleven minutes', { stopMs: 660_000, timeoutMs: 5_000 }],
  ['seconds', { stopMs: 4_000, timeoutMs: 400, lateSeconds: 0.2, secondLookSeconds: 1 }],
]
const together = 16

const cases = models.flatMap(([length, times]) => processorNames.map((name) => [length, name, times] as const))

describe.concurrent.each(cases)(
  'processes that stand still at a statement of money for %s, at %s',
  async (length, name, times) => {
    const { store, url } = await testDatabase()

    it('charge nothing that is not booked or given back', { timeout: 3_600_000 }, async ({ skip }) => {
      if (length !== 'seconds' && scale.callsThatFail < 1) return skip('a whole campaign has it')
      const random = seeded(`standing still at ${name}`, Number(process.env.STAND_SEED ?? 20261128))
      await using donations = await StandingDonations.open(store, url, name, times)
      const all = (await donations.cases()).map((one) => ({ one, order: random() })).sort((a, b) => a.order - b.order)
      const chosen = all.slice(0, length === 'seconds' ? Math.ceil(all.length * scale.callsThatFail) : together)
      const until = performance.now() + scale.patienceMs
      const wrong: string[] = []
      let [tried, stood] = [0, 0]
      while (tried < chosen.length && performance.now() < until) {
        const batch = chosen.slice(tried, tried + together).map(({ one }) => one)
        const result = await donations.stand(batch)
        for (const one of result.wrong) console.log(`${name}: ${one}, in ${JSON.stringify(batch)}`)
        wrong.push(...result.wrong)
        tried += batch.length
        stood += result.stood
      }
      record({
        name: `processes that stand still for ${length} at a statement of money, at ${name}`,
        engine: '-',
        tried,
        outcome: `of ${all.length} moments; ${stood} stood still; ${wrong.length} lost, double or torn`,
      })
      expect(wrong).toEqual([])
      expect(stood).toBeGreaterThan(0)
    })
  },
)
