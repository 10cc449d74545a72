import { expect, it } from 'vitest'
import { seededOutput } from '../../campaign/support/seeded-output.js'
import { testDatabase } from '../../support/database.js'

// Whoever changes what is published on purpose raises `mappingVersion` (activities) or `projectRecordVersion` (records) and
// puts the new hashes here and in the campaign's test; whoever made something faster has changed a byte.
it('publishes 500 seeded projects as the same bytes as ever', async () => {
  const { store } = await testDatabase()
  expect(await seededOutput(store, 500)).toEqual({
    activities: '7a5789480ab0b31c70fff501d483c9d866981f8c441a2f6243338ec5ffda7be8',
    organisations: 'a23b1e21149dc7622f58957fd6f46626246a1a7d1341b9ea28cb56d0cbd57b26',
    reports: '6ca1f37fd38213f4e9f30defbf847f0211e8e77b664e8c524fc285b477035386',
    renderings: 'b1f1b05e3720183043cdfce1dcadd8ea04ca2c9d12b3c6a6e8b9e5bdb334bc84',
    records: '40ef740f35734d93dba1734876e172bafe0a1d5bff2be3258d76e38b6c427759',
  })
})
