import { beforeEach, describe, expect, it } from 'vitest'
import { adoptLiveRun } from '../../../src/release/operate/restored-database.js'
import { runCommandLine } from '../../support/commands/command-line.js'
import { faultsOf } from '../../support/release/published-folder.js'
import { type Publisher, testPublisher } from '../../support/release/publishing.js'
import { insertProjects } from '../../support/store/catalogue.js'
import { type TestDatabase, testDatabase } from '../../support/store/database.js'

let database: TestDatabase
let publisher: Publisher

const rename = (title: string) => database.store.db.query('update project set title = $1 where id = 1', [title])

/** Makes the database what it was after its first run, as restoring a backup of that time does; the folder stays. */
async function restoreFirstDay(): Promise<void> {
  const { db } = database.store
  const first = '(select min(id) from run)'
  await db.query(`update rendering set run_id = ${first}`)
  await db.query(`delete from release_event where release_id in (select id from release where run_id > ${first})`)
  await db.query(`delete from release where run_id > ${first}`)
  await db.query(`update release set state = 'live'`)
  await db.query(`delete from run where id > ${first}`)
  await db.query(`select setval(pg_get_serial_sequence('run', 'id'), ${first})`)
}

beforeEach(async () => {
  database = await testDatabase()
  publisher = await testPublisher(database.store)
  await insertProjects(database.store.db, [{ id: 1 }, { id: 2 }])
  for (const title of ['First', 'Second', 'Third', 'Fourth']) {
    await rename(title)
    expect(await publisher.publish()).toMatchObject({ state: 'published' })
    publisher.now = new Date(publisher.now.getTime() + 86_400_000)
  }
  await restoreFirstDay()
})

describe('a database restored from a backup that is older than the published files', () => {
  it('goes on after the live release when a process starts', async () => {
    const { run } = await publisher.manifest()
    expect(await adoptLiveRun(publisher.deps)).toBe(run)
    expect(await adoptLiveRun(publisher.deps)).toBeUndefined()
    await rename('Fifth')
    expect(await publisher.publish()).toMatchObject({ state: 'published', id: run + 1 })
    expect(await publisher.read('/iati/activities.xml')).toContain('Fifth')
    expect(await faultsOf(publisher.feedsDir, database.store)).toEqual([])
  })

  it('is told by status until a person has seen to it', async () => {
    const giving = async (...args: string[]) => {
      const environment = { DATABASE_URL: database.url, GIVING_DATA_DIR: publisher.feedsDir, LOG_LEVEL: 'silent' }
      return await runCommandLine(args, { ...environment, REPORTING_ORG_REF: 'US-EIN-123456789' })
    }
    await adoptLiveRun(publisher.deps)
    const { release } = await publisher.manifest()
    const said = `the database was restored from before release ${release}`
    expect((await giving('status')).stdout).toContain(`  - ${said}`)
    expect(await giving('database', 'show')).toMatchObject({ code: 1, stdout: expect.stringContaining(said) })
    expect((await giving('database', 'accept')).code).toBe(1)
    expect((await giving('status')).stdout).toContain(said)
    expect((await giving('database', 'accept', '--confirm')).code).toBe(0)
    expect((await giving('status')).stdout).not.toContain(said)
    expect(await giving('database', 'show')).toMatchObject({ code: 0 })
    expect((await giving('audit')).stdout).toContain('database-accepted')
    expect((await giving('database', 'accept')).stdout).toBe('nothing stands against this database\n')
  })

  it('that no process was started on fails one run in a sentence, and the next one publishes', async () => {
    await rename('Fifth')
    expect(await publisher.publish()).toMatchObject({ state: 'failed', error: { code: 'run-superseded' } })
    expect(await publisher.publish()).toMatchObject({ state: 'published' })
    expect(await faultsOf(publisher.feedsDir, database.store)).toEqual([])
  })

  it('is not taken for another one: a database that never published leaves the numbers alone', async () => {
    const { store } = await testDatabase()
    expect(await adoptLiveRun({ ...publisher.deps, store })).toBeUndefined()
  })
})
