import { expect, it } from 'vitest'
import { testDatabase } from '../support/database.js'
import { seededOutput } from './support/seeded-output.js'

// As test/integration/release/seeded-output.test.ts, long enough to hold every shape that the seed knows.
it('publishes 10,000 seeded projects as the same bytes as ever', async () => {
  const { store } = await testDatabase()
  expect(await seededOutput(store, 10_000)).toEqual({
    activities: 'ebe7e72bdae8fc13a9581547a079b52cda202f6d87ab9a2239efc63bab4a840b',
    organisations: '594e4afebed1799d157c48119b163a53f2ac75a4a41e06ee44b8e3e2a1164498',
    reports: '83a38655743aaa4886ca66c8fb5290574403cc27e6787ef77d047aa0774bf2dd',
    renderings: 'feae50970945a9f92d5a703fb32d0424f788b6976b2507debaeaa267db3708a0',
    records: '801f9cc4395675a53d8a1a76201a923a3aefe9ec186aa5f71e9f0c5cfbcf1e0e',
  })
})
