import { setTimeout as sleep } from 'node:timers/promises'
import { expect, onTestFinished } from 'vitest'
import { createPasswordHashing } from '../../../src/accounts/passwords.js'
import { createApiUser } from '../../../src/http/api/operations/create-api-user.js'
import { migrate } from '../../../src/platform/database/migrate.js'
import { openStore, type Store } from '../../../src/platform/database/store.js'
import { getRun } from '../../../src/work/sql/runs.js'
import { testUser } from '../../support/api/api.js'
import { faultsOf } from '../../support/release/published-folder.js'
import { type StallingProxy, startProxy } from '../../support/servers/stalling-proxy.js'
import { seedProjects } from '../../support/store/seeded.js'
import { watchApi } from './api-watch.js'
import type { CampaignRedis } from './engines.js'
import { askForRun, createFleet, type FleetProcess, runEnded, until } from './fleet.js'
import type { CampaignPostgres } from './postgres.js'
import { type CampaignRow, duration, record, seeded } from './record.js'
import { scale } from './scale.js'

/** Everything that a fault can be done to. */
type Scene = {
  readonly postgres: CampaignPostgres
  readonly redis: CampaignRedis | undefined
  /** Between the API and one worker and the database, and between another worker and the database. */
  readonly databaseProxies: readonly StallingProxy[]
  /** Between each worker and Redis. */
  readonly redisProxies: readonly StallingProxy[]
  readonly store: Store
  readonly random: () => number
  /** Tells that the database was away for the API from one moment to another. */
  readonly wasAway: (from: number, to: number) => void
  /** What `giving status` says now, and its exit code. */
  readonly status: () => Promise<string>
}

type Fault = { readonly name: string; readonly happen: (scene: Scene) => Promise<void> }

const anywhere = (scene: Scene, most: number) => sleep(scene.random() * most)

/** Runs `work` while the database cannot be reached, and says so. */
async function away(scene: Scene, work: () => Promise<void>): Promise<void> {
  const from = performance.now()
  await work()
  scene.wasAway(from, performance.now())
}

const databaseStopped: Fault = {
  name: 'PostgreSQL stopped or killed, started again',
  happen: async (scene) => {
    await scene.postgres.down(scene.random() < 0.5 ? 'stop' : 'kill')
    // After a kill its processes go one by one.
    for (const proxy of scene.databaseProxies) proxy.cut()
    await away(scene, () => anywhere(scene, 3000))
    await scene.postgres.up()
  },
}

const sessionsEnded: Fault = {
  name: 'random sessions ended (pg_terminate_backend)',
  happen: async ({ store, random }) => {
    for (let ended = 0; ended < 15; ended++) {
      await store.db.query(
        `select pg_terminate_backend(pid) from (
           select pid from pg_stat_activity
            where datname = current_database() and application_name ~ '^giving($| queue$| api | worker | start )'
            order by random() limit $1) one`,
        [1 + Math.floor(random() * 3)],
      )
      await sleep(random() * 200)
    }
  },
}

const databaseCut: Fault = {
  name: 'connections to PostgreSQL cut and refused',
  happen: async (scene) => {
    for (const proxy of scene.databaseProxies) proxy.mode = 'refuse'
    for (const proxy of scene.databaseProxies) proxy.cut()
    await away(scene, async () => {
      expect(await scene.status()).toMatch(/database: +unreachable[\s\S]*exit code 1$/)
      await anywhere(scene, 1000)
    })
    for (const proxy of scene.databaseProxies) proxy.mode = 'pass'
  },
}

const databaseStalled: Fault = {
  name: 'connections to PostgreSQL stalled',
  happen: (scene) => stall(scene, scene.databaseProxies),
}

const redisRestarted: Fault = {
  name: 'Redis killed, started with its data',
  happen: (scene) => restartRedis(scene, 'kept'),
}

const redisEmptied: Fault = {
  name: 'Redis killed, started without its data',
  happen: (scene) => restartRedis(scene, 'empty'),
}

const redisCut: Fault = {
  name: 'connections to Redis cut and refused',
  happen: async (scene) => {
    for (const proxy of scene.redisProxies) proxy.mode = 'refuse'
    for (const proxy of scene.redisProxies) proxy.cut()
    expect(await scene.status()).toMatch(/queue: +redis, unreachable[\s\S]*exit code 1$/)
    for (const proxy of scene.redisProxies) proxy.mode = 'pass'
  },
}

const redisStalled: Fault = {
  name: 'connections to Redis stalled',
  happen: (scene) => stall(scene, scene.redisProxies),
}

export const databaseFaults = [databaseStopped, sessionsEnded, databaseCut, databaseStalled]
export const redisFaults = [redisRestarted, redisEmptied, redisCut, redisStalled]

async function restartRedis(scene: Scene, memory: 'kept' | 'empty'): Promise<void> {
  await scene.redis?.kill()
  await anywhere(scene, 3000)
  await scene.redis?.start(memory)
}

/** Some or all of the connections say nothing for a while; then they go on, or turn out to be dead. */
async function stall({ random }: Scene, proxies: readonly StallingProxy[]): Promise<void> {
  const victims = random() < 0.5 ? proxies : proxies.slice(0, 1)
  for (const proxy of victims) proxy.mode = 'stall'
  await sleep(500 + random() * 5000)
  if (random() < 0.5) for (const proxy of victims) proxy.cut()
  for (const proxy of victims) proxy.mode = 'pass'
}

/**
 * Lets one fault after the other happen to an API process and two workers at random moments of publications. Every run
 * ends well, nothing is done twice, no process dies, the API says what it can and recovers by itself.
 */
export async function surviveOutages(
  engine: CampaignRow['engine'],
  postgres: CampaignPostgres,
  redis: CampaignRedis | undefined,
  faults: readonly Fault[],
  times: number,
): Promise<void> {
  const random = seeded(`outages, ${engine}`)
  const databaseProxies = [await startProxy(postgres.port), await startProxy(postgres.port)]
  const redisProxies = redis ? [await startProxy(redis.port), await startProxy(redis.port)] : []
  // Our own way to the database, which nothing happens to but the server's own end.
  const direct = await startProxy(postgres.port)
  const through = (url: string, proxy: StallingProxy | undefined) => {
    const address = new URL(url)
    address.port = String(proxy?.port)
    return address.href
  }
  const store = openStore({ url: through(postgres.url(), direct), max: 6, applicationName: 'campaign' })
  await migrate(store)
  await seedProjects(store, 400)
  const passwords = createPasswordHashing({ memoryCost: 8, timeCost: 1, parallelism: 1 })
  const { apiKey } = await createApiUser({ store, passwords, clock: () => new Date() }, testUser)
  const fleet = await createFleet({})
  onTestFinished(fleet.end)
  const connections = (index: number) => ({
    DATABASE_URL: through(postgres.url(), databaseProxies[index]),
    ...(redis && { REDIS_URL: through(redis.url, redisProxies[index]) }),
  })
  const [api] = await Promise.all([
    fleet.start('api', connections(0)),
    fleet.start('worker', { ...connections(0), METRICS_PORT: '0' }),
    fleet.start('worker', connections(1)),
  ])
  expect((await runEnded(store, await askForRun(store))).state).toBe('published')
  const watch = watchApi(api, apiKey)
  const scene: Scene = {
    postgres,
    redis,
    databaseProxies,
    redisProxies,
    store,
    random,
    wasAway: watch.databaseWasAway,
    status: async () => {
      const { child } = fleet.launch('status', connections(0))
      const one = fleet.processes.at(-1)
      const code = await new Promise((resolve) => child.once('close', resolve))
      return `${one?.output()}exit code ${code}`
    },
  }
  const entered: number[] = []
  for (const fault of faults) {
    let [tried, slowestMs, taken] = [0, 0, 0]
    const beganAt = performance.now()
    while (tried < times && (tried < 2 || performance.now() - beganAt < scale.patienceMs / faults.length)) {
      tried++
      const id = await persistently(async () => {
        await store.db.query('update project set title = $1 where id % 2 = $2', [`${fault.name} ${tried}`, tried % 2])
        return await askForRun(store)
      })
      entered.push(id)
      await until(async () => (await getRun(store.db, id)).state !== 'queued')
      await sleep(random() * 1200)
      await fault.happen(scene)
      const healedAt = performance.now()
      const run = await runEnded(store, id)
      expect(run.state, `${fault.name}: run ${id}: ${JSON.stringify(run.error)}`).toMatch(/^(published|unchanged)$/)
      if (run.attempt > 1) taken++
      await watch.recovered()
      slowestMs = Math.max(slowestMs, performance.now() - healedAt)
      const died = fleet.processes.filter(({ running, command }) => !running && command !== 'status')
      expect(died.map(lastWords)).toEqual([])
      expect(watch.faults).toEqual([])
    }
    record({
      name: fault.name,
      engine,
      tried,
      outcome: `every run ended well within ${duration(slowestMs)} of the end of the fault, ${taken} by a second attempt`,
    })
  }
  expect((await runEnded(store, await askForRun(store))).state).toBe('unchanged')
  expect(await doneTwice(store)).toEqual([])
  expect(await faultsOf(fleet.feedsDir, store)).toEqual([])
  await until(async () => (await sessionsOfOurs(store)) <= mostSessions(redis))
  const counts = await watch.stop()
  const answered = (status: number) =>
    Object.entries(counts).reduce((sum, [what, count]) => sum + (what.endsWith(` ${status}`) ? count : 0), 0)
  record({
    name: 'the API and its console during all of these',
    engine,
    tried: answered(200) + answered(503),
    outcome: `${answered(503)} times 503 with Retry-After, otherwise 200; files, /healthz and /metrics always 200`,
  })
  const ends = await Promise.all(fleet.processes.filter(({ running }) => running).map((one) => one.terminate()))
  expect(ends.map(({ code }) => code)).toEqual([0, 0, 0])
  await store.close()
  for (const proxy of [...databaseProxies, ...redisProxies, direct]) await proxy.close()
}

/** Repeats what fails because the database is away. */
async function persistently<T>(work: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await work()
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'database-unavailable')) throw error
      await sleep(100)
    }
  }
}

/** What the ledger shows to have been done more than once. */
async function doneTwice(store: Store): Promise<string[]> {
  const { rows } = await store.db.query<{ what: string }>(
    `select 'published twice: ' || release_id as what from release_event where event = 'published'
      group by release_id having count(*) > 1
     union all select 'two releases of run ' || run_id from release group by run_id having count(*) > 1
     union all select 'run not well ended: ' || id from run where state not in ('published', 'unchanged')`,
  )
  return rows.map(({ what }) => what)
}

async function sessionsOfOurs(store: Store): Promise<number> {
  const { rows } = await store.db.query<{ n: number }>(
    `select count(*) as n from pg_stat_activity
      where datname = current_database() and application_name ~ '^giving($| queue$| api | worker | start )'`,
  )
  return rows[0]?.n ?? 0
}

/** What docs/explanation/faults.md says one API process, its console and two workers need at most. */
function mostSessions(redis: CampaignRedis | undefined): number {
  return 10 + 4 + (redis ? 0 : 10) + 2 * (redis ? 10 : 10 + 18)
}

function lastWords(one: FleetProcess): string {
  return `${one.command}: ${one.output().slice(-1500)}`
}
