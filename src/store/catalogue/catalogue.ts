import type { FieldProblem } from '../../domain/errors.js'
import type { RowSource } from '../../domain/project.js'
import type { HashedRecord, RecordSource, WriteOptions } from '../../domain/record.js'
import type { Db } from '../database/connection.js'
import { recordTotals } from '../donations/stated-totals.js'
import { upsertCountries, upsertOrganisations, upsertThemes } from './catalogue-parts.js'
import { foreignPayouts, writePublicationFields } from './catalogue-publication.js'
import { projectColumns, toProjectRow } from './catalogue-rows.js'

/** What became of each record of a batch. */
export type WriteOutcome = {
  readonly created: number
  readonly changed: number
  readonly unchanged: number
  readonly refused: readonly { readonly id: number; readonly problem: FieldProblem }[]
}

/**
 * Writes a batch of records with different ids, set-based; call it in a transaction. A record whose hash is the stored
 * one touches no row, so its project is not marked as changed. Projects and organisations of another source are never
 * overwritten: their records are refused (architecture.md 2.7).
 */
export async function writeRecords(
  db: Db,
  records: readonly HashedRecord[],
  options: WriteOptions,
): Promise<WriteOutcome> {
  const stored = await lockProjects(
    db,
    records.map(({ record }) => record.id),
  )
  const refused: { id: number; problem: FieldProblem }[] = []
  const candidates = records.filter(({ record, hash }) => {
    const row = stored.get(record.id)
    if (row && row.source !== options.source) {
      refused.push({ id: record.id, problem: foreign('id', `project ${record.id}`, row.source, options.source) })
      return false
    }
    return row?.source_hash !== hash
  })
  const unchanged = records.length - candidates.length - refused.length
  const owners = await organisationSources(db, candidates)
  const payouts = await foreignPayouts(db, candidates)
  const writable = candidates.filter(({ record }) => {
    const payout = payouts.get(record.id)
    if (payout) {
      const got = `${payout.reference}, which is of project ${payout.projectId}`
      refused.push({ id: record.id, problem: { field: 'iati/payouts/reference', expected: 'a new reference', got } })
      return false
    }
    const id = record.organisation?.id
    const owner = id === undefined ? undefined : owners.get(id)
    if (owner === undefined || owner === options.source) return true
    refused.push({
      id: record.id,
      problem: foreign('organization/id', `organisation ${id}`, owner, options.source),
    })
    return false
  })
  if (writable.length > 0) await writeAll(db, writable, options)
  const changed = writable.filter(({ record }) => stored.has(record.id)).length
  return { created: writable.length - changed, changed, unchanged, refused }
}

function foreign(field: string, what: string, owner: RowSource, source: RecordSource): FieldProblem {
  return { field, expected: `an id that is new or from ${source}`, got: `${what}, which is ${owner}` }
}

async function lockProjects(
  db: Db,
  ids: readonly number[],
): Promise<Map<number, { source: RowSource; source_hash: string | null }>> {
  const { rows } = await db.query<{ id: number; source: RowSource; source_hash: string | null }>(
    `select id, source, source_hash from project where id = any ($1::bigint[]) order by id for update`,
    [ids],
  )
  return new Map(rows.map((row) => [row.id, row]))
}

async function organisationSources(db: Db, records: readonly HashedRecord[]): Promise<Map<number, RowSource>> {
  const ids = records.flatMap(({ record }) => record.organisation?.id ?? [])
  if (ids.length === 0) return new Map()
  const { rows } = await db.query<{ id: number; source: RowSource }>(
    `select id, source from organisation where id = any ($1::bigint[])`,
    [ids],
  )
  return new Map(rows.map((row) => [row.id, row.source]))
}

async function writeAll(db: Db, hashed: readonly HashedRecord[], options: WriteOptions): Promise<void> {
  // In id order everywhere, so that two writers cannot deadlock.
  const ordered = [...hashed].sort((a, b) => a.record.id - b.record.id)
  const records = ordered.map(({ record }) => record)
  await upsertCountries(db, records)
  await upsertThemes(db, records)
  await upsertOrganisations(db, records, options.source)
  await upsertProjects(db, ordered, options)
  await replaceLists(db, ordered)
  await upsertMainImages(db, ordered, options.photoConsent)
  await recordTotals(db, ordered, options)
  await writePublicationFields(db, ordered, options)
}

const insertProjects = `
  insert into project (${projectColumns.join(', ')}, first_seen_on)
  select ${projectColumns.join(', ')}, $2::date from json_populate_recordset(null::project, $1::json)
  on conflict (id) do update set (${projectColumns.join(', ')}) =
    row (${projectColumns.map((name) => `excluded.${name}`).join(', ')})
  where project.source = excluded.source`

async function upsertProjects(db: Db, records: readonly HashedRecord[], options: WriteOptions): Promise<void> {
  const rows = records.map(({ record, hash }) => toProjectRow(record, hash, options.source))
  await db.query(insertProjects, [JSON.stringify(rows), options.today])
}

type List = { readonly table: string; readonly columns: readonly string[]; readonly types: readonly string[] }

const lists = {
  countries: { table: 'project_country', columns: ['country_code'], types: ['text'] },
  themes: { table: 'project_theme', columns: ['theme_id'], types: ['text'] },
  videos: { table: 'video', columns: ['url'], types: ['text'] },
  donationOptions: {
    table: 'donation_option',
    columns: ['amount', 'description'],
    types: ['numeric(18, 3)', 'text'],
  },
} as const satisfies Record<string, List>

async function replaceLists(db: Db, records: readonly HashedRecord[]): Promise<void> {
  const ids = records.map(({ record }) => record.id)
  const rowsOf = <T>(items: (record: HashedRecord['record']) => readonly T[], row: (item: T) => object) =>
    records.flatMap(({ record }) =>
      items(record).map((item, position) => ({ project_id: record.id, position, ...row(item) })),
    )
  await replaceList(
    db,
    lists.countries,
    ids,
    rowsOf(
      (r) => r.countries,
      (country) => ({ country_code: country.code }),
    ),
  )
  await replaceList(
    db,
    lists.themes,
    ids,
    rowsOf(
      (r) => r.themes,
      (theme) => ({ theme_id: theme.id }),
    ),
  )
  await replaceList(
    db,
    lists.videos,
    ids,
    rowsOf(
      (r) => r.videos,
      (url) => ({ url }),
    ),
  )
  await replaceList(
    db,
    lists.donationOptions,
    ids,
    rowsOf(
      (r) => r.donationOptions,
      (option) => option,
    ),
  )
}

/** Makes the list of each project what it should be; rows that stay as they are keep what else is known of them. */
async function replaceList(db: Db, list: List, ids: readonly number[], rows: readonly object[]): Promise<void> {
  const definition = list.columns.map((name, index) => `${name} ${list.types[index]}`).join(', ')
  const wanted = `json_to_recordset($1::json) as w(project_id bigint, position integer, ${definition})`
  const same = list.columns.map((name) => `w.${name} is not distinct from t.${name}`).join(' and ')
  const json = JSON.stringify(rows)
  await db.query(
    `delete from ${list.table} t where t.project_id = any ($2::bigint[]) and not exists (
       select from ${wanted} where w.project_id = t.project_id and w.position = t.position and ${same})`,
    [json, ids],
  )
  if (rows.length === 0) return
  const columns = list.columns.join(', ')
  await db.query(
    `insert into ${list.table} (project_id, position, ${columns})
     select project_id, position, ${columns} from ${wanted}
     on conflict (project_id, position) do nothing`,
    [json],
  )
}

const imageColumns = [
  'wire_id',
  'title',
  'small_url',
  'thumbnail_url',
  'medium_url',
  'large_url',
  'extra_large_url',
  'original_url',
]

async function upsertMainImages(db: Db, records: readonly HashedRecord[], consent: boolean): Promise<void> {
  const ids = records.map(({ record }) => record.id)
  const rows = records.flatMap(({ record }) => {
    const { image } = record
    if (!image) return []
    const { small, thumbnail, medium, large, extraLarge, original } = image.renditions
    return {
      project_id: record.id,
      position: 0,
      wire_id: image.wireId,
      title: image.title,
      small_url: small,
      thumbnail_url: thumbnail,
      medium_url: medium,
      large_url: large,
      extra_large_url: extraLarge,
      original_url: original,
      consent,
    }
  })
  const withImage = rows.map((row) => row.project_id)
  await db.query(
    `delete from photo where position = 0 and project_id = any ($1::bigint[]) and project_id <> all ($2::bigint[])`,
    [ids, withImage],
  )
  // A consent that was given for this very picture stays; another picture needs its own.
  await db.query(
    `insert into photo (project_id, position, ${imageColumns.join(', ')}, consent)
     select project_id, position, ${imageColumns.join(', ')}, consent
     from json_populate_recordset(null::photo, $1::json)
     on conflict (project_id, position) do update set
       (${imageColumns.join(', ')}, consent) = row (${imageColumns.map((name) => `excluded.${name}`).join(', ')},
         excluded.consent or (photo.consent and photo.original_url is not distinct from excluded.original_url))
     where row (${imageColumns.map((name) => `photo.${name}`).join(', ')}, photo.consent)
       is distinct from row (${imageColumns.map((name) => `excluded.${name}`).join(', ')},
         excluded.consent or photo.consent)`,
    [JSON.stringify(rows)],
  )
}
