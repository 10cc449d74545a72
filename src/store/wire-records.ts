import type { Db } from './connection.js'

/** A project as an API read finds it: its ready text, or none when the stored one is missing or stale. */
export type WireRow = { readonly id: number; readonly active: boolean; readonly text?: string }

export type WireFormat = 'xml' | 'json'

/** What a page read returns; `numberFound` only when it was asked for. */
export type WirePage = {
  readonly rows: readonly WireRow[]
  readonly nextProjectId?: number
  readonly numberFound?: number
}

type Row = { id: number | null; active: boolean; text: string | null; number_found: number | null }

/**
 * One page of all projects from an inclusive lower bound on, in id order, in one round trip. A text is given only when
 * it was made from the project's current version by the mapping asked for.
 */
export async function selectWirePage(
  db: Db,
  page: { from: number; limit: number; format: WireFormat; mapping: number; count: boolean },
): Promise<WirePage> {
  const { rows } = await db.query<Row>(
    pageStatement(page.format, page.limit),
    [page.from, page.mapping, page.count],
    `wire-page-${page.format}-${page.limit}`,
  )
  const found = rows.flatMap((row) => toWireRow(row) ?? [])
  const next = found[page.limit]
  const numberFound = rows[0]?.number_found
  return {
    rows: found.slice(0, page.limit),
    ...(next && { nextProjectId: next.id }),
    ...(numberFound !== null && numberFound !== undefined && { numberFound }),
  }
}

/** The projects with these ids in the order of the ids; unknown ids are left out. */
export async function selectWireRows(
  db: Db,
  wanted: { ids: readonly number[]; format: WireFormat; mapping: number },
): Promise<WireRow[]> {
  const { rows } = await db.query<Row>(
    idsStatement(wanted.format),
    [wanted.ids, wanted.mapping],
    `wire-ids-${wanted.format}`,
  )
  return rows.flatMap((row) => toWireRow(row) ?? [])
}

/** A record in both formats, made from one version of a project. */
export type WireRecordText = {
  readonly projectId: number
  readonly version: number
  readonly xml: string
  readonly json: string
}

/** Keeps records for later reads; one whose project has moved on since is not kept. */
export async function saveWireRecords(db: Db, mapping: number, records: readonly WireRecordText[]): Promise<void> {
  if (records.length === 0) return
  await db.query(
    `insert into wire_record (project_id, version, mapping, xml, json)
      select r.project_id, r.version, $1, r.xml, r.json
      from unnest($2::bigint[], $3::bigint[], $4::text[], $5::text[]) r (project_id, version, xml, json)
        join project_version v on v.project_id = r.project_id and v.version = r.version
      order by r.project_id
      on conflict (project_id) do update
        set version = excluded.version, mapping = excluded.mapping, xml = excluded.xml, json = excluded.json
        where (wire_record.version, wire_record.mapping) is distinct from (excluded.version, excluded.mapping)`,
    [
      mapping,
      records.map((record) => record.projectId),
      records.map((record) => record.version),
      records.map((record) => record.xml),
      records.map((record) => record.json),
    ],
  )
}

function toWireRow(row: Row): WireRow | undefined {
  if (row.id === null) return undefined
  return { id: row.id, active: row.active, ...(row.text !== null && { text: row.text }) }
}

// A subquery a row, so that a prepared plan can only look up the page's rows by key, never read the whole table.
const currentText = (format: WireFormat, mapping: string) => `(
      select w.${format} from project_version v
        join wire_record w on w.project_id = v.project_id and w.version = v.version
      where v.project_id = p.id and w.mapping = ${mapping}
    )`

// The page size is written into the statement: as a parameter it would be planned as a tenth of the table. The text of the
// row after the page is not sent: only its id is wanted. The count is an init plan that runs only when it is asked for,
// and the left join keeps it when the page is empty.
const pageStatement = (format: WireFormat, limit: number) => `
  select c.number_found, p.id, p.active,
    case when p.position <= ${Math.trunc(limit)} then ${currentText(format, '$2')} end as text
  from (select case when $3::boolean then (select count(*) from project) end as number_found) c
    left join (
      select id, active, row_number() over (order by id) as position
      from (select id, active from project where id >= $1 order by id limit ${Math.trunc(limit) + 1}) page
    ) p on true
  order by p.id`

const idsStatement = (format: WireFormat) => `
  select null as number_found, p.id, p.active, ${currentText(format, '$2')} as text
  from unnest($1::bigint[]) with ordinality wanted (id, position)
    join project p on p.id = wanted.id
  order by wanted.position`
