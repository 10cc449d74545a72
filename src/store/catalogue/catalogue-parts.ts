import type { OrganisationRecord, ProjectRecord, RecordSource } from '../../domain/record.js'
import { themeDefault } from '../../domain/theme-sectors.js'
import type { Db } from '../database/connection.js'
import { organisationColumns, toOrganisationRow } from './catalogue-rows.js'

type PlacedRecord = Pick<ProjectRecord, 'organisation' | 'countries' | 'themes' | 'regionName'>

/** Adds regions that are named on their own. */
export async function upsertRegions(db: Db, names: readonly string[]): Promise<void> {
  if (names.length === 0) return
  await db.query(`insert into region (name) select unnest($1::text[]) on conflict (name) do nothing`, [
    [...new Set(names)].sort(),
  ])
}

/**
 * Writes organisations that come on their own; those of another source are left as they are. Returns the ids of these.
 */
export async function writeOrganisations(
  db: Db,
  organisations: readonly OrganisationRecord[],
  source: RecordSource,
): Promise<number[]> {
  const { rows } = await db.query<{ id: number }>(
    `select id from organisation where id = any ($1::bigint[]) and source <> $2`,
    [organisations.map(({ id }) => id), source],
  )
  const foreign = new Set(rows.map(({ id }) => id))
  const records = organisations
    .filter(({ id }) => !foreign.has(id))
    .sort((a, b) => a.id - b.id)
    .map((organisation) => ({ organisation, countries: [], themes: [] }))
  await upsertCountries(db, records)
  await upsertThemes(db, records)
  await upsertOrganisations(db, records, source)
  return [...foreign]
}

/**
 * Adds the regions and countries that records name. A country keeps the name and region it is first seen with; a region
 * is only told of a record's primary country.
 */
export async function upsertCountries(db: Db, records: readonly PlacedRecord[]): Promise<void> {
  const regions = [...new Set(records.flatMap((record) => record.regionName ?? []))].sort()
  const rows = new Map<string, { code: string; name: string; region_name?: string }>()
  for (const record of records) {
    for (const { code, name } of [...record.countries, ...(record.organisation?.countries ?? [])]) {
      if (!rows.has(code)) rows.set(code, { code, name })
    }
    const primary = rows.get(record.countries[0]?.code ?? '')
    if (primary && record.regionName !== undefined) primary.region_name ??= record.regionName
  }
  if (regions.length > 0) {
    await db.query(`insert into region (name) select unnest($1::text[]) on conflict (name) do nothing`, [regions])
  }
  if (rows.size === 0) return
  await db.query(
    `insert into country (code, name, region_name)
     select code, name, region_name from json_populate_recordset(null::country, $1::json) order by code
     on conflict (code) do update set
       name = case when country.name = country.code then excluded.name else country.name end,
       region_name = coalesce(country.region_name, excluded.region_name)
     where (country.region_name is null and excluded.region_name is not null)
       or (country.name = country.code and excluded.name <> excluded.code)`,
    [JSON.stringify([...rows.values()])],
  )
}

/**
 * Adds the themes that records name, a new one with the sector of this program's table, and follows their changing
 * names; a sector that is already there stays.
 */
export async function upsertThemes(db: Db, records: readonly PlacedRecord[]): Promise<void> {
  const names = new Map<string, string>()
  for (const record of records) {
    for (const { id, name } of [...(record.organisation?.themes ?? []), ...record.themes]) names.set(id, name)
  }
  if (names.size === 0) return
  const rows = [...names].map(([id, name]) => {
    const known = themeDefault(id)
    return { id, name, sector_code: known?.sectorCode, humanitarian: known?.humanitarian ?? false }
  })
  await db.query(
    `insert into theme (id, name, sector_code, humanitarian)
     select id, name, sector_code, humanitarian from json_populate_recordset(null::theme, $1::json) order by id
     on conflict (id) do update set name = excluded.name
     where theme.name <> excluded.name and excluded.name <> excluded.id`,
    [JSON.stringify(rows)],
  )
}

const insertOrganisations = `
  insert into organisation (${organisationColumns.join(', ')})
  select ${organisationColumns.join(', ')} from json_populate_recordset(null::organisation, $1::json) order by id
  on conflict (id) do update set (${organisationColumns.join(', ')}) =
    row (${organisationColumns.map((name) => `excluded.${name}`).join(', ')})
  where organisation.source = excluded.source
    and row (${organisationColumns.map((name) => `organisation.${name}`).join(', ')})
      is distinct from row (${organisationColumns.map((name) => `excluded.${name}`).join(', ')})`

/** Writes the organisations inside records; of several records of one organisation the last wins. */
export async function upsertOrganisations(
  db: Db,
  records: readonly Pick<ProjectRecord, 'organisation'>[],
  source: RecordSource,
): Promise<void> {
  const organisations = new Map<number, OrganisationRecord>()
  for (const { organisation } of records) if (organisation) organisations.set(organisation.id, organisation)
  if (organisations.size === 0) return
  const rows = [...organisations.values()].map((organisation) => toOrganisationRow(organisation, source))
  await db.query(insertOrganisations, [JSON.stringify(rows)])
  const ids = [...organisations.keys()]
  await replaceCodes(db, 'organisation_theme', 'theme_id', ids, (id) => organisations.get(id)?.themes.map((t) => t.id))
  await replaceCodes(db, 'organisation_country', 'country_code', ids, (id) =>
    organisations.get(id)?.countries.map((country) => country.code),
  )
}

async function replaceCodes(
  db: Db,
  table: 'organisation_theme' | 'organisation_country',
  column: string,
  ids: readonly number[],
  codesOf: (id: number) => readonly string[] | undefined,
): Promise<void> {
  const rows = ids.flatMap((id) => (codesOf(id) ?? []).map((code, position) => ({ id, position, code })))
  const parameters = [ids, rows.map((row) => row.id), rows.map((row) => row.position), rows.map((row) => row.code)]
  const wanted = 'unnest($2::bigint[], $3::integer[], $4::text[]) as w(organisation_id, position, code)'
  await db.query(
    `delete from ${table} t where t.organisation_id = any ($1::bigint[]) and not exists (
       select from ${wanted}
       where w.organisation_id = t.organisation_id and w.position = t.position and w.code = t.${column})`,
    parameters,
  )
  await db.query(
    `insert into ${table} (organisation_id, position, ${column})
     select organisation_id, position, code from ${wanted} where organisation_id = any ($1::bigint[])
     on conflict (organisation_id, position) do nothing`,
    parameters,
  )
}
