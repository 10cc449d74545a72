import { randomBytes } from 'node:crypto'
import pg from 'pg'
import { inject } from 'vitest'
import { openStore, type Store } from '../../../src/platform/database/store.js'
import { afterFile } from '../runner/after-file.js'

/** What is done with each database of tests before it is dropped: `program-mutants/touched.ts` asks what was done in it. */
export const beforeDrop: { work?: (name: string) => Promise<void> } = {}

/** A migrated, empty database of this test file's own. */
export type TestDatabase = { readonly store: Store; readonly url: string; drop(): Promise<void> }

/** A database with nothing in it, not even our schema; otherwise like `testDatabase`. `settings` is SQL for its making. */
export async function emptyDatabase(settings = ''): Promise<TestDatabase> {
  return await createDatabase(`template template0 tablespace tests ${settings}`)
}

/**
 * Clones the template database, by its files and in its place: through the log, or on a disk, it takes ten times as long. It is dropped after the
 * file's tests, by force, so a test that leaks a connection does not hang the suite.
 */
export async function testDatabase(): Promise<TestDatabase> {
  return await createDatabase('template giving_template strategy file_copy')
}

/** A copy of a database, whose store is closed for that. */
export async function copyDatabase({ store, url }: TestDatabase): Promise<TestDatabase> {
  await store.close()
  return await createDatabase(`template ${new URL(url).pathname.slice(1)} strategy file_copy`)
}

async function createDatabase(settings: string): Promise<TestDatabase> {
  const name = `test_${randomBytes(6).toString('hex')}`
  await administrate(`create database ${name} owner giving ${settings}`)
  const url = new URL(inject('databaseUrl'))
  url.pathname = `/${name}`
  const store = openStore({ url: url.href, max: 6, applicationName: `giving ${name}` })
  let dropped = false
  const drop = async () => {
    if (dropped) return
    dropped = true
    await store.close()
    await beforeDrop.work?.(name)
    // Also while the server's own processes work in it, which only a superuser may end.
    await administrate(`drop database ${name} with (force)`)
  }
  afterFile(drop)
  return { store, url: url.href, drop }
}

/** The administrator's connection, which all files of a worker share. */
let administrator: Promise<pg.Client> | undefined

async function administrate(statement: string): Promise<void> {
  administrator ??= connect(inject('administratorUrl'))
  await (await administrator).query(statement)
}

async function connect(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  // The server stops before the last worker has ended.
  client.on('error', () => undefined)
  return client
}
