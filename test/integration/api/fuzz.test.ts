import { describe, it } from 'vitest'
import { testDatabase } from '../../support/database.js'
import { fuzzApi } from '../../support/fuzz-api.js'

describe('five hundred hostile requests', async () => {
  const { store } = await testDatabase()

  it('never see a 500, a hang or a crash', { timeout: 120_000 }, async () => {
    await fuzzApi(store, { requests: 500, seed: 20_261_121 })
  })
})
