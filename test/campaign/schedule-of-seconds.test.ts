import { setTimeout as sleep } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { migrate } from '../../src/platform/database/migrate.js'
import { openStore } from '../../src/platform/database/store.js'
import { startProxy } from '../support/servers/stalling-proxy.js'
import { insertProjects } from '../support/store/catalogue.js'
import { ownRedisMissing, startCampaignRedis } from './support/engines.js'
import { createFleet, neverSoon, until } from './support/fleet.js'
import { startCampaignPostgres } from './support/postgres.js'
import { record } from './support/record.js'
import { allEnded, instantsOf, scheduledRuns } from './support/workers.js'

const everyThreeSeconds = '*/3 * * * * *'
// Longer than the minute in which a tick looks for the instants before its own.
const [stalledSeconds, awaySeconds] = [80, 8]
// What docs/explanation/faults.md promises: an instant is entered within a minute; the rest is for a machine that is busy.
const patienceMs = 120_000

test('no instant of a schedule of seconds is left out while Redis stalls and PostgreSQL restarts', async (context) => {
  const missing = ownRedisMissing()
  if (missing) context.skip(missing)
  const postgres = await startCampaignPostgres()
  onTestFinished(() => postgres.end())
  const redis = await startCampaignRedis()
  onTestFinished(() => redis.stop())
  const toPostgres = await startProxy(postgres.port)
  const toRedis = await startProxy(redis.port)
  const through = (address: string, port: number) => Object.assign(new URL(address), { port: String(port) }).href
  const store = openStore({ url: through(postgres.url(), toPostgres.port), max: 4, applicationName: 'campaign' })
  onTestFinished(async () => {
    await store.close()
    await toPostgres.close()
    await toRedis.close()
  })
  await migrate(store)
  await insertProjects(store.db, [{ id: 1 }, { id: 2 }])
  const fleet = await createFleet({
    DATABASE_URL: through(postgres.url(), toPostgres.port),
    REDIS_URL: through(redis.url, toRedis.port),
    PUBLISH_SCHEDULE: everyThreeSeconds,
    QUEUE_LOCK_SECONDS: '4',
  })
  onTestFinished(fleet.end)
  const crew = [await fleet.start('worker'), await fleet.start('worker')]
  await until(async () => (await scheduledRuns(store)).some(({ finishedAt }) => finishedAt))

  const began = new Date()
  await sleep(5_000)
  toRedis.mode = 'stall'
  await sleep(10_000)
  await postgres.down('stop')
  toPostgres.cut()
  await sleep(awaySeconds * 1000)
  await postgres.up()
  await sleep((stalledSeconds - 10 - awaySeconds) * 1000)
  toRedis.mode = 'pass'
  await sleep(5_000)

  const wanted = instantsOf(everyThreeSeconds, began, new Date())
  const leftOut = async () => {
    const entered = new Set((await scheduledRuns(store)).map(({ due }) => due.at.toISOString()))
    return wanted.filter((instant) => !entered.has(instant))
  }
  const patience = performance.now() + patienceMs
  await until(async () => (await leftOut()).length === 0 || performance.now() > patience)
  expect(await leftOut()).toEqual([])
  const ends = await Promise.all(crew.map((one) => one.terminate()))
  expect(ends.map(({ code }) => code)).toEqual([0, 0])
  await fleet.start('worker', { PUBLISH_SCHEDULE: neverSoon })
  await allEnded(store)
  const runs = await scheduledRuns(store)
  expect(new Set(runs.map(({ due }) => due.at.getTime())).size).toBe(runs.length)
  expect(runs.filter(({ state }) => state !== 'published' && state !== 'unchanged')).toEqual([])
  record({
    name: `a schedule of 3 s while Redis stalls for ${stalledSeconds} s and PostgreSQL is down for ${awaySeconds} s`,
    engine: 'Redis',
    tried: 1,
    outcome: `${wanted.length} due instants, none left out, each run exactly once`,
  })
})
