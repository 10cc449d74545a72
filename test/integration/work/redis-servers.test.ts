import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { runCommandLine } from '../../support/commands/command-line.js'
import { redisMissing, startRedis, type TestRedis } from '../../support/servers/redis.js'
import { testDatabase } from '../../support/store/database.js'
import { temporaryFolder } from '../../support/values/temporary-folder.js'

const missing = redisMissing()
if (missing !== undefined) console.warn(`What is said of several Redis servers is not tested: ${missing}.`)

describe.skipIf(missing)('of several Redis servers of which one gives no answer', async () => {
  const { url } = await testDatabase()
  let redis: TestRedis
  let environment: Record<string, string>
  beforeAll(async () => {
    redis = await startRedis('right')
    environment = { DATABASE_URL: url, DATA_DIR: await temporaryFolder(), LOG_LEVEL: 'silent' }
  })
  afterAll(async () => await redis.stop())

  test.each([
    ['what is wrong with the other', 'right', /REDIS_URL: expected nodes of a cluster, got a server that is in none/],
    ['that the other refuses the password', 'wrong', /REDIS_URL: expected a user and password .*: WRONGPASS/],
  ])('`giving doctor` says %s', async (_what, password, said) => {
    const { host } = new URL(redis.url)
    const address = `redis+cluster://:${password}@127.0.0.1:1,${host}`
    const { stdout } = await runCommandLine(['doctor'], { ...environment, REDIS_URL: address })
    expect(stdout).toMatch(new RegExp(`^FIX +queue: +${said.source}`, 'm'))
  })
})
