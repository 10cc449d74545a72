import { randomBytes } from 'node:crypto'
import pg from 'pg'
import { afterAll, inject } from 'vitest'
import { openStore, type Store } from '../../src/store/store.js'

/** A migrated, empty database of this test file's own. */
export type TestDatabase = { readonly store: Store; readonly url: string; drop(): Promise<void> }

/** A database with nothing in it, not even our schema; otherwise like `testDatabase`. `settings` is SQL for its making. */
export async function emptyDatabase(settings = ''): Promise<TestDatabase> {
  return await createDatabase(`template template0 ${settings}`)
}

/**
 * Clones the template database; call it in `beforeAll`. It is dropped after the file's tests, by force, so a test that
 * leaks a connection does not hang the suite.
 */
export async function testDatabase(): Promise<TestDatabase> {
  return await createDatabase('template giving_template')
}

async function createDatabase(settings: string): Promise<TestDatabase> {
  const adminUrl = inject('databaseUrl')
  const name = `test_${randomBytes(6).toString('hex')}`
  await withAdmin(adminUrl, (admin) => admin.query(`create database ${name} ${settings}`))
  const url = new URL(adminUrl)
  url.pathname = `/${name}`
  const store = openStore({ url: url.href, max: 6, applicationName: `giving ${name}` })
  let dropped = false
  const drop = async () => {
    if (dropped) return
    dropped = true
    await store.close()
    // Also while the server's own processes work in it, which only a superuser may end.
    await withAdmin(inject('administratorUrl'), (admin) => admin.query(`drop database ${name} with (force)`))
  }
  afterAll(drop)
  return { store, url: url.href, drop }
}

async function withAdmin(url: string, work: (admin: pg.Client) => Promise<unknown>): Promise<void> {
  const admin = new pg.Client({ connectionString: url })
  await admin.connect()
  try {
    await work(admin)
  } finally {
    await admin.end()
  }
}
