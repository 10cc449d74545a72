import { afterEach, describe, expect, test } from 'vitest'
import { queueNames, work } from '../../../jobs/work.js'
import type { Work } from '../../../jobs/work-row.js'
import { createMetrics } from '../../../src/platform/observability/metrics.js'
import { World } from '../../support/processes/jobs/world.js'
import { testDatabase } from '../../support/store/database.js'

describe('a row that is added to the table of work', async () => {
  let ticks = 0
  const everySecond = { expression: '* * * * * *', timezone: 'UTC' }
  const row: Work = {
    name: 'counting',
    fields: [],
    queues: { counting: 1 },
    schedules: () => ({ counting: everySecond }),
    open: () => ({ tick: async () => `tick ${++ticks}` }),
  }

  const { store, url } = await testDatabase()
  const world = new World(store, url, { kind: 'postgres', url })
  afterEach(async () => await world.end())

  test('is scheduled, done, counted, measured, restored and stopped like all others', async () => {
    await world.begin(0)
    const worker = await world.startWorker({
      work: [...work, row],
      watchdog: { pattern: '* * * * * *', graceSeconds: 2 },
    })
    await world.until(async () => ticks >= 2)
    expect(Object.keys(await worker.queueCounts())).toEqual([...queueNames(work), 'counting'])
    const metrics = createMetrics({
      shared: () => Promise.reject(new Error('not asked')),
      live: async () => undefined,
      onError: () => undefined,
    })
    metrics.watchQueue(() => worker.queueCounts())
    expect(await metrics.text()).toContain('giving_queue_jobs{queue="counting",state="completed"}')
    const queue = await world.openQueue()
    expect(await queue.removeSchedulersExcept('counting', [])).toEqual(['counting'])
    await world.until(async () => world.logged('the counting scheduler was restored in the queue').length > 0)
    const restored = ticks
    await world.until(async () => ticks > restored)
    await worker.close()
    const stopped = ticks
    // Another worker brings the schedule's next ticks: they are none of the one that was stopped.
    let others = 0
    const open = () => ({ tick: async () => `other tick ${++others}` })
    await world.startWorker({ work: [...work, { ...row, open }] })
    await world.until(async () => others >= 2)
    expect(ticks).toBe(stopped)
  })

  test('that cannot be opened ends the start with its error, and the queue is closed', async () => {
    await world.begin(0)
    const open = () => {
      throw new Error('the counter is broken')
    }
    await expect(world.startWorker({ work: [{ ...row, open }] })).rejects.toThrow('the counter is broken')
    const connections = `pg_stat_activity where datname = current_database() and application_name = 'giving queue'`
    await world.until(async () => (await world.count(connections)) === 0)
  })
})
