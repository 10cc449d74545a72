import { once } from 'node:events'
import { describe, expect, onTestFinished, test } from 'vitest'
import { createSyncRun, getSyncRun, listSyncProblems } from '../../../../src/catalogue/sql/sync-runs.js'
import { killSync, startSyncProcess } from '../../../campaign/support/killed-sync.js'
import { until } from '../../../support/catalogue/sync.js'
import { aRecord, startUpstream } from '../../../support/servers/upstream-server.js'
import { type TestDatabase, testDatabase } from '../../../support/store/database.js'

const ids = Array.from({ length: 12 }, (_, index) => index + 1)
const poison = 7

/** Runs a sync in processes, one after another, which are killed whenever they are at the poison. */
async function syncThatKills(atPoison: (database: TestDatabase) => Promise<boolean>, fault?: () => void) {
  const database = await testDatabase()
  const upstream = await startUpstream({
    records: ids.map((id) => aRecord(id, { imageGallerySize: 2 })),
    galleries: new Map(
      ids.map((id) => [id, [{ id, imagelink: [{ size: 'original', url: `https://giving.example/${id}.jpg` }] }]]),
    ),
    fault: (_request, _response, url) => {
      const isPoison = fault !== undefined && url.pathname.endsWith(`/projects/${poison}/imagegallery`)
      if (isPoison) fault()
      return isPoison
    },
  })
  onTestFinished(() => upstream.close())
  const { db } = database.store
  const due = { kind: 'full', trigger: 'manual', upstream: upstream.url, at: new Date(), reserveSeconds: 3600 } as const
  const { id } = await createSyncRun(db, due)
  let killed = 0
  for (let running = true; running; ) {
    const child = await startSyncProcess(database.url, upstream.url, id)
    const exited = once(child, 'exit')
    await until(async () => child.exitCode !== null || (await atPoison(database)))
    running = child.exitCode === null
    if (running) {
      killed++
      await killSync(child, db, id)
    }
    await exited
  }
  const { rows } = await db.query<{ id: number }>('select id from project order by id')
  return {
    killed,
    run: await getSyncRun(db, id),
    problems: await listSyncProblems(db, id, 10),
    kept: rows.map((row) => row.id),
  }
}

const refusal = {
  subject: `project ${poison}`,
  field: 'record',
  expected: 'one that can be worked on',
  got: 'two workers were lost over it',
}

describe('a record over which workers are lost is refused by name, and everything else is mirrored', () => {
  test('when its details are at fault: once with others, once alone', async () => {
    let asked = false
    const { killed, run, problems, kept } = await syncThatKills(
      async () => {
        const was = asked
        asked = false
        return was
      },
      () => {
        asked = true
      },
    )
    expect(killed).toBe(2)
    expect(run).toMatchObject({ state: 'done', created: 12, galleries: 11 })
    expect(problems).toEqual([refusal])
    expect(kept).toEqual(ids)
  })

  test('when the record itself is', async () => {
    let prepared = false
    const { killed, run, problems, kept } = await syncThatKills(async ({ store: { db } }) => {
      if (!prepared) {
        prepared = true
        await db.query(`create function stand_still() returns trigger language plpgsql as
          'begin if new.id = ${poison} then perform pg_sleep(60); end if; return new; end'`)
        await db.query(
          'create trigger stand_still before insert on project for each row execute function stand_still()',
        )
      }
      const { rows } = await db.query(`select from pg_stat_activity
        where application_name = 'test sync process' and wait_event = 'PgSleep' and datname = current_database()`)
      return rows.length > 0
    })
    expect(killed).toBe(2)
    expect(run).toMatchObject({ state: 'done', created: 11 })
    expect(problems).toEqual([refusal])
    expect(kept).toEqual(ids.filter((id) => id !== poison))
  })
})
