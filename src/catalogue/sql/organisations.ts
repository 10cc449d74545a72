import { organisationFields } from '../../kernel/nouns/organisation.js'
import type { Organisation, RowSource } from '../../kernel/project.js'
import type { OrganisationRecord, RecordSource } from '../../kernel/record.js'
import { ofEach } from '../../kernel/rows.js'
import { asSubselect } from '../../platform/database/as-subselect.js'
import type { Db } from '../../platform/database/connection.js'
import { upsert } from '../../platform/database/upsert.js'
import { columnsOf, createToColumns, jsonList, selectFields } from './field-columns.js'
import { saveCountries, saveThemes, themeColumns } from './reference-lists.js'
import { replaceRows } from './replace-rows.js'

/** SQL: the organisation whose id is `id` (SQL too) as JSON of an `Organisation`; null when there is none. */
export const organisationJson = (id: string): string => `(
  select row_to_json(t) from (
    select ${selectFields(organisationFields, 'o')},
        coalesce(o.stated_total_projects, (select count(*) from project p where p.organisation_id = o.id))
          as "totalProjects",
        coalesce(o.stated_active_projects, (select count(*) from project p where p.organisation_id = o.id and p.active))
          as "activeProjects",
        ${jsonList(`select ${themeColumns} from organisation_theme join theme on id = theme_id
          where organisation_id = o.id order by position`)} as themes,
        ${jsonList(`select code, name from organisation_country join country on code = country_code
          where organisation_id = o.id order by position`)} as countries
      from organisation o where o.id = ${id}) t)`

/** An organisation and the version that its wire record is of. */
export type OrganisationGraph = { readonly organisation: Organisation; readonly version: number }

/**
 * These organisations as they stand alone; unknown ids are left out. One statement, so one snapshot. One without an active
 * project here has none, whatever number its source states.
 */
export async function organisationGraphs(db: Db, ids: readonly number[]): Promise<OrganisationGraph[]> {
  const { rows } = await db.query<OrganisationGraph & { readonly isActive: boolean }>(
    `select v.version, ${organisationJson('v.organisation_id')} as organisation,
        exists (select from project p where p.organisation_id = v.organisation_id and p.active) as "isActive"
      from organisation_version v where v.organisation_id = any (${asSubselect('$1::bigint[]')}::bigint[])`,
    [ids],
    'organisation-graphs',
  )
  return rows.map(({ version, organisation, isActive }) => ({
    version,
    organisation: isActive ? organisation : { ...organisation, activeProjects: 0 },
  }))
}

const upsertOrganisations = upsert({
  table: 'organisation',
  key: ['id'],
  columns: [
    ...columnsOf(organisationFields, 'record').filter((column) => column !== 'id'),
    'stated_total_projects',
    'stated_active_projects',
    'source',
    'unknown_fields',
  ],
  where: 't.source = excluded.source',
})

const toColumns = createToColumns(organisationFields, 'record')

/** Writes organisations with different ids, and what they work on and where. */
export async function saveOrganisations(
  db: Db,
  organisations: readonly OrganisationRecord[],
  source: RecordSource,
): Promise<void> {
  if (organisations.length === 0) return
  const rows = organisations.map((record) => ({
    ...toColumns(record),
    stated_total_projects: record.statedTotalProjects,
    stated_active_projects: record.statedActiveProjects,
    source,
    unknown_fields: record.unknownFields,
  }))
  await db.query(upsertOrganisations, [JSON.stringify(rows)])
  const ids = ofEach(organisations, 'id')
  const themes = organisations.flatMap(({ id: organisation_id, themes }) =>
    themes.map(({ id: theme_id }, position) => ({ organisation_id, position, theme_id })),
  )
  await replaceRows(db, themeRows, ids, themes)
  const countries = organisations.flatMap(({ id: organisation_id, countries }) =>
    countries.map(({ code: country_code }, position) => ({ organisation_id, position, country_code })),
  )
  await replaceRows(db, countryRows, ids, countries)
}

const owner = 'organisation_id'
const themeRows = { table: 'organisation_theme', owner, columns: ['position', 'theme_id'] } as const
const countryRows = { table: 'organisation_country', owner, columns: ['position', 'country_code'] } as const

/** Sources of those of these organisations that the store has, by id. */
export async function organisationSources(db: Db, ids: readonly number[]): Promise<ReadonlyMap<number, RowSource>> {
  if (ids.length === 0) return new Map()
  const { rows } = await db.query<{ id: number; source: RowSource }>(
    `select id, source from organisation where id = any (${asSubselect('$1::bigint[]')}::bigint[])`,
    [ids],
  )
  return new Map(rows.map((row) => [row.id, row.source]))
}

/** Writes organisation records that come on their own. Returns the ids of those that another source has: they stay as they are. */
export async function saveOrganisationRecords(
  db: Db,
  records: readonly OrganisationRecord[],
  source: RecordSource,
): Promise<number[]> {
  const sources = await organisationSources(db, ofEach(records, 'id'))
  const isForeign = ({ id }: OrganisationRecord) => (sources.get(id) ?? source) !== source
  const own = records.filter((record) => !isForeign(record)).sort((a, b) => a.id - b.id)
  await saveCountries(db, ofEach(own, 'countries').flat())
  await saveThemes(db, ofEach(own, 'themes').flat(), source)
  await saveOrganisations(db, own, source)
  return records.filter(isForeign).map(({ id }) => id)
}
