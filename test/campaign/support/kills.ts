import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'vitest'
import { createPasswordHashing } from '../../../src/accounts/passwords.js'
import { createApiUser } from '../../../src/http/api/operations/create-api-user.js'
import type { Store } from '../../../src/platform/database/store.js'
import { listReleaseIds, releaseFolder, runOfRelease } from '../../../src/release/folder/release-folder.js'
import { createReleaseReader } from '../../../src/release/read/release-reader.js'
import { findRelease } from '../../../src/release/sql/releases.js'
import { isFinished } from '../../../src/work/run.js'
import { getRun } from '../../../src/work/sql/runs.js'
import { testUser } from '../../support/api/api.js'
import { faultsOf, faultsOfRelease } from '../../support/release/published-folder.js'
import { insertProjects } from '../../support/store/catalogue.js'
import { watchApi } from './api-watch.js'
import { askForRun, createFleet, type Fleet, type FleetProcess, runEnded, until } from './fleet.js'
import { follow } from './follower.js'
import { aims, reach, standing, tracesOf } from './moments.js'
import { type CampaignRow, duration, record, seeded } from './record.js'
import { scale } from './scale.js'

/**
 * Kills whoever works on a publication, at random moments of each of its parts, again and again. Meanwhile the release
 * that was live is served whole, another process finishes the run, and nothing is left behind. First with a lock of
 * 3 s, so that many kills fit, then with the default.
 */
export async function killAtRandomMoments(
  engine: CampaignRow['engine'],
  store: Store,
  environment: Record<string, string>,
): Promise<void> {
  const fleet = await createFleet({ ...environment, LOG_LEVEL: 'warn', SHUTDOWN_SECONDS: '4' })
  await insertProjects(
    store.db,
    Array.from({ length: 400 }, (_, index) => ({ id: index + 1 })),
  )
  const api = await fleet.start('api', { LOG_LEVEL: 'info' })
  const passwords = createPasswordHashing({ memoryCost: 8, timeCost: 1, parallelism: 1 })
  const { apiKey } = await createApiUser({ store, passwords, clock: () => new Date() }, testUser)
  const quick = await killRepeatedly(engine, fleet, store, { lockSeconds: 3, kills: scale.kills, api, apiKey })
  report(engine, 'kill -9 at a random moment of a publication', quick)
  const slow = await killRepeatedly(engine, fleet, store, {
    lockSeconds: 10,
    kills: scale.killsWithDefaults,
    api,
    apiKey,
  })
  report(engine, 'the same with the default lock of 10 s', slow)

  // Whatever was made, whoever was killed: every release is whole, and the ledger has nothing open or failed.
  const folder = releaseFolder(fleet.feedsDir)
  for (const id of await listReleaseIds(folder.releases)) {
    expect(await faultsOfRelease(path.join(folder.releases, id)), id).toEqual([])
    expect(await findRelease(store.db, id), id).toMatchObject({ runId: runOfRelease(id) })
  }
  expect(await openRuns(store)).toBe(0)
  expect((await store.db.query(`select from run where state = 'failed'`)).rowCount).toBe(0)
  await fleet.end()
}

type KillOptions = {
  readonly lockSeconds: number
  readonly kills: number
  readonly api: FleetProcess
  readonly apiKey: string
}
type Kills = {
  tried: number
  reads: number
  /** Answers of the API and its console. */
  looks: number
  readonly takeovers: number[]
  readonly moments: Map<string, number>
}

async function killRepeatedly(
  engine: CampaignRow['engine'],
  fleet: Fleet,
  store: Store,
  { lockSeconds, kills, api, apiKey }: KillOptions,
): Promise<Kills> {
  const random = seeded(`kill -9, ${engine}, lock of ${lockSeconds} s`)
  const folder = releaseFolder(fleet.feedsDir)
  const reader = createReleaseReader(fleet.feedsDir)
  // An all-in-one process and a worker: either may be the one that dies.
  const crew = new Map<number, FleetProcess>()
  const hire = async (command: 'start' | 'worker') => {
    const one = await fleet.start(command, { QUEUE_LOCK_SECONDS: `${lockSeconds}` })
    crew.set(one.pid, one)
  }
  await Promise.all([hire('start'), hire('worker')])
  const first = await runEnded(store, await askForRun(store))
  await until(async () => (await openRuns(store)) === 0)
  const follower = follow(api.baseUrl)
  const watch = watchApi(api, apiKey)
  let usualMs = Math.max(200, (first.finishedAt?.getTime() ?? 0) - (first.startedAt?.getTime() ?? 0))

  const kill = async (number: number, result: Kills) => {
    const before = await reader.live()
    await store.db.query('update project set title = $1 where id % 3 = $2', [`${lockSeconds} s, ${number}`, number % 3])
    const id = await askForRun(store)
    const aim = aims[number % aims.length] ?? 'render'
    let over = false
    const watching = runEnded(store, id).then(() => {
      over = true
    })
    let writer: number | undefined
    if (aim === 'render') {
      await until(async () => (await getRun(store.db, id)).state !== 'queued', 5)
      await sleep(random() * usualMs)
    } else {
      writer = await reach(folder, id, aim, () => over)
      // Parts of a few milliseconds, but for the assembling.
      await sleep(aim === 'assemble' ? random() * usualMs * 0.3 : random() * 8)
    }
    writer ??= Number((await getRun(store.db, id)).owner?.split(':')[1])
    const victim = crew.get(writer) ?? [...crew.values()][Math.floor(random() * crew.size)]
    if (!victim) throw new Error('there is nobody to kill')
    await victim.kill()
    const killedAt = performance.now()
    crew.delete(victim.pid)
    const left = await getRun(store.db, id)
    const traces = tracesOf(folder, id)
    const recorded = traces.live && (await findRelease(store.db, (await reader.live())?.id ?? '')) !== undefined
    const where = standing(traces, isFinished(left), recorded)
    result.moments.set(where, (result.moments.get(where) ?? 0) + 1)
    if (!traces.live) expect((await reader.live())?.id).toBe(before?.id)
    expect(await faultsOfRelease(path.join(folder.releases, (await reader.live())?.id ?? ''))).toEqual([])
    const replaced = hire(victim.command === 'start' ? 'start' : 'worker')
    const orphaned = !isFinished(left) && ownedBy(left, victim)
    if (orphaned) {
      await until(async () => {
        const now = await getRun(store.db, id)
        return isFinished(now) || now.attempt > left.attempt || (now.owner !== undefined && !ownedBy(now, victim))
      })
      result.takeovers.push(performance.now() - killedAt)
    }
    await watching
    const run = await getRun(store.db, id)
    expect(run.state, `run ${id}: ${JSON.stringify(run.error)}`).toBe('published')
    if (run.attempt === 1) usualMs = (run.finishedAt?.getTime() ?? 0) - (run.startedAt?.getTime() ?? 0) || usualMs
    await replaced
    // An all-in-one process publishes when it starts; then all is quiet, and all must be in order.
    await until(async () => (await openRuns(store)) === 0)
    expect(await faultsOf(fleet.feedsDir, store)).toEqual([])
  }

  const result: Kills = { tried: 0, reads: 0, looks: 0, takeovers: [], moments: new Map() }
  const beganAt = performance.now()
  for (
    ;
    result.tried < kills && (result.tried < 10 || performance.now() - beganAt < scale.patienceMs);
    result.tried++
  ) {
    await kill(result.tried, result)
  }
  const { reads, faults } = await follower.stop()
  expect(faults).toEqual([])
  expect(reads).toBeGreaterThan(0)
  // Nothing that the API and its console need was ever away.
  const looks = Object.entries(await watch.stop())
  expect(watch.faults).toEqual([])
  expect(looks.filter(([what]) => !what.endsWith(' 200'))).toEqual([])
  await Promise.all([...crew.values()].map((one) => one.terminate()))
  return { ...result, reads, looks: looks.reduce((sum, [, count]) => sum + count, 0) }
}

function report(engine: CampaignRow['engine'], name: string, { tried, reads, looks, takeovers, moments }: Kills): void {
  const seen = [...moments].map(([moment, count]) => `${moment} ${count}`).join(', ')
  const slowest =
    takeovers.length === 0 ? '' : `, ${takeovers.length} taken over within ${duration(Math.max(...takeovers))}`
  const outcome = `all finished${slowest}; nothing left behind; ${reads} reads meanwhile, all whole; ${looks} answers of the API and its console, all 200; stood at: ${seen}`
  record({ name, engine, tried, outcome })
}

async function openRuns(store: Store): Promise<number> {
  return (await store.db.query(`select from run where state in ('queued', 'running')`)).rowCount
}

function ownedBy(run: { readonly owner?: string }, one: FleetProcess): boolean {
  return run.owner?.split(':')[1] === `${one.pid}`
}
