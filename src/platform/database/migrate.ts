import { hash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { ServiceError } from '../../kernel/errors.js'
import { messageOf } from '../../kernel/system-errors.js'
import { type Db, isLockTimeout, isRepeatable } from './connection.js'
import type { Store } from './store.js'
import { refreshWriterRole } from './writer-role.js'

const directory = new URL('./migrations/', import.meta.url)
// Any constant, the same in every process, so that only one migrates at a time.
const advisoryLock = 7_241_032_603
// While a migration waits for a table, every later statement on that table waits behind it.
const lockTimeoutMs = 500
const tries = 60
const pauseMs = 500

/** One forward-only migration file. */
type Migration = {
  readonly version: number
  readonly name: string
  readonly sql: string
  readonly hash: string
  /** Programs that do not know this migration must not run on the schema it makes. */
  readonly breaking: boolean
}

// Older versions made the table without its last column; where it has it, no lock is needed.
const ledger = `
  create table if not exists schema_migration (version integer primary key, name text not null, hash text not null,
    applied_at timestamptz not null default now(), breaking boolean not null default true);
  do $$ begin
    if not exists (select from pg_attribute where attrelid = 'schema_migration'::regclass and attname = 'breaking') then
      alter table schema_migration add column breaking boolean not null default true;
    end if;
  end $$`

/**
 * Versions before 1.0 made the schema of the first migration in 46 steps. This is the last of them and the version that has
 * it; its hash is the ledger's proof.
 */
const lastBeforeBaseline = {
  version: 46,
  name: '0046-organisation-changes',
  hash: '450bdb82200ee50a85a0e3470e3184612b1f4c362abb3862c53cf84d2619bc9b',
  release: '1.0.0-rc.1',
} as const

/** Until version 1.0 was released, migrations 48 to 64 were other files of the same effect; the hash is of the last of them. */
const lastBeforeMerge = {
  version: 64,
  hash: 'e77f01aed23bb16fcd1550db0f1005b331cb0c6aad15dab91d1774ad7d177596',
} as const

/** The first line of a migration that leaves everything older programs read and write as it is. */
const compatibleMark = '-- compatible\n'

/**
 * All migrations of this program, in the order of their numbers; some numbers are missing.
 * @internal for tests of upgrades
 */
export function listMigrations(): Migration[] {
  return readdirSync(directory)
    .filter((name) => name.endsWith('.sql'))
    .sort()
    .map((name, index, names) => {
      const version = Number(name.slice(0, 4))
      if (index > 0 && version === Number(names[index - 1]?.slice(0, 4))) {
        throw new Error(`two migrations have the number of ${name}`)
      }
      const sql = readFileSync(new URL(name, directory), 'utf8')
      const breaking = !sql.startsWith(compatibleMark)
      return { version, name: name.slice(0, -4), sql, hash: hash('sha256', sql), breaking }
    })
}

export type MigrationResult = { readonly applied: readonly string[]; readonly version: number }

/** Is called once for each migration that has to wait for a table in use. */
type OnBlocked = (migration: string) => void

/**
 * Brings the schema up to this program's version: one transaction and one row of `schema_migration` for each file, each
 * under an advisory lock; all in one transaction where the database is empty. A newer schema is accepted while all
 * migrations that this program does not know are compatible. A migration that does not get a lock within half a second is
 * rolled back and tried again, for a minute. Throws `database-incompatible` when the database is not UTF8, older than
 * PostgreSQL 15, has a breaking migration that this program does not know, or ends before the baseline, or when an applied
 * file was edited since; `database-unavailable` when a table stays in use.
 */
export async function migrate(
  store: Store,
  onBlocked: OnBlocked = () => undefined,
  /** The last migration that is applied; absent: all. */
  until = Number.POSITIVE_INFINITY,
): Promise<MigrationResult> {
  await refuseUnfit(store.db)
  const found = await appliedMigrations(store.db)
  // Without pending migrations nothing is written, so that a process starts while the database is read-only.
  const pending = pendingOf(found).filter((one) => one.version <= until)
  const atOnce = found.length === 0 && (await applyAll(store, pending))
  const applied = atOnce ? pending.map(({ name }) => name) : []
  for (const migration of atOnce ? [] : pending) {
    if (await apply(store, migration, onBlocked)) applied.push(migration.name)
  }
  if (applied.length > 0) await store.transaction(refreshWriterRole)
  const version = Math.max(...found.map((row) => row.version), ...pending.map((migration) => migration.version))
  return { applied, version }
}

/** Names of migrations that are not applied yet; throws like `migrate` when this program cannot work with the schema. */
export async function pendingMigrations(db: Db): Promise<string[]> {
  return pendingOf(await appliedMigrations(db)).map(({ name }) => name)
}

/** The highest migration of the schema; undefined in an empty database. */
export async function appliedVersion(db: Db): Promise<number | undefined> {
  return (await appliedMigrations(db)).at(-1)?.version
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

type Applied = { readonly version: number; readonly name: string; readonly hash: string; readonly breaking: boolean }

async function appliedMigrations(db: Db): Promise<Applied[]> {
  // A statement that opens a table makes the server drop what it remembers: after waiting for the lock, a session that had
  // not found the name would go on not finding it.
  const present = await db.query<{ table: string | undefined }>(
    `select to_regclass('schema_migration') as table from pg_catalog.pg_class limit 1`,
  )
  if (present.rows[0]?.table === undefined) return []
  // Through JSON, because databases of older versions lack the column `breaking`.
  const { rows } = await db.query<Applied>(
    `select version, name, hash, coalesce((to_jsonb(m) ->> 'breaking')::boolean, true) as breaking
     from schema_migration m order by version`,
  )
  return rows
}

function pendingOf(applied: readonly Applied[]): Migration[] {
  const migrations = listMigrations()
  const newest = migrations.at(-1)?.version ?? 0
  const breaking = applied.find((row) => row.version > newest && row.breaking)
  if (breaking) {
    throw new ServiceError(
      'database-incompatible',
      `the database has migration ${breaking.name}, which programs at schema ${newest} cannot work with: run a newer version`,
    )
  }
  const hashes = new Map(applied.map(({ version, hash }) => [version, hash]))
  const baseline = migrations[0]
  if (baseline !== undefined && isOlderThan(baseline, applied)) hashes.set(baseline.version, baseline.hash)
  if (hashes.get(lastBeforeMerge.version) === lastBeforeMerge.hash) {
    for (const { version, hash } of migrations) if (version <= lastBeforeMerge.version) hashes.set(version, hash)
  }
  const edited = migrations.find(({ version, hash }) => hashes.has(version) && hashes.get(version) !== hash)
  if (edited) {
    throw new ServiceError('database-incompatible', `migration ${edited.name} was edited after it had been applied`)
  }
  return migrations.filter(({ version }) => !hashes.has(version))
}

/** Says whether the schema was made in steps before there was a baseline; throws when some of the steps are missing. */
function isOlderThan(baseline: Migration, applied: readonly Applied[]): boolean {
  const steps = applied.filter(({ version, name }) => version <= lastBeforeBaseline.version && name !== baseline.name)
  const newest = steps.at(-1)
  if (newest === undefined || newest.hash === lastBeforeBaseline.hash) return newest !== undefined
  const { release, name } = lastBeforeBaseline
  throw new ServiceError(
    'database-incompatible',
    `the database is at migration ${newest.name} of a version before 1.0: start ${release} once, which brings it to ${name}, then this version`,
  )
}

/**
 * Makes the schema of an empty database in one transaction and one request, in half the time of one for each migration. Returns
 * whether it did: whatever fails is tried again by migration, which tells the one that fails.
 */
async function applyAll(store: Store, migrations: readonly Migration[]): Promise<boolean> {
  return await store
    .transaction(async (db) => {
      await db.query('select pg_advisory_xact_lock($1)', [advisoryLock])
      if ((await appliedMigrations(db)).length > 0) return false
      await db.query(
        [`set local lock_timeout = ${lockTimeoutMs}`, ledger, ...migrations.map(({ sql }) => sql)].join(';\n'),
      )
      await record(db, migrations)
      return true
    })
    .catch(() => false)
}

/** Applies it, unless another process has done so meanwhile; returns whether this one did. */
async function apply(store: Store, migration: Migration, onBlocked: OnBlocked): Promise<boolean> {
  const { name } = migration
  for (let attempt = 1; ; attempt++) {
    try {
      return await store.transaction((db) => applyOnce(db, migration))
    } catch (error) {
      const reason = messageOf(error)
      if (error instanceof ServiceError && error.code === 'database-refused') throw error
      if (!isLockTimeout(error) && !isRepeatable(error)) {
        throw new Error(`migration ${name} failed: ${reason}`, { cause: error })
      }
      if (attempt === tries) {
        throw new ServiceError('database-unavailable', `migration ${name} changes a table that stays in use: ${reason}`)
      }
      if (attempt === 1) onBlocked(name)
    }
    await sleep(pauseMs)
  }
}

/** Of the transaction, so that it holds behind a pooler too, and against versions that lock for all migrations at once. */
async function applyOnce(db: Db, migration: Migration): Promise<boolean> {
  await db.query('select pg_advisory_xact_lock($1)', [advisoryLock])
  if ((await appliedMigrations(db)).some((row) => row.version === migration.version)) return false
  await db.query(`set local lock_timeout = ${lockTimeoutMs}`)
  await db.query(ledger)
  await db.query(migration.sql)
  await record(db, [migration])
  return true
}

async function record(db: Db, migrations: readonly Migration[]): Promise<void> {
  const columns = (['version', 'name', 'hash', 'breaking'] as const).map((key) => migrations.map((one) => one[key]))
  await db.query(
    `insert into schema_migration (version, name, hash, breaking)
     select * from unnest($1::integer[], $2::text[], $3::text[], $4::boolean[])`,
    columns,
  )
}
