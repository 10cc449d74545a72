import { Redis } from 'ioredis'
import { afterAll, describe, test } from 'vitest'
import { type CampaignRedis, ownRedisMissing, startCampaignRedis } from './support/engines.js'
import { type QueueSurgery, testSchedules } from './support/schedules.js'

const missing = ownRedisMissing()

function surgery(redis: CampaignRedis) {
  const inside = async (work: (client: Redis) => Promise<unknown>) => {
    const client = new Redis(redis.url)
    await work(client)
    client.disconnect()
  }
  const surgery = {
    connection: { kind: 'redis' as const, url: redis.url, prefix: 'giving' },
    forget: () => inside((client) => client.flushdb()),
    remove: (_: unknown, what: 'scheduler' | 'job') =>
      inside(async (client) => {
        if (what === 'scheduler') {
          await client.zrem('giving:publish:repeat', 'publish')
          await client.del('giving:publish:repeat:publish')
          return
        }
        for (const job of await client.zrange('giving:publish:delayed', 0, -1)) {
          if (!job.startsWith('repeat:publish:')) continue
          await client.zrem('giving:publish:delayed', job)
          await client.del(`giving:publish:${job}`)
        }
      }),
  } satisfies QueueSurgery
  return surgery
}

describe('schedules, queue on Redis', async () => {
  if (missing) {
    console.warn(`Schedules with the queue on Redis are skipped: ${missing}.`)
    test.skip(`schedules with the queue on Redis: ${missing}`)
    return
  }
  const redis = await startCampaignRedis()
  afterAll(() => redis.stop())
  const queue = surgery(redis)
  const begin = async (url: string) => {
    await queue.forget()
    return { DATABASE_URL: url, REDIS_URL: redis.url }
  }
  testSchedules('Redis', begin, () => queue)
})
