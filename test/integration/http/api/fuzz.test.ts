import { describe, it } from 'vitest'
import { fuzzApi } from '../../../campaign/support/fuzz-api.js'
import { testDatabase } from '../../../support/store/database.js'

describe('five hundred hostile requests', async () => {
  const { store } = await testDatabase()

  it('never see a 500, a hang or a crash', async () => {
    await fuzzApi(store, { requests: 500, seed: 20_261_121 })
  })
})
