import { readFileSync } from 'node:fs'
import { describe, expect, it, onTestFinished } from 'vitest'
import {
  listMigrations,
  type MigrationResult,
  migrate,
  pendingMigrations,
} from '../../../src/platform/database/migrate.js'
import { openStore, type Store } from '../../../src/platform/database/store.js'
import { emptyDatabase, type TestDatabase, testDatabase } from '../../support/store/database.js'
import { dumpSchema } from '../../support/store/schema/dump-schema.js'

const committed = readFileSync(new URL('../../support/store/schema/schema.sql', import.meta.url), 'utf8')
const names = listMigrations().map(({ name }) => name)
const newest = Number(names.at(-1)?.slice(0, 4))

describe('test/support/store/schema/schema.sql', () => {
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
    // All at once: the first start of a service waits for it.
    const { rows } = await store.db.query(
      'select count(distinct applied_at)::int as transactions from schema_migration',
    )
    expect(rows).toEqual([{ transactions: 1 }])
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
    for (const { name, sql, breaking } of listMigrations()) {
      expect(sql, `${name}: the first line says "-- compatible" or "-- breaking"`).toMatch(
        /^-- (compatible|breaking)\n/,
      )
      expect(breaking).toBe(sql.startsWith('-- breaking'))
    }
  })

  it('refuses a migration that was edited after it had been applied', async () => {
    const { store: edited } = await forThisTest(testDatabase())
    await edited.db.query(`update schema_migration set hash = 'another' where name = '${names.at(-1)}'`)
    await expect(migrate(edited)).rejects.toMatchObject({
      code: 'database-incompatible',
      message: `migration ${names.at(-1)} was edited after it had been applied`,
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
    // One of them makes the schema; the others find it, or share what is left.
    expect(results.flatMap(({ applied }) => applied).sort()).toEqual(names)
    expect((await ledger(first)).map(({ name }) => name)).toEqual(names)
    expect(await first.snapshot(dumpSchema)).toBe(committed)
  })

  it('never keeps others waiting behind a table that is in use, and goes on when it is free', async () => {
    const { url, store: blocked } = await forThisTest(testDatabase())
    await blocked.db.query(`drop function mark(), mark_content() cascade;
      delete from schema_migration where name = '0048-marks'`)
    await using writer = openStore({ url, max: 1, applicationName: 'giving test' })
    await using other = openStore({ url, max: 1, applicationName: 'giving test' })
    let migrated: Promise<MigrationResult> | undefined
    const write = 'update project set active = active'
    await writer.transaction(async (db) => {
      await db.query(write)
      const waiting = await new Promise((resolve, reject) => {
        migrated = migrate(blocked, resolve)
        migrated.catch(reject)
      })
      expect(waiting).toBe('0048-marks')
      // The migration has stepped back: somebody else writes although the first writer has not ended.
      await other.db.query(write)
    })
    expect(await migrated).toEqual({ applied: ['0048-marks'], version: newest })
  })

  it('leaves nothing of a migration that fails, and goes on from there when the obstacle is gone', async () => {
    const { store: blocked } = await forThisTest(emptyDatabase())
    // In the way of the last function of the marks, whose other functions are made before it.
    await blocked.db.query('create function mark_content() returns trigger language plpgsql as $$ begin end $$')
    await expect(migrate(blocked)).rejects.toThrow(
      'migration 0048-marks failed: function "mark_content" already exists with same argument types',
    )
    expect((await ledger(blocked)).map(({ name }) => name)).toEqual(names.slice(0, names.indexOf('0048-marks')))
    const { rows } = await blocked.db.query(`select to_regproc('mark') as mark`)
    expect(rows).toEqual([{ mark: undefined }])

    await blocked.db.query('drop function mark_content()')
    await migrate(blocked)
    expect(await blocked.snapshot(dumpSchema)).toBe(committed)
  })
})

describe('a database of a version before 1.0', () => {
  it('that has its last migration is taken for one that has the baseline, and keeps its ledger', async () => {
    const { store } = await forThisTest(databaseBefore(46))
    expect(await pendingMigrations(store.db)).toEqual(names.slice(1))
    expect(await migrate(store)).toEqual({ applied: names.slice(1), version: newest })
    expect(await store.snapshot(dumpSchema)).toBe(committed)
    expect((await ledger(store)).map(({ name }) => name)).toEqual([...stepNames(46), ...names.slice(1)])
    expect(await migrate(store)).toEqual({ applied: [], version: newest })
  })

  it('that has the files which migrations 48 to 64 were before 1.0 has nothing to do', async () => {
    const { store } = await forThisTest(testDatabase())
    await store.db.query(`update schema_migration set hash = 'of an earlier file' where version between 48 and 63`)
    await expect(pendingMigrations(store.db)).rejects.toThrow(
      'migration 0048-marks was edited after it had been applied',
    )
    await store.db.query(`insert into schema_migration (version, name, hash, breaking) values (64,
      '0064-many-rows-of-an-import', 'e77f01aed23bb16fcd1550db0f1005b331cb0c6aad15dab91d1774ad7d177596', false)`)
    expect(await migrate(store)).toEqual({ applied: [], version: newest })
  })

  it('that lacks some is refused with the version to start once', async () => {
    const { store } = await forThisTest(databaseBefore(45))
    const refusal = {
      code: 'database-incompatible',
      message:
        'the database is at migration 0045-step of a version before 1.0: start 1.0.0-rc.1 once, which brings it to ' +
        '0046-organisation-changes, then this version',
    }
    await expect(migrate(store)).rejects.toMatchObject(refusal)
    await expect(pendingMigrations(store.db)).rejects.toMatchObject(refusal)
  })
})

/** The schema as those versions left it, but for the marks, with their ledger up to a migration. */
async function databaseBefore(last: number): Promise<TestDatabase> {
  const database = await emptyDatabase()
  const { db } = database.store
  const [baseline] = listMigrations()
  await db.query(baseline?.sql ?? '')
  await db.query(`create table schema_migration (version integer primary key, name text not null, hash text not null,
    applied_at timestamptz not null default now(), breaking boolean not null default true)`)
  for (const name of stepNames(last)) {
    await db.query('insert into schema_migration (version, name, hash, breaking) values ($1, $2, $3, true)', [
      Number(name.slice(0, 4)),
      name,
      name === '0046-organisation-changes' ? lastHash : `not ${baseline?.hash}`,
    ])
  }
  return database
}

/** SHA-256 of the file of the last migration before 1.0, as every ledger has it. */
const lastHash = '450bdb82200ee50a85a0e3470e3184612b1f4c362abb3862c53cf84d2619bc9b'

function stepNames(last: number): string[] {
  return Array.from({ length: last }, (_, index) =>
    index + 1 === 46 ? '0046-organisation-changes' : `${String(index + 1).padStart(4, '0')}-step`,
  )
}

async function forThisTest(made: Promise<TestDatabase>): Promise<TestDatabase> {
  const database = await made
  onTestFinished(() => database.drop())
  return database
}

async function ledger(store: Store) {
  const { rows } = await store.db.query<{ name: string; hash: string; appliedAt: Date }>(
    'select name, hash, applied_at from schema_migration order by version',
  )
  return rows
}
