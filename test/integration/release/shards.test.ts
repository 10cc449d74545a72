import { beforeAll, expect, it } from 'vitest'
import type { Notice } from '../../../src/kernel/notice.js'
import type { Store } from '../../../src/platform/database/store.js'
import { createPublication } from '../../../src/release/create-publication.js'
import type { Run } from '../../../src/work/run.js'
import { createRun } from '../../../src/work/sql/runs.js'
import { insertProjects } from '../../support/catalogue.js'
import { testDatabase } from '../../support/database.js'
import { type Publisher, testPublisher } from '../../support/publishing.js'

const projects = 150
const shard = { fromId: 1, toId: projects }

let store: Store
let publisher: Publisher
let run: Run

beforeAll(async () => {
  store = (await testDatabase()).store
  await insertProjects(
    store.db,
    Array.from({ length: projects }, (_, index) => ({ id: index + 1 })),
  )
  publisher = await testPublisher(store)
  const { id } = await createRun(store.db, { trigger: 'manual', at: publisher.now })
  run = { id, startedAt: publisher.now, force: false, trigger: 'manual' }
})

const rendered = async () =>
  (await store.db.query<{ id: number }>('select project_id as id from rendering order by project_id')).rows.map(
    ({ id }) => id,
  )
const render = (signal = new AbortController().signal) =>
  createPublication(publisher.deps).renderShard(run, shard, { signal })

it('a shard whose texts cannot be stored fails with all that it was doing, and keeps the batches before', async () => {
  await store.db.query('alter table rendering add constraint full_disk check (project_id <> 100)')
  await expect(render()).rejects.toThrow('full_disk')
  const { rows } = await store.db.query(
    `select query from pg_stat_activity
      where datname = current_database() and pid <> pg_backend_pid() and state <> 'idle'`,
  )
  expect(rows).toEqual([])
  const kept = await rendered()
  expect(kept.length).toBeGreaterThan(0)
  expect(kept).toEqual(Array.from(kept, (_, index) => index + 1))
  expect(kept.length).toBeLessThan(100)
})

it('an interrupted shard stops between two batches and says so', async () => {
  await expect(render(AbortSignal.abort())).rejects.toMatchObject({ code: 'aborted' })
})

it('the same shard again does what is left, each project once', async () => {
  const before = (await rendered()).length
  await store.db.query('alter table rendering drop constraint full_disk')
  expect((await render()).rendered).toBe(projects - before)
  expect(await rendered()).toHaveLength(projects)
  expect((await render()).rendered).toBe(0)
})

it('the schema is asked about few projects at a time, and each project gets what is said of it', async () => {
  const asked: number[] = []
  const validate = (texts: readonly (string | Buffer)[]): Notice[][] => {
    asked.push(texts.length)
    return texts.map((text) => {
      const detail = /<iati-identifier>([^<]*)/.exec(String(text))?.[1] ?? ''
      return [{ code: 'xsd-invalid', severity: 'warning', subject: 'iati-activity', path: '/iati-activity', detail }]
    })
  }
  const xsd = { version: 'of-the-test', validate, dispose: () => undefined }
  const publication = createPublication({ ...publisher.deps, xsd })
  expect((await publication.renderShard(run, shard, { signal: new AbortController().signal })).rendered).toBe(projects)
  expect(Math.max(...asked)).toBeLessThanOrEqual(10)
  const { rows } = await store.db.query(
    `select project_id from rendering
      where (select count(*) from jsonb_array_elements(notices) n
        where n->>'code' = 'xsd-invalid' and n->>'detail' = identifier) = 1`,
  )
  expect(rows).toHaveLength(projects)
})
