import type { Db } from '../database/connection.js'
import { byteaArray } from '../database/text-array.js'

/** What the tables say of one activity; see the table `activity_rows`. */
export type ActivityRowsRecord = {
  readonly projectId: number
  readonly contentHash: string
  readonly version: number
  readonly counts: readonly number[]
  readonly hashes: Buffer
  readonly csv: Buffer
  readonly parquet: Buffer
}

/** Stores the rows of these activities; saving them again changes nothing. */
export async function saveActivityRows(db: Db, records: readonly ActivityRowsRecord[]): Promise<void> {
  if (records.length === 0) return
  const column = <T>(pick: (record: ActivityRowsRecord) => T) => records.map(pick)
  await db.query(
    `insert into activity_rows (project_id, content_hash, version, counts, hashes, csv, parquet)
      select project_id, content_hash, version, counts::integer[], hashes, csv, parquet
        from unnest($1::bigint[], $2::text[], $3::integer[], $4::text[], $5::bytea[], $6::bytea[], $7::bytea[])
          as t (project_id, content_hash, version, counts, hashes, csv, parquet)
      on conflict (project_id) do update set content_hash = excluded.content_hash, version = excluded.version,
        counts = excluded.counts, hashes = excluded.hashes, csv = excluded.csv, parquet = excluded.parquet`,
    [
      column((r) => r.projectId),
      column((r) => r.contentHash),
      column((r) => r.version),
      column((r) => `{${r.counts.join(',')}}`),
      byteaArray(column((r) => r.hashes)),
      byteaArray(column((r) => r.csv)),
      byteaArray(column((r) => r.parquet)),
    ],
  )
}

/** A published text without the rows that a release needs. */
export type TextWithoutRows = { readonly projectId: number; readonly contentHash: string; readonly text: string }

/**
 * Up to `limit` activities whose rows are missing, of another content or of another version: those of a store that an earlier
 * version wrote, and texts that an import brought.
 */
export async function textsWithoutRows(db: Db, version: number, limit: number): Promise<TextWithoutRows[]> {
  const { rows } = await db.query<TextWithoutRows>(
    `select r.project_id as "projectId", r.content_hash as "contentHash", r.text
      from rendering r left join activity_rows t using (project_id)
      where r.text is not null
        and (t.project_id is null or t.version <> $1 or t.content_hash <> r.content_hash)
      order by r.project_id limit $2`,
    [version, limit],
  )
  return rows
}

// A part has the activities of so many segments: a release of a million projects has a few thousand files of tables.
const segmentsOfPart = 16

/** A part of the tables: for each table how many rows it has, and a hash of them. */
export type TablePart = {
  readonly part: number
  readonly counts: readonly number[]
  readonly hashes: readonly string[]
}

/** The parts of `tables` tables whose hashes have `hashBytes` each, by number. */
export async function listTableParts(db: Db, tables: number, hashBytes: number): Promise<TablePart[]> {
  const each = Array.from({ length: tables }, (_, index) => index)
  const counts = each.map((index) => `sum(counts[${index + 1}])`)
  const hashes = each.map(
    (index) =>
      `md5(string_agg(substring(hashes from ${index * hashBytes + 1} for ${hashBytes}), ''::bytea order by project_id))`,
  )
  const { rows } = await db.query<TablePart>(
    `select (segment - 1) / ${segmentsOfPart} + 1 as part, array[${counts}]::integer[] as counts,
        array[${hashes}] as hashes
      from (select project_id, segment, counts, hashes from rendering join activity_rows using (project_id)
        where text is not null order by project_id) as published
      group by 1 order by 1`,
  )
  return rows
}

/** COPY of the bytes of a part, one row for each activity. */
export function copyTablePartSql(part: number, format: 'csv' | 'parquet'): string {
  if (!Number.isSafeInteger(part)) throw new TypeError(`expected the number of a part, got ${part}`)
  return `copy (select t.${format} from rendering r join activity_rows t using (project_id)
      where r.segment between ${(part - 1) * segmentsOfPart + 1} and ${part * segmentsOfPart} and r.text is not null
      order by project_id) to stdout (format binary)`
}
