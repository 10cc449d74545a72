import { describe, expect, it } from 'vitest'
import { runCampaign } from '../../../campaign/support/donation-faults/campaign.js'
import { testDatabase } from '../../../support/store/database.js'
import { temporaryFolder } from '../../../support/values/temporary-folder.js'

// The campaign does the same at each processor.
const processor = 'sandbox'

describe('donations while processes are killed, connections are cut and the gateway fails', async () => {
  const { store, url } = await testDatabase()
  const feedsDir = await temporaryFolder()

  it('are charged at most once, and every book says the same', async () => {
    const seed = Number(process.env.CAMPAIGN_SEED ?? 20261121)
    const result = await runCampaign(store, url, {
      donations: 40,
      kills: 1,
      drops: 1,
      seconds: 60,
      seed,
      feedsDir,
      processor,
    })
    console.log(`seed ${seed}:`, JSON.stringify(result))
    expect(result).toMatchObject({ lostAnswers: [], chargedTwice: [], open: 0, differences: [] })
    expect(result.settled).toBe(result.charges)
    expect(result.funding).toBe(result.charges)
    expect(result.months).toBe(result.charges)
    expect(result.kills).toBeGreaterThan(0)
    expect(result.drops).toBeGreaterThan(0)
    expect(result.answered).toBeGreaterThan(20)
  })
})
