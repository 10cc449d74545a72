import { test } from 'vitest'
import { ownRedisMissing, startCampaignRedis } from '../support/campaign/engines.js'
import { comeAndGo } from '../support/campaign/workers.js'
import { testDatabase } from '../support/database.js'

const missing = ownRedisMissing()

test('workers and API processes that come and go under a schedule, queue on Redis', async (context) => {
  if (missing) return context.skip(missing)
  const { store, url } = await testDatabase()
  const redis = await startCampaignRedis()
  await comeAndGo('Redis', store, { DATABASE_URL: url, REDIS_URL: redis.url })
  await redis.stop()
})
