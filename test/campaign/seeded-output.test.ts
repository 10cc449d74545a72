import { expect, it } from 'vitest'
import { testDatabase } from '../support/store/database.js'
import { seededOutput } from './support/seeded-output.js'

// As test/integration/release/seeded-output.test.ts, long enough to hold every shape that the seed knows.
it('publishes 10,000 seeded projects as the same bytes as ever', async () => {
  const { store } = await testDatabase()
  expect(await seededOutput(store, 10_000)).toEqual({
    activities: '95c2128db78ef6b64270680304a645e09f10fec3a3abadd1bdb1f5116858778c',
    organisations: '594e4afebed1799d157c48119b163a53f2ac75a4a41e06ee44b8e3e2a1164498',
    reports: '83a38655743aaa4886ca66c8fb5290574403cc27e6787ef77d047aa0774bf2dd',
    renderings: '0a8b595f07f5d9c296b90b3d5f0f21e2ad02948acaf27ea03650897659426c13',
    records: '6df18e1acaf86dd915cf17e4a563a8cce629543902dbfbc5a839de9ad6112141',
  })
})
