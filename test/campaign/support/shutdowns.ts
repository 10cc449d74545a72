import { spawnSync } from 'node:child_process'
import { rm } from 'node:fs/promises'
import { connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, onTestFinished } from 'vitest'
import { createPasswordHashing } from '../../../src/accounts/passwords.js'
import { createApiUser } from '../../../src/http/api/operations/create-api-user.js'
import { migrate } from '../../../src/platform/database/migrate.js'
import { openStore, type Store } from '../../../src/platform/database/store.js'
import { openEmbeddedPostgres } from '../../../src/platform/embedded-postgres/embedded-postgres.js'
import { getRun } from '../../../src/work/sql/runs.js'
import { testUser } from '../../support/api/api.js'
import { faultsOf } from '../../support/release/published-folder.js'
import { seedProjects } from '../../support/store/seeded.js'
import { askForRun, createFleet, type Fleet, type FleetProcess, runEnded, until } from './fleet.js'
import { startLoad } from './load.js'
import { type CampaignRow, duration, record, seeded } from './record.js'
import { scale } from './scale.js'

// What the product promises (docs/explanation/faults.md): a bound, not a measurement.
const mostMs = 10_000

/** What both ways of running the service have in common: where it lives and how to look at its ledger. */
type Ground = {
  readonly engine: CampaignRow['engine']
  readonly environment: Record<string, string>
  /** Connections that stand to the queue's Redis, besides our own. */
  readonly redisConnections?: () => Promise<number>
}

/** Stops processes at random moments of publications, while they answer requests; again and again. */
async function stopAgainAndAgain(
  { engine, redisConnections }: Ground,
  how: {
    readonly name: string
    readonly stops: number
    readonly fleet: Fleet
    /** Starts the processes and enters a run; resolves when it may be stopped. */
    readonly begin: (round: number) => Promise<{ running: readonly FleetProcess[]; baseUrl: string; runId: number }>
    readonly apiKey: string
    readonly afterStop: (runId: number) => Promise<void>
  },
): Promise<void> {
  const random = seeded(`${how.name}, ${engine}`)
  const took: number[] = []
  const moments: Record<string, number> = {}
  let answers = 0
  const beganAt = performance.now()
  for (let round = 1; round <= how.stops && (round < 5 || performance.now() - beganAt < scale.patienceMs); round++) {
    const { running, baseUrl, runId } = await how.begin(round)
    const load = startLoad(
      baseUrl,
      [
        '/iati/activities.xml',
        `/api/public/projectservice/all/projects.json?api_key=${how.apiKey}`,
        '/feeds/manifest.json',
        `/api/public/projectservice/all/projects/summary?api_key=${how.apiKey}`,
      ],
      8,
    )
    const reader = await startStubbornReader(baseUrl, '/iati/activities.xml')
    await sleep(random() * 2500)
    const ended = await Promise.all(running.map((one) => one.terminate()))
    const { answers: read, faults } = await load.stop()
    reader.destroy()
    answers += read
    for (const [index, { code, ms }] of ended.entries()) {
      const said = running[index]?.output().slice(-2000)
      expect(code, `${running[index]?.command} did not end well:\n${said}`).toBe(0)
      expect(ms, `${running[index]?.command} took too long to end:\n${said}`).toBeLessThan(mostMs)
      took.push(ms)
    }
    expect(faults).toEqual([])
    if (redisConnections) await until(async () => (await redisConnections()) === 0)
    await how.afterStop(runId)
    const left = spawnSync('ps', ['-eo', 'pid,args'], { encoding: 'utf8' }).stdout.split('\n')
    expect(left.filter((line) => line.includes(how.fleet.dataDir))).toEqual([])
    moments[running.map(({ command }) => command).join(' + ')] = round
  }
  record({
    name: how.name,
    engine,
    tried: Object.values(moments)[0] ?? 0,
    outcome:
      `all ended well, the slowest in ${duration(Math.max(...took))}; no run lost, no process or connection left; ` +
      `${answers} answers, none broken off`,
  })
}

/** SIGTERM of `giving api` and `giving worker` on a given database. */
export async function stopApiAndWorker(ground: Ground, store: Store, stops: number): Promise<void> {
  const fleet = await createFleet(ground.environment)
  onTestFinished(fleet.end)
  await seedProjects(store, 500)
  const apiKey = await newKey(store)
  const sessions = async () => {
    const { rows } = await store.db.query<{ n: number }>(
      `select count(*) as n from pg_stat_activity
        where datname = current_database() and application_name ~ '^giving($| queue$| api | worker | start )'`,
    )
    return rows[0]?.n ?? 0
  }
  await stopAgainAndAgain(ground, {
    name: 'SIGTERM under load: api and worker',
    stops,
    fleet,
    apiKey,
    begin: async (round) => {
      const [api, worker] = await Promise.all([fleet.start('api'), fleet.start('worker')])
      const runId = await enter(store, round)
      await until(async () => (await getRun(store.db, runId)).state !== 'queued')
      return { running: [api, worker], baseUrl: api.baseUrl, runId }
    },
    afterStop: async (runId) => {
      await until(async () => (await sessions()) === 0)
      // Between two of its jobs it belongs to nobody; its lease is short.
      expect((await getRun(store.db, runId)).state).not.toBe('failed')
    },
  })
  await fleet.start('worker')
  await expectNothingLost(store, fleet)
  await fleet.end()
}

/** SIGTERM of `giving start` with a PostgreSQL of its own, which must stop with it. */
export async function stopAllInOne(ground: Ground, stops: number): Promise<void> {
  const fleet = await createFleet(ground.environment)
  const { dataDir } = fleet
  let clusterDir = ''
  /** Looks into the database while the service does not run, or joins it. */
  const inside = async <T>(work: (store: Store) => Promise<T>): Promise<T> => {
    const server = await openEmbeddedPostgres({ dataDir })
    clusterDir = server.clusterDir
    const store = openStore({ url: server.url, max: 2, applicationName: 'campaign' })
    try {
      return await work(store)
    } finally {
      await store.close()
      await server.release()
    }
  }
  try {
    const apiKey = await inside(async (store) => {
      await migrate(store)
      await seedProjects(store, 500)
      return await newKey(store)
    })
    await stopAgainAndAgain(ground, {
      name: 'SIGTERM under load: all in one, own PostgreSQL',
      stops,
      fleet,
      apiKey,
      begin: async (round) => {
        const service = await fleet.start('start')
        const runId = await inside(async (store) => {
          const id = await enter(store, round)
          // The run of the start comes first; stopping hits either of the two.
          await until(async () => (await getRun(store.db, id - 1)).state !== 'queued')
          return id
        })
        return { running: [service], baseUrl: service.baseUrl, runId }
      },
      afterStop: async (runId) => {
        const { stdout } = spawnSync('ps', ['-eo', 'args'], { encoding: 'utf8' })
        expect(stdout.split('\n').filter((line) => line.includes(clusterDir))).toEqual([])
        const state = await inside(async (store) => (await getRun(store.db, runId)).state)
        expect(state).not.toBe('failed')
      },
    })
    await fleet.start('start')
    await inside((store) => expectNothingLost(store, fleet))
    await Promise.all(fleet.processes.map((one) => one.terminate()))
  } finally {
    await fleet.end()
    await inside(async () => undefined)
    await rm(clusterDir, { recursive: true, force: true })
  }
}

async function enter(store: Store, round: number): Promise<number> {
  await store.db.query('update project set title = $1', [`Round ${round}`])
  return await askForRun(store)
}

/** An API key of a new account. */
export async function newKey(store: Store): Promise<string> {
  const passwords = createPasswordHashing({ memoryCost: 8, timeCost: 1, parallelism: 1 })
  return (await createApiUser({ store, passwords, clock: () => new Date() }, testUser)).apiKey
}

/** Every run that was ever entered ends well, and what is published is whole. */
async function expectNothingLost(store: Store, fleet: Fleet): Promise<void> {
  await runEnded(store, await askForRun(store))
  const { rows } = await store.db.query<{ id: number; state: string }>(
    `select id, state from run where state not in ('published', 'unchanged')`,
  )
  expect(rows).toEqual([])
  await until(async () => (await faultsOf(fleet.feedsDir, store)).length === 0)
}

/** A client that asks for a file, reads a little of it and then nothing more: it must not hold up a shutdown. */
async function startStubbornReader(baseUrl: string, path: string): Promise<Socket> {
  const { hostname, port } = new URL(baseUrl)
  const socket = connect(Number(port), hostname)
  socket.on('error', () => undefined)
  await new Promise<void>((resolve, reject) => {
    socket.once('connect', resolve)
    socket.once('error', reject)
  })
  socket.write(`GET ${path} HTTP/1.1\r\nHost: ${hostname}\r\n\r\n`)
  await new Promise((resolve) => socket.once('readable', resolve))
  return socket
}
