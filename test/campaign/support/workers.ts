import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'vitest'
import type { Store } from '../../../src/platform/database/store.js'
import { nextDue } from '../../../src/work/schedule.js'
import { createRun, listRuns, type RunSummary } from '../../../src/work/sql/runs.js'
import { faultsOf } from '../../support/release/published-folder.js'
import { insertProjects } from '../../support/store/catalogue.js'
import { createFleet, type Fleet, type FleetProcess, runEnded, until } from './fleet.js'
import { type CampaignRow, record, seeded } from './record.js'
import { scale } from './scale.js'

const everyThreeSeconds = '*/3 * * * * *'

/** A run that a schedule entered. */
export type ScheduledRun = RunSummary & { readonly due: NonNullable<RunSummary['due']> }

/** Runs of the schedule, by the instants they were due at. */
export async function scheduledRuns(store: Store): Promise<ScheduledRun[]> {
  const runs = await listRuns(store.db, 10_000)
  return runs
    .filter((run): run is ScheduledRun => run.due !== undefined)
    .sort((a, b) => a.due.at.getTime() - b.due.at.getTime())
}

/** All instants of a schedule after `from`, up to and with `until`. */
export function instantsOf(expression: string, from: Date, until: Date): string[] {
  const schedule = { expression, timezone: 'UTC' }
  const instants: string[] = []
  for (let at = nextDue(schedule, from); at <= until; at = nextDue(schedule, at)) instants.push(at.toISOString())
  return instants
}

/** Waits until nothing is queued or running. */
export async function allEnded(store: Store): Promise<void> {
  await until(async () => {
    const { rowCount } = await store.db.query(`select from run where state in ('queued', 'running')`)
    return rowCount === 0
  })
}

/**
 * Workers and API processes are started, stopped and killed at random while a schedule is due every three seconds, with
 * about two workers and then with about four, but never with none: every instant has exactly one run, and it ends well.
 */
export async function comeAndGo(
  engine: CampaignRow['engine'],
  store: Store,
  environment: Record<string, string>,
): Promise<void> {
  const fleet = await createFleet({
    ...environment,
    LOG_LEVEL: 'warn',
    SHUTDOWN_SECONDS: '4',
    QUEUE_LOCK_SECONDS: '4',
    PUBLISH_SCHEDULE: everyThreeSeconds,
  })
  await insertProjects(
    store.db,
    Array.from({ length: 30 }, (_, index) => ({ id: index + 1 })),
  )
  const apis = [await fleet.start('api'), await fleet.start('api')]
  for (const most of [2, 4]) {
    const crew = await Promise.all(Array.from({ length: most }, () => fleet.start('worker')))
    const began = new Date()
    const random = seeded(`${most} workers that come and go, ${engine}`)
    const changes = await shuffle({ fleet, store, crew, apis, most, random })
    // Whatever was due until now must be in the ledger soon; a tick may be with a worker that was just killed.
    const wanted = instantsOf(everyThreeSeconds, began, new Date())
    const missing = async () => {
      const entered = new Set((await scheduledRuns(store)).map(({ due }) => due.at.toISOString()))
      return wanted.filter((instant) => !entered.has(instant))
    }
    // No instant is entered later than a minute after it was due.
    const patience = performance.now() + 120_000
    await until(async () => (await missing()).length === 0 || performance.now() > patience)
    expect(await missing()).toEqual([])
    await Promise.all(crew.map((one) => one.terminate()))
    const keeper = await fleet.start('worker', { PUBLISH_SCHEDULE: '0 0 29 2 *' })
    await allEnded(store)
    await keeper.terminate()

    const runs = (await scheduledRuns(store)).filter(({ due }) => due.at > began)
    const adopted = new Set(instantsOf(everyThreeSeconds, began, new Date()))
    expect(runs.every(({ due }) => adopted.has(due.at.toISOString()))).toBe(true)
    expect(new Set(runs.map(({ due }) => due.at.getTime())).size).toBe(runs.length)
    expect(runs.filter(({ state }) => state !== 'published' && state !== 'unchanged')).toEqual([])
    const twice = await store.db.query('select run_id from release group by run_id having count(*) > 1')
    expect(twice.rows).toEqual([])
    expect(await faultsOf(fleet.feedsDir, store)).toEqual([])
    const published = runs.filter(({ state }) => state === 'published').length
    record({
      name: `${most} workers and 2 API processes started, stopped and killed under a schedule of 3 s`,
      engine,
      tried: changes,
      outcome: `${wanted.length} due instants, each run exactly once (${published} with a release)`,
    })
  }
  await fleet.end()
}

type Shuffle = {
  readonly fleet: Fleet
  readonly store: Store
  /** Running workers and API processes; what is ended here is taken out at once. */
  readonly crew: FleetProcess[]
  readonly apis: FleetProcess[]
  readonly most: number
  readonly random: () => number
}

/** Starts, stops and kills at random for a while; returns how often. Projects change meanwhile. */
async function shuffle({ fleet, store, crew, apis, most, random }: Shuffle): Promise<number> {
  let changes = 0
  const end = async (group: FleetProcess[]) => {
    const chosen = group.splice(Math.floor(random() * group.length), 1)[0]
    await (random() < 0.5 ? chosen?.kill() : chosen?.terminate())
  }
  const deadline = performance.now() + scale.scheduleSeconds * 1000
  while (performance.now() < deadline) {
    await sleep(300 + random() * 1200)
    await store.db.query('update project set title = $1 where id % 30 = $2', [
      `${most} workers, change ${changes}`,
      changes % 30,
    ])
    changes++
    const dice = random()
    if (dice < 0.15) {
      await end(apis)
      apis.push(await fleet.start('api'))
    } else if (dice < 0.25) {
      // Killed while it starts, wherever it has come to.
      const { child, ended } = fleet.launch('worker')
      await sleep(random() * 2000)
      child.kill('SIGKILL')
      await ended
    } else if (crew.length > 1 && (crew.length >= most || dice < 0.6)) await end(crew)
    else crew.push(await fleet.start('worker'))
  }
  return changes
}

/**
 * A worker of two processes, of which one is killed at a random moment of each publication: every run ends well, with one
 * release at most, and both are there again. Then one stands still, and at last the supervisor is killed.
 */
export async function killProcesses(
  engine: CampaignRow['engine'],
  store: Store,
  environment: Record<string, string>,
): Promise<void> {
  const fleet = await createFleet({ ...environment, WORKER_PROCESSES: '2', QUEUE_LOCK_SECONDS: '4' })
  await insertProjects(
    store.db,
    Array.from({ length: 3_000 }, (_, index) => ({ id: index + 1 })),
  )
  const worker = await fleet.start('worker')
  const random = seeded(`processes of a worker, ${engine}`)
  const twoRunning = () => until(async () => runningProcesses(worker).length === 2 && runningProcesses(worker))
  for (let round = 0; round < scale.processKills; round++) {
    const [one = 0, other = 0] = await twoRunning()
    const { id } = await createRun(store.db, { trigger: 'manual', at: new Date(), force: true })
    await until(async () => (await listRuns(store.db, 1))[0]?.state === 'running')
    await sleep(random() * 3000)
    process.kill(random() < 0.5 ? one : other, 'SIGKILL')
    expect(['published', 'unchanged']).toContain((await runEnded(store, id)).state)
  }
  const twice = await store.db.query('select run_id from release group by run_id having count(*) > 1')
  expect(twice.rows).toEqual([])
  expect(await faultsOf(fleet.feedsDir, store)).toEqual([])

  const [still = 0] = await twoRunning()
  process.kill(still, 'SIGSTOP')
  await until(async () => !runningProcesses(worker).includes(still))
  expect(worker.output()).toContain('a worker process stood still')
  const last = await twoRunning()
  await worker.kill()
  await until(async () => last.every((pid) => !isRunning(pid)))
  record({
    name: 'a worker of 2 processes: one killed during each publication, one stopped, the supervisor killed',
    engine,
    tried: scale.processKills + 2,
    outcome: 'every run ended well, one release each at most; both processes came back; none outlived the supervisor',
  })
  await fleet.end()
}

/** The process ids of a worker's processes that are ready and have not ended. */
function runningProcesses(worker: FleetProcess): number[] {
  const ready = worker.output().matchAll(/"pid":(\d+),"process":\d+,[^\n]*"msg":"worker ready"/g)
  return [...ready].map(([, pid]) => Number(pid)).filter(isRunning)
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}
