import { describe, expect, it } from 'vitest'
import { testDatabase } from '../support/store/database.js'
import { temporaryFolder } from '../support/values/temporary-folder.js'
import { runCampaign } from './support/donation-faults/campaign.js'
import { processorNames } from './support/donation-faults/processors.js'
import { record } from './support/record.js'
import { scaled } from './support/scale.js'

const title = 'donations at %s while processes are killed, connections are cut and the gateway fails'

describe.each(processorNames)(title, async (processor) => {
  const { store, url } = await testDatabase()
  const feedsDir = await temporaryFolder()

  it('are charged at most once, and every book says the same', { timeout: 900_000 }, async () => {
    const seed = Number(process.env.CAMPAIGN_SEED ?? 20261121)
    const [donations, kills, drops] = [scaled(1_000), scaled(25), scaled(200)]
    const plan = { donations, kills, drops, seconds: 600, seed, feedsDir, processor }
    const result = await runCampaign(store, url, plan)
    console.log(`seed ${seed}:`, JSON.stringify(result))
    const { sent, answered, declined, abandoned, charges } = result
    record({
      name: `donations at ${processor}: two API processes killed, connections cut, a gateway that fails`,
      engine: '-',
      tried: sent,
      outcome:
        `${result.kills} kills, ${result.drops} connections cut; ${answered} answered, ${declined} declined, ${abandoned} given up; ` +
        `${result.monthsOfPlans} later months of regular gifts; ` +
        `charged = settled = totals = months = ${charges}, none open, none charged twice`,
    })
    expect(result).toMatchObject({ lostAnswers: [], chargedTwice: [], open: 0, differences: [] })
    expect(result.settled).toBe(result.charges)
    expect(result.funding).toBe(result.charges)
    expect(result.months).toBe(result.charges)
    expect(sent).toBeGreaterThanOrEqual(donations)
    expect(result.kills).toBeGreaterThanOrEqual(kills)
    expect(result.drops).toBeGreaterThanOrEqual(drops)
    expect(answered).toBeGreaterThan(sent / 2)
  })
})
