import { expect, it } from 'vitest'
import { seededOutput } from '../../campaign/support/seeded-output.js'
import { testDatabase } from '../../support/store/database.js'

// Whoever changes what is published on purpose raises `mappingVersion` (activities) or `projectRecordVersion` (records) and
// puts the new hashes here and in the campaign's test; whoever made something faster has changed a byte.
it('publishes 500 seeded projects as the same bytes as ever', async () => {
  const { store } = await testDatabase()
  expect(await seededOutput(store, 500)).toEqual({
    activities: 'af082802e7116c8a1c9bdd9d7b4669d200ccf3ba106c5b99d12c58e60b65755a',
    organisations: 'a23b1e21149dc7622f58957fd6f46626246a1a7d1341b9ea28cb56d0cbd57b26',
    reports: '6ca1f37fd38213f4e9f30defbf847f0211e8e77b664e8c524fc285b477035386',
    renderings: '9f2d832985f8457ca70ce669940897f6eaed1b524ccd244a48be83bb472358a3',
    records: '40ef740f35734d93dba1734876e172bafe0a1d5bff2be3258d76e38b6c427759',
  })
})
