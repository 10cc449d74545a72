import { readFileSync } from 'node:fs'
import { describe, expect, it, onTestFinished } from 'vitest'
import {
  listMigrations,
  type MigrationResult,
  migrate,
  pendingMigrations,
} from '../../../src/platform/database/migrate.js'
import { openStore, type Store } from '../../../src/platform/database/store.js'
import { emptyDatabase, type TestDatabase, testDatabase } from '../../support/database.js'
import { dumpSchema } from '../../support/schema/dump-schema.js'

const committed = readFileSync(new URL('../../support/schema/schema.sql', import.meta.url), 'utf8')
const names = listMigrations().map(({ name }) => name)
const newest = Number(names.at(-1)?.slice(0, 4))

describe('test/support/schema/schema.sql', () => {
  it('is what the migrations make', async () => {
    const { store } = await forThisTest(testDatabase())
    expect(await store.snapshot(dumpSchema), 'the migrations changed: run `npm run schema:dump` and commit').toBe(
      committed,
    )
  })

  it('makes the same schema again in an empty database', async () => {
    const { store } = await forThisTest(emptyDatabase())
    await store.transaction((db) => db.query(committed))
    expect(await store.snapshot(dumpSchema)).toBe(committed)
  })

  it('never leaves out an object of a kind that its writer does not know', async () => {
    const { store } = await forThisTest(emptyDatabase())
    await store.db.query(`create view giver as select 1 as id`)
    await store.db.query(`create type mood as enum ('glad')`)
    await expect(store.snapshot(dumpSchema)).rejects.toThrow(
      'cannot write these yet: relation giver (kind v), type mood',
    )
  })
})

describe('migrating', () => {
  it('makes the schema of an empty database, and the second time nothing', async () => {
    const { store } = await forThisTest(emptyDatabase())
    expect(await pendingMigrations(store.db)).toEqual(names)
    expect(await migrate(store)).toEqual({ applied: names, version: newest })
    const before = await ledger(store)
    expect(await migrate(store)).toEqual({ applied: [], version: newest })
    expect(await ledger(store)).toEqual(before)
    expect(await pendingMigrations(store.db)).toEqual([])
  })

  it('refuses a newer schema with a breaking migration, and works with one whose migrations are compatible', async () => {
    const { store: newer } = await forThisTest(testDatabase())
    const insert = `insert into schema_migration (version, name, hash, breaking) values ($1, $2, 'x', $3)`
    await newer.db.query(insert, [newest + 1, 'added-later', false])
    expect(await pendingMigrations(newer.db)).toEqual([])
    expect(await migrate(newer)).toEqual({ applied: [], version: newest + 1 })

    await newer.db.query(insert, [newest + 2, 'removed-later', true])
    const refusal = {
      code: 'database-incompatible',
      message:
        'the database has migration removed-later, which programs at schema ' +
        `${newest} cannot work with: run a newer version`,
    }
    await expect(migrate(newer)).rejects.toMatchObject(refusal)
    await expect(pendingMigrations(newer.db)).rejects.toMatchObject(refusal)
  })

  it('takes a migration for compatible only when its first line says so', () => {
    const migrations = listMigrations()
    expect(migrations.slice(0, 16).every(({ breaking }) => breaking)).toBe(true)
    for (const { name, sql, breaking } of migrations.slice(16)) {
      expect(sql, `${name}: the first line says "-- compatible" or "-- breaking"`).toMatch(
        /^-- (compatible|breaking)\n/,
      )
      expect(breaking).toBe(sql.startsWith('-- breaking'))
    }
  })

  it('refuses a migration that was edited after it had been applied', async () => {
    const { store: edited } = await forThisTest(testDatabase())
    await edited.db.query(`update schema_migration set hash = 'another' where version = 2`)
    await expect(migrate(edited)).rejects.toMatchObject({
      code: 'database-incompatible',
      message: `migration ${names[1]} was edited after it had been applied`,
    })
  })

  it('refuses a database that is not UTF8', async () => {
    const { store: ascii } = await forThisTest(emptyDatabase(`encoding 'SQL_ASCII' locale_provider libc locale 'C'`))
    await expect(migrate(ascii)).rejects.toMatchObject({
      code: 'database-incompatible',
      message: "the database's encoding must be UTF8, it is SQL_ASCII",
    })
  })

  it('is done once when several processes begin at the same moment', async () => {
    const { url, store: first } = await forThisTest(emptyDatabase())
    await using second = openStore({ url, max: 1, applicationName: 'giving test' })
    await using third = openStore({ url, max: 1, applicationName: 'giving test' })
    const results = await Promise.all([first, second, third].map((store) => migrate(store)))
    expect(results.map(({ applied }) => applied.length).sort((a, b) => a - b)).toEqual([0, 0, names.length])
    expect((await ledger(first)).map(({ name }) => name)).toEqual(names)
    expect(await first.snapshot(dumpSchema)).toBe(committed)
  })

  it('never keeps others waiting behind a table that is in use, and goes on when it is free', async () => {
    const { url, store: blocked } = await forThisTest(testDatabase())
    await blocked.db.query(`alter table project drop column totals_changed_at;
      delete from schema_migration where name = '0031-totals-changed'`)
    await using reader = openStore({ url, max: 1, applicationName: 'giving test' })
    await using other = openStore({ url, max: 1, applicationName: 'giving test' })
    let migrated: Promise<MigrationResult> | undefined
    await reader.transaction(async (db) => {
      await db.query('select from project')
      const waiting = await new Promise((resolve, reject) => {
        migrated = migrate(blocked, resolve)
        migrated.catch(reject)
      })
      expect(waiting).toBe('0031-totals-changed')
      // The migration has stepped back: somebody else is answered although the first reader has not ended.
      await other.db.query('select from project')
    })
    expect(await migrated).toEqual({ applied: ['0031-totals-changed'], version: newest })
  })

  it('leaves nothing of a migration that fails, and goes on from there when the obstacle is gone', async () => {
    const { store: blocked } = await forThisTest(emptyDatabase())
    // In the way of the last table of migration 2, whose other tables are made before it.
    await blocked.db.query('create table disbursement ()')
    await expect(migrate(blocked)).rejects.toThrow(
      `migration ${names[1]} failed: relation "disbursement" already exists`,
    )
    expect((await ledger(blocked)).map(({ name }) => name)).toEqual(names.slice(0, 1))
    const { rows } = await blocked.db.query(`select to_regclass('donation') as donation`)
    expect(rows).toEqual([{ donation: null }])

    await blocked.db.query('drop table disbursement')
    await migrate(blocked)
    expect(await blocked.snapshot(dumpSchema)).toBe(committed)
  })
})

async function forThisTest(made: Promise<TestDatabase>): Promise<TestDatabase> {
  const database = await made
  onTestFinished(() => database.drop())
  return database
}

async function ledger(store: Store) {
  const { rows } = await store.db.query<{ name: string; hash: string; applied_at: Date }>(
    'select name, hash, applied_at from schema_migration order by version',
  )
  return rows
}
