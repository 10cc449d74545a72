import { test } from 'vitest'
import { describeEveryCrashPoint } from './support/crash-steps.js'
import { ownRedisMissing, startCampaignRedis } from './support/engines.js'

describeEveryCrashPoint('PostgreSQL', async (url) => ({
  connection: { kind: 'postgres', url },
  stop: async () => undefined,
}))

const missing = ownRedisMissing()
if (missing === undefined) {
  describeEveryCrashPoint('Redis', async () => {
    const redis = await startCampaignRedis()
    return { connection: { kind: 'redis', url: redis.url, prefix: 'giving' }, stop: () => redis.stop() }
  })
} else {
  console.warn(`Crash points with the queue on Redis are skipped: ${missing}.`)
  test.skip(`crash points with the queue on Redis: ${missing}`)
}
