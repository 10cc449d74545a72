import { expect, test } from 'vitest'
import { until } from '../../support/catalogue/sync.js'
import { runCommandLine } from '../../support/commands/command-line.js'
import { insertProjects } from '../../support/store/catalogue.js'
import { testDatabase } from '../../support/store/database.js'
import { temporaryFolder } from '../../support/values/temporary-folder.js'

const projects = 600
const otherSessions = `select from pg_stat_activity
  where datname = current_database() and backend_type = 'client backend' and pid <> pg_backend_pid()`

test('a first build reads no table once for each activity, although statistics say that nothing is rendered', async () => {
  const { store, url } = await testDatabase()
  const { db } = store
  await store.transaction(async (transaction) => {
    await insertProjects(
      transaction,
      Array.from({ length: projects }, (_, index) => ({ id: index + 1 })),
    )
  })
  await db.query('vacuum analyze')
  const environment = {
    DATABASE_URL: url,
    GIVING_DATA_DIR: await temporaryFolder(),
    LOG_LEVEL: 'silent',
    REPORTING_ORG_REF: 'US-EIN-123456789',
  }
  const { code, stderr } = await runCommandLine(['publish', '--inline'], environment)
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  // A session tells what it has read before it is gone.
  await until(async () => (await db.query(otherSessions)).rowCount === 0)
  const { rows } = await db.query<{ read: number }>(
    `select seq_tup_read::integer as read from pg_stat_user_tables where relname = 'rendering'`,
  )
  // Six or seven whole reads: autovacuum may bring statistics in the middle of a slow build, and other plans with them.
  expect(rows[0]?.read).toBeLessThan(20 * projects)
})
