import { test } from 'vitest'
import { describeSurvival } from '../../integration/work/survival.js'
import { redisMissing, startRedis } from '../../support/servers/redis.js'

const missing = redisMissing()
if (missing === undefined) {
  describeSurvival('jobs on Redis', async () => {
    const redis = await startRedis()
    return {
      connection: { kind: 'redis', url: redis.url, prefix: 'test' },
      forget: redis.flush,
      cut: redis.cut,
      stop: redis.stop,
    }
  })
} else {
  console.warn(`The tests of jobs on Redis are skipped: ${missing}.`)
  test.skip(`jobs on Redis: ${missing}`)
}
