import type { TableFormat } from '../../iati/addresses.js'
import type { Connection, Db } from '../../platform/database/connection.js'
import { copyRows } from '../../platform/database/copy-rows.js'
import { byteaArray } from '../../platform/database/text-array.js'

/** What the tables and the index say of one activity; see the table `activity_rows`. */
export type ActivityRowsRecord = {
  readonly projectId: number
  readonly contentHash: string
  readonly version: number
  readonly counts: readonly number[]
  readonly hashes: Buffer
  readonly csv: Buffer
  readonly parquet: Buffer
  readonly ends: readonly number[]
  readonly entry: Buffer
  /** Its money by currency and kind. */
  readonly flows: Readonly<Record<string, Readonly<Record<string, string>>>>
}

/** Stores the rows of these activities; saving them again changes nothing. */
export async function saveActivityRows(db: Db, records: readonly ActivityRowsRecord[]): Promise<void> {
  if (records.length === 0) return
  const column = <T>(pick: (record: ActivityRowsRecord) => T) => records.map(pick)
  await db.query(
    `insert into activity_rows (project_id, content_hash, version, counts, hashes, csv, parquet, ends, entry, flows)
      select project_id, content_hash, version, counts::integer[], hashes, csv, parquet, ends::integer[], entry, flows
        from unnest($1::bigint[], $2::text[], $3::integer[], $4::text[], $5::bytea[], $6::bytea[], $7::bytea[], $8::text[],
            $9::bytea[], $10::jsonb[])
          as t (project_id, content_hash, version, counts, hashes, csv, parquet, ends, entry, flows)
      on conflict (project_id) do update set content_hash = excluded.content_hash, version = excluded.version,
        counts = excluded.counts, hashes = excluded.hashes, csv = excluded.csv, parquet = excluded.parquet,
        ends = excluded.ends, entry = excluded.entry, flows = excluded.flows`,
    [
      column((r) => r.projectId),
      column((r) => r.contentHash),
      column((r) => r.version),
      column((r) => `{${r.counts.join(',')}}`),
      byteaArray(column((r) => r.hashes)),
      byteaArray(column((r) => r.csv)),
      byteaArray(column((r) => r.parquet)),
      column((r) => `{${r.ends.join(',')}}`),
      byteaArray(column((r) => r.entry)),
      column((r) => JSON.stringify(r.flows)),
    ],
  )
}

/** COPY of the bytes of the activities in segments `first` to `last`, one row for each. */
export function copyActivityRows(
  client: Connection,
  { first, last, format }: { readonly first: number; readonly last: number; readonly format: TableFormat },
): AsyncGenerator<Buffer[][]> {
  return copyFields(client, [first, last], `t.${format}`)
}

/** As `copyActivityRows`, of some tables by their places: a field for each slice. */
export function copySlices(
  client: Connection,
  { first, last, slices }: { readonly first: number; readonly last: number; readonly slices: readonly Slice[] },
): AsyncGenerator<Buffer[][]> {
  const fields = slices.map(({ format, place }) => {
    if (!Number.isSafeInteger(place)) throw new TypeError(`not a place: ${place}`)
    const endOf = (of: number) => `ends[${of + 1}${format === 'parquet' ? ' + cardinality(ends) / 2' : ''}]`
    const start = place === 0 ? '0' : endOf(place - 1)
    return `substring(t.${format} from ${start} + 1 for ${endOf(place)} - ${start})`
  })
  return copyFields(client, [first, last], fields.join(', '))
}

/** The rows of the table at a place. */
type Slice = { readonly format: TableFormat; readonly place: number }

function copyFields(
  client: Connection,
  segments: readonly [number, number],
  fields: string,
): AsyncGenerator<Buffer[][]> {
  if (!segments.every(Number.isSafeInteger)) throw new TypeError(`not segments: ${segments.join(' to ')}`)
  return copyRows(
    client,
    `copy (select ${fields} from rendering r join activity_rows t using (project_id)
      where r.segment between ${segments.join(' and ')} and r.text is not null
      order by project_id) to stdout (format binary)`,
  )
}

/** COPY of a segment's entries, each with the bytes of its text (integer). */
export function copyEntries(client: Connection, segment: number): AsyncGenerator<Buffer[][]> {
  if (!Number.isSafeInteger(segment)) throw new TypeError(`not a segment: ${segment}`)
  return copyRows(
    client,
    `copy (select t.entry, octet_length(r.text) from rendering r left join activity_rows t using (project_id)
      where r.segment = ${segment} and r.text is not null order by project_id) to stdout (format binary)`,
  )
}
