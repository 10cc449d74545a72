import { test } from 'vitest'
import { databaseFaults, surviveOutages } from './support/outages.js'
import { startCampaignPostgres } from './support/postgres.js'
import { scale } from './support/scale.js'

test('outages of PostgreSQL, which has the queue too', async () => {
  const postgres = await startCampaignPostgres()
  try {
    await surviveOutages('PostgreSQL', postgres, undefined, databaseFaults, scale.faults)
  } finally {
    await postgres.end()
  }
})
