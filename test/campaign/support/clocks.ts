import pino from 'pino'
import { expect } from 'vitest'
import { isoInstantOf } from '../../../src/kernel/dates.js'
import type { Store } from '../../../src/platform/database/store.js'
import { scheduledPublications } from '../../../src/release/run.js'
import { enterDue, enterOverdue, putInForce } from '../../../src/work/due.js'
import { nextDue } from '../../../src/work/schedule.js'
import { faultsOf } from '../../support/release/published-folder.js'
import { testPublisher } from '../../support/release/publishing.js'
import { insertProjects } from '../../support/store/catalogue.js'
import { record, seeded } from './record.js'
import { scale } from './scale.js'
import { scheduledRuns } from './workers.js'

const second = 1000
const hour = 3_600 * second
const day = 24 * hour

/** Instants that a clock is set just before: the ends of days, months, years and of a February with a leap day. */
const awkward = ['2027-12-31', '2028-01-31', '2028-02-28', '2028-02-29', '2028-03-31', '2028-12-31'].map((date) =>
  Date.parse(`${date}T23:59:58Z`),
)

/** The next reading of a clock that mostly goes on, often to an awkward instant, and now and then is set back. */
function jump(now: number, random: () => number): { readonly now: number; readonly back: boolean } {
  const dice = random()
  if (dice < 0.1) return { now: now - Math.ceil(random() * hour), back: true }
  if (dice < 0.2) return { now: now - Math.ceil(random() * 3 * day), back: true }
  const next = awkward.find((instant) => instant > now)
  if (dice < 0.4 && next !== undefined) return { now: next, back: false }
  if (dice < 0.7) return { now: now + Math.ceil(random() * 5) * second, back: false }
  return { now: now + Math.ceil(random() * 2 * day), back: false }
}

/**
 * Publications at the readings of such a clock, with changes between them: the live release always says what was written
 * last, is never older than the one before, and its date goes back only with a clock that was set back by more than a
 * day.
 */
export async function publishByWanderingClock(store: Store): Promise<void> {
  const random = seeded('a clock that wanders')
  const publisher = await testPublisher(store)
  const projects = 12
  await insertProjects(
    store.db,
    Array.from({ length: projects }, (_, index) => ({ id: index + 1 })),
  )
  // Far more than the gifts to come: those of a month that is still ahead after the clock was set back are left out, and
  // no guard is to hold the release for so little.
  for (let id = 1; id <= projects; id++) await give(store, id, '2027-11-05', 10_000)
  publisher.now = new Date('2027-12-30T02:00:00Z')
  await publisher.publish()
  const titles = new Map<number, string>()
  let [released, backward] = [0, 0]
  for (let step = 1; step <= scale.clockSteps; step++) {
    const { now, back } = jump(publisher.now.getTime(), random)
    publisher.now = new Date(now)
    if (back) backward++
    const before = await publisher.manifest()
    if (random() < 0.6) {
      const id = 1 + Math.floor(random() * projects)
      titles.set(id, `Project ${id} at step ${step}`)
      await store.db.query('update project set title = $1 where id = $2', [titles.get(id), id])
      await give(store, id, isoInstantOf(publisher.now).slice(0, 10))
    }
    const run = await publisher.publish({ force: step % 10 === 0 })
    expect(run.state, JSON.stringify(run)).toMatch(/^(published|unchanged)$/)
    const after = await publisher.manifest()
    expect(after.run).toBe(run.state === 'published' ? run.id : before.run)
    const activities = await publisher.read('/iati/activities.xml')
    for (const title of titles.values()) expect(activities).toContain(`>${title}<`)
    expect(await faultsOf(publisher.feedsDir, store)).toEqual([])
    if (after.run === before.run) continue
    released++
    const [published, previous] = [Date.parse(after.generated), Date.parse(before.generated)]
    if (previous - now < day) expect(published).toBeGreaterThan(previous)
    else expect(published).toBeGreaterThanOrEqual(Math.floor(now / second) * second)
  }
  expect(released).toBeGreaterThan(0)
  record({
    name: 'publications by a clock that jumps over ends of days, months and leap days, and back',
    engine: '-',
    tried: scale.clockSteps,
    outcome: `${backward} times back; ${released} releases, none older than the one before, the newest data in each`,
  })
}

async function give(store: Store, projectId: number, date: string, amount = 10): Promise<void> {
  await store.db.query(
    `insert into donation_month (project_id, month, currency, kind, source, amount, count, last_on)
       select $1, date_trunc('month', $2::date)::date, 'USD', 'gift', 'local', $3, 1, $2::date
       where not exists (select from donation_month where project_id = $1 and month = date_trunc('month', $2::date)::date)`,
    [projectId, date, amount],
  )
}

/**
 * A nightly schedule in a zone with summer time, over a leap year, by a clock that jumps: while the service is up each
 * instant is entered once, when it was down the latest one, and a clock that is set back enters nothing again.
 */
export async function scheduleByWanderingClock(store: Store): Promise<void> {
  const random = seeded('a schedule over a leap year')
  // In Dublin this time does not exist on 26 March 2028 and comes twice on 29 October.
  const schedule = { expression: '30 1 * * *', timezone: 'Europe/Dublin' }
  const time = { now: Date.parse('2028-01-01T12:00:00Z') }
  const deps = scheduledPublications({ store, clock: () => new Date(time.now), log: pino({ level: 'silent' }) })
  await putInForce(deps, schedule)
  const wanted = new Set<number>()
  let furthest = time.now
  let down = 0
  while (time.now < Date.parse('2029-01-02T00:00:00Z')) {
    const from = time.now
    const dice = random()
    time.now += dice < 0.1 ? -Math.ceil(random() * 6 * hour) : Math.ceil(random() * 3 * day)
    const passed: Date[] = []
    for (let due = nextDue(schedule, new Date(from)); due.getTime() <= time.now; due = nextDue(schedule, due)) {
      passed.push(due)
    }
    if (dice < 0.4) {
      down++
      const latest = passed.at(-1)
      if (latest && latest.getTime() > furthest) wanted.add(latest.getTime())
      await Promise.all([1, 2, 3].map(() => putInForce(deps, schedule)))
      await Promise.all([1, 2].map(() => enterOverdue(deps)))
    } else {
      const until = time.now
      for (const due of passed) {
        if (due.getTime() > furthest) wanted.add(due.getTime())
        time.now = due.getTime()
        // The queue may deliver a tick twice, to two workers at once.
        await Promise.all([1, 2].map(() => enterDue(deps, due)))
      }
      time.now = until
    }
    furthest = Math.max(furthest, time.now)
  }
  const entered = (await scheduledRuns(store)).map(({ due }) => due.at.getTime())
  expect(entered).toEqual([...wanted].sort((a, b) => a - b))
  record({
    name: 'a nightly schedule over a leap year and two changes to and from summer time, by a clock that jumps',
    engine: '-',
    tried: wanted.size,
    outcome: `each instant entered once, the latest one each of the ${down} times that the service was down`,
  })
}
