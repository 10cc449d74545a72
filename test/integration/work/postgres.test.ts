import pino from 'pino'
import { expect, test } from 'vitest'
import { openQueue } from '../../../jobs/queue.js'
import { until } from '../../support/catalogue/sync.js'
import { testDatabase } from '../../support/store/database.js'
import { describeSurvival } from './survival.js'

describeSurvival('jobs on PostgreSQL', async (url) => ({
  connection: { kind: 'postgres', url },
  forget: async ({ db }) => {
    const { rows } = await db.query(`select from pg_tables where schemaname = 'bullmq' and tablename = 'job'`)
    if (rows.length > 0) await db.query('truncate bullmq.job, bullmq.scheduler cascade')
  },
  cut: async ({ db }) => {
    await db.query(`select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and pid <> pg_backend_pid() and application_name !~ '^giving test'`)
  },
  stop: async () => undefined,
}))

test('a connection that breaks while the tables of the queue are made fails the start, and ends no process', async () => {
  const { store, url } = await testDatabase()
  const settings = { connection: { kind: 'postgres', url }, lockSeconds: 2, attempts: 1, backoffMs: 100 } as const
  await store.transaction(async (db) => {
    await db.query('create schema bullmq')
    const opening = expect(openQueue(settings, pino({ level: 'silent' }))).rejects.toMatchObject({
      code: 'queue-unavailable',
    })
    const waiting = `from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
    await until(async () => (await store.db.query(`select ${waiting}`)).rowCount > 0)
    await store.db.query(`select pg_terminate_backend(pid) ${waiting}`)
    await opening
  })
  await using queue = await openQueue(settings, pino({ level: 'silent' }))
  expect(await queue.liveWorkers('publish')).toBe(0)
})
