import { expect, it } from 'vitest'
import { seededOutput } from '../../campaign/support/seeded-output.js'
import { testDatabase } from '../../support/database.js'

// Whoever changes what is published on purpose raises `mappingVersion` (activities) or `projectRecordVersion` (records) and
// puts the new hashes here and in the campaign's test; whoever made something faster has changed a byte.
it('publishes 500 seeded projects as the same bytes as ever', async () => {
  const { store } = await testDatabase()
  expect(await seededOutput(store, 500)).toEqual({
    activities: 'cb1347f77b9c5212f5ebe5b30ce2c10e8c627f23cdbd55bc41bdb804da38686e',
    organisations: 'a23b1e21149dc7622f58957fd6f46626246a1a7d1341b9ea28cb56d0cbd57b26',
    reports: '6ca1f37fd38213f4e9f30defbf847f0211e8e77b664e8c524fc285b477035386',
    renderings: '60067eeb61db335618edf125e323e1681a07074b48280082c2f9604f2a9b909b',
    records: 'd580667ce84ef77a18f74058afcca769c9b5fc15d01592c0532d44dca87d2f99',
  })
})
