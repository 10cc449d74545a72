import { Redis } from 'ioredis'
import { test } from 'vitest'
import { testDatabase } from '../support/database.js'
import { type CampaignRedis, ownRedisMissing, startCampaignRedis } from './support/engines.js'
import { scale } from './support/scale.js'
import { stopAllInOne, stopApiAndWorker } from './support/shutdowns.js'

const missing = ownRedisMissing()

/** Connections that stand to a Redis, the one that asks not counted. */
async function connectionsOf({ url }: CampaignRedis): Promise<number> {
  const client = new Redis(url)
  try {
    return (
      String(await client.client('LIST'))
        .trim()
        .split('\n').length - 1
    )
  } finally {
    client.disconnect()
  }
}

test('SIGTERM of all in one under load, queue on Redis', async (context) => {
  if (missing) return context.skip(missing)
  const redis = await startCampaignRedis()
  const redisConnections = () => connectionsOf(redis)
  const environment = { REDIS_URL: redis.url }
  await stopAllInOne({ engine: 'Redis', environment, redisConnections }, Math.ceil(scale.shutdowns / 2))
  await redis.stop()
})

test('SIGTERM of api and worker under load, queue on Redis', async (context) => {
  if (missing) return context.skip(missing)
  const { store, url } = await testDatabase()
  const redis = await startCampaignRedis()
  const redisConnections = () => connectionsOf(redis)
  const environment = { DATABASE_URL: url, REDIS_URL: redis.url }
  await stopApiAndWorker({ engine: 'Redis', environment, redisConnections }, store, Math.ceil(scale.shutdowns / 2))
  await redis.stop()
})
