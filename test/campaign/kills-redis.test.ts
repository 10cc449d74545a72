import { test } from 'vitest'
import { ownRedisMissing, startCampaignRedis } from '../support/campaign/engines.js'
import { killAtRandomMoments } from '../support/campaign/kills.js'
import { testDatabase } from '../support/database.js'

const missing = ownRedisMissing()

test('kill -9 at random moments, queue on Redis', async (context) => {
  if (missing) return context.skip(missing)
  const { store, url } = await testDatabase()
  const redis = await startCampaignRedis()
  await killAtRandomMoments('Redis', store, { DATABASE_URL: url, REDIS_URL: redis.url })
  await redis.stop()
})
