import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { dispatchNext } from '../../../jobs/dispatch.js'
import { publicationHealth } from '../../../src/release/health.js'
import { createReleaseReader } from '../../../src/release/read/release-reader.js'
import { measureSkew, refuseWrongClock } from '../../../src/work/clock-check.js'
import { createRun, findLastGoodRun, getRun } from '../../../src/work/sql/runs.js'
import { listWrongClocks } from '../../../src/work/sql/wrong-clocks.js'
import { World } from '../../support/processes/jobs/world.js'
import { someOf } from '../../support/runner/some-of.js'
import { testDatabase } from '../../support/store/database.js'

const twoDays = 2 * 86_400_000
const shifts = someOf([twoDays, -twoDays], 2)

describe('a worker whose clock differs from that of the database', async () => {
  let aheadMs = 0
  const clock = () => new Date(Date.now() + aheadMs)
  const ask = async () => {
    const queue = await world.openQueue()
    const { id } = await createRun(world.store.db, { trigger: 'manual', at: new Date() })
    await dispatchNext({ store: world.store, queue }, 'publication')
    return id
  }
  const taken = async (id: number) => (await getRun(world.store.db, id)).state === 'published'
  const noted = async () => (await listWrongClocks(world.store.db)).length > 0

  /** Waits until the worker has looked at its clock twice more: between the looks it would have taken a run. */
  const looksTwice = async () => {
    const look = async () => {
      const { rows } = await world.store.db.query<{ seenAt: Date }>('select seen_at from wrong_clock')
      return rows[0]?.seenAt.getTime() ?? 0
    }
    for (let last = await look(), looks = 0; looks < 2; looks++) {
      last = await world.until(async () => {
        const next = await look()
        return next > last && next
      })
    }
  }

  const { store, url } = await testDatabase()
  const world = new World(store, url, { kind: 'postgres', url })
  beforeEach(async () => {
    await world.begin(0)
    await world.store.db.query('truncate wrong_clock')
    aheadMs = 0
  })
  afterEach(async () => await world.end())

  test.each(shifts)('by %d ms takes no runs from its start on, until it is right', async (shift) => {
    aheadMs = shift
    const starting = world.startWorker({ schedule: '* * * * * *', clock })
    await world.until(noted)
    const id = await ask()
    await looksTwice()
    expect(await world.runs()).toMatchObject([{ id, state: 'queued', attempt: 0 }])
    expect(await listWrongClocks(world.store.db)).toMatchObject([{ skewSeconds: expect.any(Number) }])
    aheadMs = 0
    await starting
    await world.until(() => taken(id))
    expect(await noted()).toBe(false)
  })

  test('takes no more runs when the clock jumps, says so, and goes on when it is right', async () => {
    const worker = await world.startWorker({ schedule: '* * * * * *', clock })
    await world.until(async () => (await world.count(`run where state = 'published'`)) >= 1)
    aheadMs = twoDays
    await world.until(noted)
    const releases = createReleaseReader('/nonexistent')
    const { needs } = await publicationHealth({ store: world.store, releases, clock: () => new Date() })
    expect(needs).toContainEqual({ cause: 'clock-wrong', message: expect.stringContaining(worker.owner) })
    expect(
      world.logged(/^the clock of this process is \d+ s ahead of the database's: no runs are taken$/),
    ).toHaveLength(1)
    const id = await ask()
    await looksTwice()
    expect(await getRun(world.store.db, id)).not.toMatchObject({ state: 'published' })
    aheadMs = 0
    await world.until(() => taken(id))
    const future = `clock_timestamp() + interval '1 minute'`
    expect(await world.count(`run where due_at > ${future} or finished_at > ${future}`)).toBe(0)
    expect(await noted()).toBe(false)
  })

  test('is measured, and refused where a command works without a queue', async () => {
    const { store } = world
    expect(await measureSkew(store, clock)).toBe(0)
    aheadMs = 59_000
    await refuseWrongClock(store, clock)
    aheadMs = -twoDays
    await expect(refuseWrongClock(store, clock)).rejects.toMatchObject({
      code: 'clock-wrong',
      message: expect.stringContaining(' s behind the database'),
    })
  })

  test('has no say in which run was the last good one', async () => {
    const { db } = world.store
    const [now, later] = [new Date(), new Date(Date.now() + twoDays)]
    for (const at of [now, later]) {
      const { id } = await createRun(db, { trigger: 'manual', at })
      await db.query(`update run set state = 'published', started_at = $2, finished_at = $2 where id = $1`, [id, at])
    }
    expect(await findLastGoodRun(db, now)).toMatchObject({ id: 1, finishedAt: now })
  })
})
