import { describe, expect, it } from 'vitest'
import { Shapes } from '../../../src/iati/validation/shapes.js'
import type { Notice } from '../../../src/kernel/notice.js'
import { coreFiles, testPublisher } from '../../support/release/publishing.js'
import { insertProjects } from '../../support/store/catalogue.js'
import { testDatabase } from '../../support/store/database.js'

const projects = 150

const { store } = await testDatabase()
await insertProjects(
  store.db,
  Array.from({ length: projects }, (_, index) => ({ id: index + 1 })),
)
const publisher = await testPublisher(store, coreFiles)

const rendered = async () =>
  (await store.db.query<{ id: number }>('select project_id as id from rendering order by project_id')).rows.map(
    ({ id }) => id,
  )

describe('shards', { shuffle: false }, () => {
  it('a shard whose texts cannot be stored fails with all that it was doing, and keeps the batches before', async () => {
    await store.db.query('alter table rendering add constraint full_disk check (project_id <> 100)')
    expect(await publisher.publish()).toMatchObject({
      state: 'failed',
      error: { message: expect.stringContaining('full_disk') },
    })
    // The lease of a run is renewed beside its work.
    const { rows } = await store.db.query(
      `select query from pg_stat_activity
      where datname = current_database() and backend_type = 'client backend' and pid <> pg_backend_pid()
        and state <> 'idle' and query not like 'update run set lease_until%'`,
    )
    expect(rows).toEqual([])
    const kept = await rendered()
    expect(kept.length).toBeGreaterThan(0)
    expect(kept).toEqual(Array.from(kept, (_, index) => index + 1))
    expect(kept.length).toBeLessThan(100)
  })

  it('an interrupted shard stops between two batches and says so', async () => {
    await expect(publisher.publish({ signal: AbortSignal.abort() })).rejects.toMatchObject({ code: 'aborted' })
  })

  it('the same shard again does what is left, each project once', async () => {
    const before = (await rendered()).length
    await store.db.query('alter table rendering drop constraint full_disk')
    expect(await publisher.publish()).toMatchObject({ state: 'published', rendered: projects - before })
    expect(await rendered()).toHaveLength(projects)
    expect(await publisher.publish()).toMatchObject({ state: 'unchanged', rendered: 0 })
  })

  it('an edit that comes while its project is rendered is published by the next run', async () => {
    const retitle = (title: string) => store.db.query('update project set title = $1 where id = 1', [title])
    await retitle('Seen')
    const run = await store.transaction(async (db) => {
      await db.query('lock table rendering in share mode')
      const publishing = publisher.publish()
      // Its text is made by now, and waits to be stored.
      const waiting = `select from pg_locks where relation = 'rendering'::regclass and not granted`
      await expect.poll(async () => (await store.db.query(waiting)).rows.length).toBe(1)
      await retitle('Edited meanwhile')
      return { publishing }
    })
    expect(await run.publishing).toMatchObject({ state: 'published', rendered: 1 })
    expect(await publisher.publish()).toMatchObject({ state: 'published', rendered: 1 })
    expect(await publisher.read('/iati/activities.xml')).toContain('Edited meanwhile')
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
    const xsd = { version: 'of-the-test', shapes: new Shapes(), validate, dispose: () => undefined }
    const checked = await testPublisher(store, { ...coreFiles, feedsDir: publisher.feedsDir, xsd })
    expect(await checked.publish()).toMatchObject({ rendered: projects })
    expect(Math.max(...asked)).toBeLessThanOrEqual(10)
    const { rows } = await store.db.query(
      `select project_id from rendering
      where (select count(*) from jsonb_array_elements(notices) n
        where n->>'code' = 'xsd-invalid' and n->>'detail' = identifier) = 1`,
    )
    expect(rows).toHaveLength(projects)
  })

  it('the schema is asked about new shapes and one in 50 of the others, by force about all', async () => {
    let asked = 0
    const validate = (texts: readonly (string | Buffer)[]): Notice[][] => {
      asked += texts.length
      return texts.map(() => [])
    }
    const xsd = { version: 'that-accepts', shapes: new Shapes(), validate, dispose: () => undefined }
    const checked = await testPublisher(store, { ...coreFiles, feedsDir: publisher.feedsDir, xsd })
    expect(await checked.publish()).toMatchObject({ rendered: projects, held: 0 })
    // The first ten are shown at once, and have one shape.
    expect(asked).toBe(10 + Math.floor((projects - 10) / 50))
    expect(await checked.publish({ force: true })).toMatchObject({ rendered: projects })
    expect(asked).toBe(12 + projects)
  })
})
