import { expect, test } from 'vitest'
import { openStore } from '../../../src/platform/database/store.js'
import { createPublication } from '../../../src/release/create-publication.js'
import { createRun } from '../../../src/work/sql/runs.js'
import { insertProjects } from '../../support/catalogue.js'
import { testDatabase } from '../../support/database.js'
import { testPublisher } from '../../support/publishing.js'
import { until } from '../../support/sync.js'

const projects = 300
const otherSessions = `select from pg_stat_activity
  where datname = current_database() and backend_type = 'client backend' and pid <> pg_backend_pid()`

test('a first build reads no table once for each activity, although statistics say that nothing is rendered', async () => {
  const { store: reader, url } = await testDatabase()
  const { signal } = new AbortController()
  {
    // One session, for each plans the checks of foreign keys once.
    await using store = openStore({ url, max: 1, applicationName: 'test' })
    await insertProjects(
      store.db,
      Array.from({ length: projects }, (_, index) => ({ id: index + 1 })),
    )
    await store.db.query('vacuum analyze')
    const { deps, now } = await testPublisher(store)
    const publication = createPublication(deps)
    const { id } = await createRun(store.db, { trigger: 'schedule', at: now })
    const run = { id, startedAt: now, force: false, trigger: 'schedule' } as const
    for (const shard of await publication.planShards(run)) await publication.renderShard(run, shard, { signal })
  }
  // A session tells what it has read before it is gone.
  await until(async () => (await reader.db.query(otherSessions)).rowCount === 0)
  const { rows } = await reader.db.query<{ read: number }>(
    `select seq_tup_read::integer as read from pg_stat_user_tables where relname = 'rendering'`,
  )
  expect(rows[0]?.read).toBeLessThan(10 * projects)
})
