import { Redis } from 'ioredis'
import { testDatabase } from '../support/store/database.js'
import { type CampaignRedis, testOnEachEngine } from './support/engines.js'
import { scale } from './support/scale.js'
import { stopAllInOne, stopApiAndWorker } from './support/shutdowns.js'

const stops = Math.ceil(scale.shutdowns / 2)

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

const countedAt = (redis: CampaignRedis | undefined) => redis && { redisConnections: () => connectionsOf(redis) }

testOnEachEngine('SIGTERM of all in one under load', async ({ name, environment, redis }) => {
  await stopAllInOne({ engine: name, environment, ...countedAt(redis) }, stops)
})

testOnEachEngine('SIGTERM of api and worker under load', async ({ name, environment, redis }) => {
  const { store, url } = await testDatabase()
  const ground = { engine: name, environment: { DATABASE_URL: url, ...environment }, ...countedAt(redis) }
  await stopApiAndWorker(ground, store, stops)
})
