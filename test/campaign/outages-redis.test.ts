import { test } from 'vitest'
import { ownRedisMissing, startCampaignRedis } from './support/engines.js'
import { databaseFaults, redisFaults, surviveOutages } from './support/outages.js'
import { startCampaignPostgres } from './support/postgres.js'
import { scale } from './support/scale.js'

const missing = ownRedisMissing()

test('outages of Redis and of PostgreSQL', async (context) => {
  if (missing) return context.skip(missing)
  const postgres = await startCampaignPostgres()
  const redis = await startCampaignRedis()
  try {
    await surviveOutages('Redis', postgres, redis, [...redisFaults, ...databaseFaults], scale.faults)
  } finally {
    await redis.stop()
    await postgres.end()
  }
})
