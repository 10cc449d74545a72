import { test } from 'vitest'
import { testDatabase } from '../support/database.js'
import { ownRedisMissing, startCampaignRedis } from './support/engines.js'
import { comeAndGo, killProcesses } from './support/workers.js'

const missing = ownRedisMissing()

test('workers and API processes that come and go under a schedule, queue on Redis', async (context) => {
  if (missing) return context.skip(missing)
  const { store, url } = await testDatabase()
  const redis = await startCampaignRedis()
  await comeAndGo('Redis', store, { DATABASE_URL: url, REDIS_URL: redis.url })
  await redis.stop()
})

test('a worker whose processes are killed, queue on Redis', async (context) => {
  if (missing) return context.skip(missing)
  const { store, url } = await testDatabase()
  const redis = await startCampaignRedis()
  await killProcesses('Redis', store, { DATABASE_URL: url, REDIS_URL: redis.url })
  await redis.stop()
})
