import type { FieldProblem } from '../../kernel/errors.js'
import { projectFields } from '../../kernel/nouns/project.js'
import type { RowSource } from '../../kernel/project.js'
import type { HashedRecord, ProjectRecord, RecordSource, SaveOptions } from '../../kernel/record.js'
import { regionOfCountry } from '../../kernel/regions.js'
import { givenOfEach, ofEach } from '../../kernel/rows.js'
import { recordTotals } from '../../money/sql/stated-totals.js'
import { asSubselect } from '../../platform/database/as-subselect.js'
import type { Db } from '../../platform/database/connection.js'
import { type RowChange, upsert } from '../../platform/database/upsert.js'
import { columnsOf, createToColumns } from './field-columns.js'
import { newerOrganisations, olderThanProject, recordOrganisationInstants } from './newer-stored.js'
import { organisationSources, saveOrganisations } from './organisations.js'
import { replaceMainImages } from './photos.js'
import { keepsState, listKeptStates } from './project-states.js'
import { foreignPayouts, refusedIdentifiers, savePublicationFields } from './publication-fields.js'
import { type PlacedCountry, regionsOfCountries, saveCountries, saveRegions, saveThemes } from './reference-lists.js'
import { replaceRows } from './replace-rows.js'
import { findThemeIds } from './theme-lookup.js'

/** What became of each record of a batch. */
export type SaveOutcome = {
  readonly created: number
  readonly changed: number
  readonly unchanged: number
  readonly refused: readonly RecordProblem[]
  /** Records that were saved, except for their state: an operator has overridden it. */
  readonly kept: readonly RecordProblem[]
}

type RecordProblem = { readonly id: number; readonly problem: FieldProblem }

/** The same with the state of each record that was not refused, by id, and those that the store contradicts. */
export type SavedRecords = SaveOutcome & {
  readonly states: ReadonlyMap<number, RowChange>
  /** Unchanged records whose project somebody has changed in the store. */
  readonly differing: ReadonlySet<number>
}

/**
 * Writes a batch of records with different ids, set-based; call it in a transaction. A record whose hash is the stored
 * one touches no row, so its project is not marked as changed, unless it is to be repaired. Projects and organisations of another source are never
 * overwritten: their records are refused.
 */
export async function saveRecords(
  db: Db,
  records: readonly HashedRecord[],
  options: SaveOptions,
): Promise<SavedRecords> {
  const stored = await lockProjects(
    db,
    records.map(({ record }) => record.id),
  )
  const [refused, kept]: [RecordProblem[], RecordProblem[]] = [[], []]
  const passing = (
    some: readonly HashedRecord[],
    stopped: RecordProblem[],
    problemOf: (one: HashedRecord) => FieldProblem | undefined,
  ) =>
    some.filter((one) => {
      const problem = problemOf(one)
      if (problem) stopped.push({ id: one.record.id, problem })
      return !problem
    })
  const isSeen = ({ record, hash }: HashedRecord) => stored.get(record.id)?.sourceHash === hash
  const own = passing(records, refused, ({ record: { id } }) =>
    foreign('id', `project ${id}`, stored.get(id)?.source, options.source),
  )
  const candidates = own.filter((one) => options.repair === true || !isSeen(one))
  const states = new Map<number, RowChange>()
  for (const { record } of own) if (stored.has(record.id)) states.set(record.id, 'unchanged')
  const newer = passing(candidates, kept, (one) =>
    options.keepNewer ? olderThanProject(one, stored.get(one.record.id)?.modifiedDate, options.today) : undefined,
  )
  const owners = await organisationSources(
    db,
    candidates.flatMap(({ record }) => record.organisation?.id ?? []),
  )
  const payouts = await foreignPayouts(db, candidates)
  const identifiers = await refusedIdentifiers(db, candidates, options.publisherRef)
  const writable = passing(newer, refused, ({ record: { id, organisation: { id: partner = 0 } = {} } }) => {
    const owner = owners.get(partner)
    const ofOrganisation = foreign('organization/id', `organisation ${partner}`, owner, options.source)
    return identifiers.get(id) ?? payouts.get(id) ?? ofOrganisation
  })
  kept.push(...(await keptStates(db, writable)))
  const organisations = options.keepNewer ? await newerOrganisations(db, writable) : new Map<number, FieldProblem>()
  for (const { record } of writable) {
    const problem = record.organisation && organisations.get(record.organisation.id)
    if (problem) kept.push({ id: record.id, problem })
  }
  const seen = writable.filter(isSeen).map(({ record }) => record.id)
  const versions = await projectVersions(db, seen)
  if (writable.length > 0) await saveAll(db, writable, options, organisations)
  const after = await projectVersions(db, seen)
  const isUntouched = (id: number) => versions.has(id) && versions.get(id) === after.get(id)
  const written = writable.filter(({ record }) => !isUntouched(record.id))
  for (const { record } of written) states.set(record.id, stored.has(record.id) ? 'changed' : 'created')
  for (const { id } of refused) states.delete(id)
  const changed = written.filter(({ record }) => stored.has(record.id)).length
  const unchanged = records.length - written.length - refused.length
  const left = options.repair ? [] : records.filter(isSeen)
  const differing = await differingProjects(db, left)
  return { created: written.length - changed, changed, unchanged, refused, kept, states, differing }
}

/** The versions of stored projects: a version moves with every change of what belongs to the project. */
async function projectVersions(db: Db, ids: readonly number[]): Promise<ReadonlyMap<number, number>> {
  if (ids.length === 0) return new Map()
  const { rows } = await db.query<{ id: number; version: number }>(
    `select project_id as id, version from project_version where project_id = any (${asSubselect('$1::bigint[]')}::bigint[])`,
    [ids],
  )
  return new Map(rows.map(({ id, version }) => [id, version]))
}

/** Why a record may not have this id; undefined where nothing has it, or something of the same source. */
function foreign(
  field: string,
  what: string,
  owner: RowSource | undefined,
  source: RecordSource,
): FieldProblem | undefined {
  if (owner === undefined || owner === source) return undefined
  return { field, expected: `an id that is new or from ${source}`, got: `${what}, which is ${owner}` }
}

async function keptStates(db: Db, hashed: readonly HashedRecord[]): Promise<SaveOutcome['kept']> {
  const kept = await listKeptStates(db, ofEach(hashed, 'record'))
  return kept.map(({ id, decided, stated }) => ({
    id,
    problem: { field: 'active', expected: `${decided}, as an operator has decided (it stays so)`, got: stated },
  }))
}

type StoredProject = {
  readonly id: number
  readonly source: RowSource
  readonly sourceHash: string | undefined
  readonly modifiedDate: Date | undefined
}

async function lockProjects(db: Db, ids: readonly number[]): Promise<Map<number, StoredProject>> {
  const { rows } = await db.query<StoredProject>(
    `select id, source, source_hash, modified_date from project where id = any (${asSubselect('$1::bigint[]')}::bigint[]) order by id for update`,
    [ids],
  )
  return new Map(rows.map((row) => [row.id, row]))
}

async function saveAll(
  db: Db,
  hashed: readonly HashedRecord[],
  options: SaveOptions,
  keptOrganisations: ReadonlyMap<number, unknown>,
): Promise<void> {
  // In id order everywhere, so that two writers cannot deadlock.
  const placed = await placeRecords(
    db,
    [...hashed].sort((a, b) => a.record.id - b.record.id),
  )
  await saveThemes(
    db,
    placed.flatMap(({ record: { organisation, themes } }) => [...(organisation?.themes ?? []), ...themes]),
    options.source,
  )
  const ordered = await themeRecords(db, placed, options.source)
  const records = ordered.map(({ record }) => record)
  // The last record of an organisation counts.
  const organisations = [...new Map(records.flatMap(({ organisation: o }) => (o ? [[o.id, o]] : []))).values()].filter(
    ({ id }) => !keptOrganisations.has(id),
  )
  await saveRegions(db, givenOfEach(records, 'regionName'))
  await saveCountries(db, records.flatMap(countriesOf))
  await saveOrganisations(db, organisations, options.source)
  if (options.keepNewer !== undefined) {
    const isTaken = ({ record }: HashedRecord) => !keptOrganisations.has(record.organisation?.id ?? 0)
    await recordOrganisationInstants(db, ordered.filter(isTaken))
  }
  await saveProjects(db, ordered, options)
  for (const { table, columns, rowsOf } of lists) {
    const rows = records.flatMap((record) =>
      rowsOf(record).map((row, position) => ({ project_id: record.id, position, ...row })),
    )
    const list = { table, owner: 'project_id', columns: ['position', ...columns] } as const
    await replaceRows(db, list, ofEach(records, 'id'), rows)
  }
  await replaceMainImages(
    db,
    ordered.filter(({ keeps }) => keeps === undefined),
    options.photoConsent,
  )
  await recordTotals(
    db,
    ordered.filter(({ keeps }) => keeps !== 'parts and totals'),
    options,
  )
  await savePublicationFields(db, ordered, options)
}

/** Gives a record without a region the one of its country: as the store has it, else as geography has it. */
async function placeRecords(db: Db, hashed: readonly HashedRecord[]): Promise<HashedRecord[]> {
  const codeOf = ({ regionName, countryCode, countries }: ProjectRecord) =>
    regionName === undefined ? (countryCode ?? countries[0]?.code) : undefined
  const codes = hashed.flatMap(({ record }) => codeOf(record) ?? [])
  const stored = await regionsOfCountries(db, codes)
  return hashed.map((one) => {
    const code = codeOf(one.record)
    const regionName = code && (stored.get(code) ?? regionOfCountry(code))
    return regionName ? { ...one, record: { ...one.record, regionName } } : one
  })
}

/** Gives a record that names a theme and has no list of themes the theme of that name. */
async function themeRecords(db: Db, hashed: readonly HashedRecord[], source: RecordSource): Promise<HashedRecord[]> {
  const nameOf = ({ themes, themeName }: ProjectRecord) => (themes.length === 0 ? themeName?.trim() : undefined)
  const ids = await findThemeIds(
    db,
    hashed.flatMap(({ record }) => nameOf(record) ?? []),
    source,
  )
  return hashed.map((one) => {
    const name = nameOf(one.record)
    const id = name && ids.get(name)
    return name && id ? { ...one, record: { ...one.record, themes: [{ id, name }] } } : one
  })
}

/** The countries that a record names; its region is the one of its primary country. */
function countriesOf({ countries, regionName, organisation }: ProjectRecord): PlacedCountry[] {
  const placed = countries.map((country, index) => (index === 0 ? { ...country, regionName } : country))
  return [...placed, ...(organisation?.countries ?? [])]
}

const columns = [
  ...columnsOf(projectFields, 'record').filter((column) => column !== 'id'),
  'organisation_id',
  'image_title',
  'source',
  'source_hash',
  'unknown_fields',
]
const totals = ['funding', 'number_of_donations', 'remaining']
const partColumns = ['number_of_reports', 'date_of_most_recent_report', 'image_gallery_size', 'image_title']

/** SQL for records that leave these columns of a stored project as they are. */
function upsertProjects(kept: readonly string[]): string {
  return upsert({
    table: 'project',
    key: ['id'],
    columns: columns.filter((column) => !kept.includes(column)),
    insertOnly: ['first_seen_on', ...kept],
    where: 't.source = excluded.source',
    values: {
      active: `case when ${keepsState} then t.active else excluded.active end`,
      status: `case when ${keepsState} then t.status else excluded.status end`,
    },
  })
}

const projectStatements = [
  { keeps: undefined, sql: upsertProjects([]) },
  // What is still to be raised follows from goal and total where a record keeps its parts.
  { keeps: 'parts', sql: upsertProjects([...partColumns, 'remaining']) },
  { keeps: 'parts and totals', sql: upsertProjects([...partColumns, ...totals]) },
] as const

const toColumns = createToColumns(projectFields, 'record')

async function saveProjects(db: Db, records: readonly HashedRecord[], options: SaveOptions): Promise<void> {
  for (const { keeps, sql } of projectStatements) {
    const rows = records
      .filter((one) => one.keeps === keeps)
      .map(({ record, hash }) => ({
        ...toColumns(record),
        organisation_id: record.organisation?.id ?? record.organisationId,
        image_title: record.image?.title,
        source: options.source,
        source_hash: hash,
        unknown_fields: record.unknownFields,
        first_seen_on: options.today,
      }))
    if (rows.length > 0) await db.query(sql, [JSON.stringify(rows)])
  }
}

// Others write these too: operators, donations, reports.
const movedByOthers = [...totals, ...partColumns, 'active', 'status', 'source', 'source_hash', 'unknown_fields']
const compared = columns.filter((column) => !movedByOthers.includes(column))

/** Those of these records, which were written before, whose project has other values now. */
async function differingProjects(db: Db, records: readonly HashedRecord[]): Promise<ReadonlySet<number>> {
  if (records.length === 0) return new Set()
  const placed = await placeRecords(db, records)
  const stated = placed.map(({ record }) => ({
    ...toColumns(record),
    organisation_id: record.organisation?.id ?? record.organisationId,
  }))
  const { rows } = await db.query<{ id: number }>(
    `select t.id from project t join json_populate_recordset(null::project, $1::json) w using (id)
      where row (${compared.map((name) => `t.${name}`).join(', ')})
        is distinct from row (${compared.map((name) => `w.${name}`).join(', ')})`,
    [JSON.stringify(stated)],
  )
  return new Set(rows.map(({ id }) => id))
}

type List = {
  readonly table: string
  readonly columns: readonly string[]
  readonly rowsOf: (record: ProjectRecord) => readonly object[]
}

const lists: readonly List[] = [
  {
    table: 'project_country',
    columns: ['country_code'],
    rowsOf: ({ countries }) => countries.map(({ code }) => ({ country_code: code })),
  },
  { table: 'project_theme', columns: ['theme_id'], rowsOf: ({ themes }) => themes.map(({ id }) => ({ theme_id: id })) },
  { table: 'video', columns: ['url'], rowsOf: ({ videos }) => videos.map((url) => ({ url })) },
  { table: 'donation_option', columns: ['amount', 'description'], rowsOf: ({ donationOptions }) => donationOptions },
]
