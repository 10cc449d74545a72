import { test } from 'vitest'
import { testDatabase } from '../support/database.js'
import { ownRedisMissing, startCampaignRedis } from './support/engines.js'
import { killAtRandomMoments } from './support/kills.js'

const missing = ownRedisMissing()

test('kill -9 at random moments, queue on Redis', async (context) => {
  if (missing) return context.skip(missing)
  const { store, url } = await testDatabase()
  const redis = await startCampaignRedis()
  await killAtRandomMoments('Redis', store, { DATABASE_URL: url, REDIS_URL: redis.url })
  await redis.stop()
})
