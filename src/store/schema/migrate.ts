import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { ServiceError } from '../../domain/errors.js'
import type { Db } from '../database/connection.js'
import type { Store } from '../store.js'

const directory = new URL('../migrations/', import.meta.url)
// Any constant; taken by every process that migrates, so that they do it one after another.
const advisoryLock = 7_241_032_603

/** One forward-only migration file. */
export type Migration = { readonly version: number; readonly name: string; readonly sql: string; readonly hash: string }

/** All migrations of this program, in order; their numbers must be 1, 2, 3... */
export function listMigrations(): Migration[] {
  return readdirSync(directory)
    .filter((name) => name.endsWith('.sql'))
    .sort()
    .map((name, index) => {
      const version = Number(name.slice(0, 4))
      if (version !== index + 1) throw new Error(`migration ${name} is out of order: expected number ${index + 1}`)
      const sql = readFileSync(new URL(name, directory), 'utf8')
      return { version, name: name.slice(0, -4), sql, hash: createHash('sha256').update(sql).digest('hex') }
    })
}

export type MigrationResult = { readonly applied: readonly string[]; readonly version: number }

/**
 * Brings the schema up to this program's version: one transaction a file, a ledger row each, all under an advisory
 * lock. Throws `database-incompatible` when the database is not UTF8, older than PostgreSQL 15, at a newer schema, or
 * when an applied file was edited since.
 */
export async function migrate(store: Store): Promise<MigrationResult> {
  return await store.connection(async (db) => {
    await refuseUnfit(db)
    await db.query('select pg_advisory_lock($1)', [advisoryLock])
    try {
      return await applyPending(db)
    } finally {
      await db.query('select pg_advisory_unlock($1)', [advisoryLock])
    }
  })
}

/** Names of migrations that are not applied yet; throws like `migrate` when the schema is newer than this program. */
export async function pendingMigrations(db: Db): Promise<string[]> {
  const { rows } = await db.query<{ present: boolean }>(`select to_regclass('schema_migration') is not null as present`)
  const applied = rows[0]?.present ? await appliedVersions(db) : new Map<number, string>()
  return compare(applied)
}

async function refuseUnfit(db: Db): Promise<void> {
  const { rows } = await db.query<{ encoding: string; version: string }>(
    `select current_setting('server_encoding') as encoding, current_setting('server_version_num') as version`,
  )
  const { encoding, version } = rows[0] ?? { encoding: '?', version: '0' }
  if (encoding !== 'UTF8') {
    throw new ServiceError('database-incompatible', `the database's encoding must be UTF8, it is ${encoding}`)
  }
  if (Number(version) < 150_000) {
    throw new ServiceError('database-incompatible', `PostgreSQL 15 or newer is needed, this server is ${version}`)
  }
}

async function appliedVersions(db: Db): Promise<Map<number, string>> {
  const { rows } = await db.query<{ version: number; hash: string }>('select version, hash from schema_migration')
  return new Map(rows.map((row) => [row.version, row.hash]))
}

function compare(applied: ReadonlyMap<number, string>): string[] {
  const migrations = listMigrations()
  const newest = Math.max(0, ...applied.keys())
  if (newest > migrations.length) {
    throw new ServiceError(
      'database-incompatible',
      `the database is at schema ${newest}, this program knows ${migrations.length}: run a newer version of it`,
    )
  }
  for (const { version, name, hash } of migrations) {
    const was = applied.get(version)
    if (was !== undefined && was !== hash) {
      throw new ServiceError('database-incompatible', `migration ${name} was edited after it had been applied`)
    }
  }
  return migrations.filter(({ version }) => !applied.has(version)).map(({ name }) => name)
}

async function applyPending(db: Db): Promise<MigrationResult> {
  await db.query(`create table if not exists schema_migration (
    version integer primary key, name text not null, hash text not null, applied_at timestamptz not null default now())`)
  const pending = new Set(compare(await appliedVersions(db)))
  const migrations = listMigrations()
  for (const migration of migrations) {
    if (!pending.has(migration.name)) continue
    await db.query('begin')
    try {
      await db.query(migration.sql)
      await db.query('insert into schema_migration (version, name, hash) values ($1, $2, $3)', [
        migration.version,
        migration.name,
        migration.hash,
      ])
      await db.query('commit')
    } catch (error) {
      await db.query('rollback')
      throw new Error(`migration ${migration.name} failed: ${error instanceof Error ? error.message : error}`, {
        cause: error,
      })
    }
  }
  return { applied: [...pending], version: migrations.length }
}
