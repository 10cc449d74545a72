import { testOnEachEngine } from './support/engines.js'
import { databaseFaults, redisFaults, surviveOutages } from './support/outages.js'
import { startCampaignPostgres } from './support/postgres.js'
import { scale } from './support/scale.js'

testOnEachEngine('outages of PostgreSQL, and of Redis where it has the queue', async ({ name, redis }) => {
  const postgres = await startCampaignPostgres()
  try {
    const faults = [...(redis ? redisFaults : []), ...databaseFaults]
    await surviveOutages(name, postgres, redis, faults, scale.faults)
  } finally {
    await postgres.end()
  }
})
