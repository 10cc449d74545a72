import { ServiceError } from '../../kernel/errors.js'
import type { Db } from '../../platform/database/connection.js'
import type { FileReading } from './reading.js'

/** How the files of a source are read and taken. */
type SourceReading = FileReading & {
  /** The names of a folder's files that are read, such as `*.csv`, with commas between; absent: all. */
  readonly names?: string | undefined
  readonly correct?: boolean | undefined
  readonly photoConsent?: boolean | undefined
}

/** What an operator says of a source. */
export type SourceDefinition = {
  readonly name: string
  readonly kind: string
  /** A folder, a file, or an address; in the store what follows its `?` is encrypted. */
  readonly from: string
  /** A cron expression. */
  readonly schedule: string
  readonly reading: SourceReading
  /** Whether each file has all records, so that what is missing in it ends. */
  readonly complete: boolean
  /** A file that ends or changes more than this percentage of the records is held. */
  readonly guard: number
  readonly secretFile?: string
  /** The SHA-256 fingerprint of the key of an SFTP server. */
  readonly hostKey?: string
}

/** A file that waits for a person, with what it would change. */
export type HeldFile = {
  readonly file: string
  readonly sha256: string
  /** Records that the source has said before. */
  readonly before: number
  readonly changed: number
  readonly gone: number
  readonly since: string
  /** That nothing tells whether its last row is whole, and how. */
  readonly ending?: string
  /** Some of the records that would change or end. */
  readonly examples: readonly string[]
  /** Of the file's months: what the store has, and would have. */
  readonly money?: readonly {
    readonly currency: string
    readonly kind: string
    readonly before: string
    readonly after: string
  }[]
  readonly approved?: boolean
}

export type SourceOutcome = 'imported' | 'unchanged' | 'held' | 'failed'

/** A source and what became of its last file. */
export type Source = SourceDefinition & {
  readonly nextDue: Date
  readonly isRunning: boolean
  readonly triedAt?: Date
  readonly outcome?: SourceOutcome
  readonly message?: string
  /** The last import. */
  readonly import?: number
  readonly held?: HeldFile
}

const columns = `s.name, s.kind, s.location as from, s.schedule, s.reading, s.complete, s.guard_percent as guard,
  s.secret_file, s.host_key, s.next_due,
  coalesce(s.lease_until > clock_timestamp(), false) as is_running, s.tried_at, s.outcome, s.message,
  s.import_id as import, s.held`

export async function listSources(db: Db): Promise<Source[]> {
  const { rows } = await db.query<Source>(`select ${columns} from import_source s order by s.name`)
  return rows
}

export async function findSource(db: Db, name: string): Promise<Source | undefined> {
  const { rows } = await db.query<Source>(`select ${columns} from import_source s where s.name = $1`, [name])
  return rows[0]
}

/** The places of sources, as they are stored. */
export async function listPlaces(db: Db): Promise<readonly { readonly name: string; readonly from: string }[]> {
  const { rows } = await db.query<{ name: string; from: string }>('select name, location as from from import_source')
  return rows
}

/** Stores the same place in another form; false: it has changed meanwhile. */
export async function movePlace(db: Db, name: string, from: string, to: string): Promise<boolean> {
  const move = 'update import_source set location = $3 where name = $1 and location = $2'
  return (await db.query(move, [name, from, to])).rowCount === 1
}

/**
 * Enters a source, or gives a known one another definition. When it reads something else, or reads it otherwise, its files
 * are read again; what it has said stays known. Returns whether anything differs.
 */
export async function saveSource(db: Db, source: SourceDefinition, nextDue: Date): Promise<boolean> {
  const { name, kind, from, schedule, reading, complete, guard, secretFile = null, hostKey = null } = source
  const values = [name, kind, from, schedule, JSON.stringify(reading), complete, guard, secretFile, hostKey]
  await db.query(
    `delete from import_source_file f using import_source s where s.name = $1 and f.source = s.name
      and (s.kind, s.location, s.reading, s.complete) is distinct from ($2, $3, $4::jsonb, $5)`,
    [name, kind, from, JSON.stringify(reading), complete],
  )
  await db.query(
    `delete from import_source_record where source = $1 and exists (
    select from import_source s where s.name = $1 and s.kind <> $2)`,
    [name, kind],
  )
  const { rowCount } = await db.query(
    `insert into import_source as s (name, kind, location, schedule, reading, complete, guard_percent, secret_file,
        host_key, next_due)
      values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
      on conflict (name) do update set (kind, location, schedule, reading, complete, guard_percent, secret_file, host_key,
          next_due, held)
        = row (excluded.kind, excluded.location, excluded.schedule, excluded.reading, excluded.complete,
          excluded.guard_percent, excluded.secret_file, excluded.host_key, excluded.next_due, null)
      where (s.kind, s.location, s.schedule, s.reading, s.complete, s.guard_percent, s.secret_file, s.host_key)
        is distinct from (excluded.kind, excluded.location, excluded.schedule, excluded.reading, excluded.complete,
          excluded.guard_percent, excluded.secret_file, excluded.host_key)`,
    [...values, nextDue],
  )
  return rowCount === 1
}

/** Removes a source; what it has brought stays. Returns whether it was there. */
export async function removeSource(db: Db, name: string): Promise<boolean> {
  return (await db.query('delete from import_source where name = $1', [name])).rowCount === 1
}

/** Who works on a source, and for how long. */
export type SourceLease = { readonly owner: string; readonly seconds: number }

/** Takes a source that is due, or the one of this name; undefined while somebody works on it. */
export async function claimSource(
  db: Db,
  { owner, seconds }: SourceLease,
  wanted: { readonly dueAt: Date } | { readonly name: string },
): Promise<Source | undefined> {
  const [condition, value, lock] =
    'name' in wanted
      ? ['name = $3', wanted.name, 'for update']
      : ['next_due <= $3', wanted.dueAt, 'order by next_due, name limit 1 for update skip locked']
  const { rows } = await db.query<Source>(
    `update import_source s set lease_owner = $1, lease_until = clock_timestamp() + make_interval(secs => $2)
      where s.name = (
        select name from import_source where ${condition} and coalesce(lease_until < clock_timestamp(), true) ${lock})
      returning ${columns}`,
    [owner, seconds, value],
  )
  return rows[0]
}

/** Extends a lease; false when it is lost. */
export async function renewSource(db: Db, name: string, { owner, seconds }: SourceLease): Promise<boolean> {
  const { rowCount } = await db.query(
    `update import_source set lease_until = clock_timestamp() + make_interval(secs => $3)
      where name = $1 and lease_owner = $2`,
    [name, owner, seconds],
  )
  return rowCount === 1
}

/**
 * Keeps others from taking a source over until the transaction ends. Throws `run-superseded` when one has: who comes back after a
 * pause must neither mix its records with those that are read now, nor end what is not read yet.
 */
export async function lockOwnSource(db: Db, name: string, owner: string): Promise<void> {
  // The lock lets the lease be extended, and no other process claim the source.
  const held = 'select from import_source where name = $1 and lease_owner = $2 for key share'
  const { rowCount } = await db.query(held, [name, owner])
  if (rowCount === 0) throw new ServiceError('run-superseded', `another process works on the source ${name}`)
}

/** What became of a source's files. */
export type SourceEnd = {
  readonly at: Date
  readonly nextDue: Date
  readonly outcome: SourceOutcome
  readonly message: string
  readonly import?: number | undefined
}

/** Ends the work on a source; without `end`, or when its held file was approved meanwhile, it is due as before. */
export async function releaseSource(db: Db, name: string, owner: string, end?: SourceEnd): Promise<void> {
  await db.query(
    `update import_source set lease_owner = null, lease_until = null, tried_at = coalesce($3, tried_at),
        next_due = case when $5 = 'held' and held @> '{"approved": true}' then next_due else coalesce($4, next_due) end,
        outcome = coalesce($5, outcome), message = coalesce($6, message), import_id = coalesce($7, import_id)
      where name = $1 and lease_owner = $2`,
    [name, owner, end?.at, end?.nextDue, end?.outcome, end?.message, end?.import],
  )
}

export type KnownFile = {
  readonly name: string
  readonly version?: string
  readonly sha256: string
  /** Records of it that were refused. */
  readonly refused: number
  /** How it ends where nothing tells that its last row is whole; empty: it ends as a whole file does. Absent: not known. */
  readonly ending?: string | undefined
}

export async function listKnownFiles(db: Db, source: string): Promise<ReadonlyMap<string, KnownFile>> {
  const { rows } = await db.query<KnownFile>(
    'select name, version, sha256, refused, ending from import_source_file where source = $1 order by read_at',
    [source],
  )
  return new Map(rows.map((row) => [row.name, row]))
}

export async function recordFile(db: Db, source: string, file: KnownFile, at: Date): Promise<void> {
  await db.query(
    `insert into import_source_file (source, name, version, sha256, refused, read_at, ending)
      values ($1, $2, $3, $4, $5, $6, $7)
      on conflict (source, name) do update set (version, sha256, refused, read_at, ending) = row (excluded.version,
        excluded.sha256, excluded.refused, excluded.read_at, coalesce(excluded.ending, import_source_file.ending))`,
    [source, file.name, file.version, file.sha256, file.refused, at, file.ending],
  )
}

/** A record as a source says it: what names it, and its content, also as earlier versions took it, in the order of the columns. */
export type SaidRecord = { readonly key: string; readonly content: string; readonly formerly: string }

/** Forgets what was read of a file before. */
export async function clearReading(db: Db, source: string): Promise<void> {
  await db.query('delete from import_source_reading where source = $1', [source])
}

/** Adds records of the file that is being read; of equal keys the last counts. */
export async function addToReading(db: Db, source: string, records: readonly SaidRecord[]): Promise<void> {
  await db.query(
    `insert into import_source_reading (source, digest, key, content, formerly)
      select distinct on (digest) $1, digest, key, content, formerly from (
        select md5(w.key)::uuid as digest, w.key, md5(w.content)::uuid as content, md5(w.formerly)::uuid as formerly, place
        from unnest($2::text[], $3::text[], $4::text[]) with ordinality w (key, content, formerly, place)) r
      order by digest, place desc
      on conflict (source, digest) do update set (content, formerly) = row (excluded.content, excluded.formerly)`,
    [source, ...(['key', 'content', 'formerly'] as const).map((member) => records.map((record) => record[member]))],
  )
}

/** SQL: whether a record that was read, `r`, differs from what its source has said, `k`. */
const isChanged = '(r.content <> k.content and r.formerly is distinct from k.content)'

/** How a file that was read differs from what was said before. */
export type Difference = { readonly before: number; readonly changed: number; readonly gone: number }

/** How a file that was read differs from what its last version said, and from all that its source has said. */
export async function compareReading(
  db: Db,
  source: string,
  file: string,
): Promise<{ readonly ofFile: Difference; readonly ofSource: Difference }> {
  const { rows } = await db.query<Difference & { readonly isOfFile: boolean }>(
    `select k.file is not distinct from $2 as is_of_file, count(*) as before,
        count(*) filter (where ${isChanged}) as changed, count(*) filter (where r.digest is null) as gone
      from import_source_record k left join import_source_reading r on (r.source, r.digest) = (k.source, k.digest)
      where k.source = $1 group by 1`,
    [source, file],
  )
  const sum = (some: readonly Difference[]): Difference => ({
    before: some.reduce((total, { before }) => total + before, 0),
    changed: some.reduce((total, { changed }) => total + changed, 0),
    gone: some.reduce((total, { gone }) => total + gone, 0),
  })
  return { ofFile: sum(rows.filter(({ isOfFile }) => isOfFile)), ofSource: sum(rows) }
}

/** Some of the records that a file changes, or with `gone` does not have. */
export async function differingKeys(db: Db, source: string, gone: boolean, limit: number): Promise<string[]> {
  const { rows } = await db.query<{ key: string }>(
    `select k.key from import_source_record k
        left join import_source_reading r on (r.source, r.digest) = (k.source, k.digest)
      where k.source = $1 and (${isChanged} or ($2 and r.digest is null)) order by k.key limit $3`,
    [source, gone, limit],
  )
  return rows.map(({ key }) => key)
}

/** Records that the file does not have, and no other source of the same kind says, after a key. */
export async function missingRecords(db: Db, source: string, after: string, limit: number): Promise<string[]> {
  const { rows } = await db.query<{ key: string }>(
    `select k.key from import_source_record k join import_source s on s.name = k.source
      where k.source = $1 and k.key > $2 collate "C"
        and not exists (select from import_source_reading r where (r.source, r.digest) = (k.source, k.digest))
        and not exists (select from import_source_record o join import_source other on other.name = o.source
          where o.digest = k.digest and o.source <> k.source and other.kind = s.kind)
      order by k.key collate "C" limit $3`,
    [source, after, limit],
  )
  return rows.map(({ key }) => key)
}

/** Makes what was read of a file what the source says; with `forgetMissing` it no longer says the rest. */
export async function adoptReading(db: Db, source: string, file: string, forgetMissing: boolean): Promise<void> {
  const missing = `k.source = $1
    and not exists (select from import_source_reading r where (r.source, r.digest) = (k.source, k.digest))`
  if (forgetMissing) await db.query(`delete from import_source_record k where ${missing}`, [source])
  else await db.query(`update import_source_record k set file = null where ${missing} and k.file = $2`, [source, file])
  await db.query(
    `insert into import_source_record as k (source, digest, key, content, file)
      select source, digest, key, content, $2 from import_source_reading where source = $1
      on conflict (source, digest) do update set (content, file) = row (excluded.content, excluded.file)
      where (k.content, k.file) is distinct from (excluded.content, excluded.file)`,
    [source, file],
  )
  await clearReading(db, source)
}

/** Keeps a file back until a person decides; null: there is none. What one has decided on the same content meanwhile stays. */
export async function holdFile(db: Db, source: string, held: HeldFile | null): Promise<void> {
  await db.query(
    `update import_source set held = case when held ->> 'sha256' = $2::jsonb ->> 'sha256' then held else '{}' end || $2::jsonb
      where name = $1`,
    [source, held && JSON.stringify(held)],
  )
}

/** Makes a source due now. Returns whether it is there. */
export async function askSource(db: Db, name: string, at: Date): Promise<boolean> {
  const ask = 'update import_source set next_due = least(next_due, $2) where name = $1'
  return (await db.query(ask, [name, at])).rowCount === 1
}

/** Decides on the held file: approved, it is imported at the next reading; refused, left alone. Throws `not-found`. */
export async function decideHeldFile(
  db: Db,
  name: string,
  decision: 'approve' | 'refuse',
  at: Date,
): Promise<HeldFile> {
  const { rows } = await db.query<{ held: HeldFile | undefined }>(
    'select held from import_source where name = $1 for update',
    [name],
  )
  const held = rows[0]?.held
  if (!held) throw new ServiceError('not-found', `no file of a source ${name} is held`)
  if (decision === 'approve') {
    await holdFile(db, name, { ...held, approved: true })
    await askSource(db, name, at)
  } else {
    await recordFile(db, name, { name: held.file, sha256: held.sha256, refused: 0 }, at)
    await db.query(
      `update import_source set held = null, outcome = 'unchanged', message = 'the file that was held is refused'
        where name = $1`,
      [name],
    )
  }
  return held
}
