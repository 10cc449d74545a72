import { themeFields } from '../../kernel/nouns/theme.js'
import type { Country, Theme } from '../../kernel/project.js'
import type { RecordSource, ThemeRecord } from '../../kernel/record.js'
import { firstThemeName, themeDefault } from '../../kernel/theme-sectors.js'
import type { Db } from '../../platform/database/connection.js'
import { selectFields } from './field-columns.js'

/** SQL: the columns of a `Theme`. */
export const themeColumns = selectFields(themeFields, 'theme')

/** All themes by id, without their sectors. */
export async function listThemes(db: Db): Promise<ThemeRecord[]> {
  const { rows } = await db.query<ThemeRecord>('select id, name from theme order by id collate "C"', [], 'themes')
  return rows
}

/** All themes with the ids of their projects, ascending, as texts. */
export async function listThemesWithProjects(
  db: Db,
): Promise<(ThemeRecord & { readonly projectIds: readonly string[] })[]> {
  const { rows } = await db.query<ThemeRecord & { ids: string | undefined }>(
    `select t.id, t.name, (
        select string_agg(p.project_id::text, ',' order by p.project_id) from project_theme p where p.theme_id = t.id
      ) as ids
      from theme t order by t.id collate "C"`,
    [],
    'themes-with-projects',
  )
  return rows.map(({ id, name, ids }) => ({ id, name, projectIds: ids?.split(',') ?? [] }))
}

export type ThemeInUse = Theme & { readonly projects: number }

/** All themes with their sectors, by id. */
export async function listThemesInUse(db: Db): Promise<ThemeInUse[]> {
  const { rows } = await db.query<ThemeInUse>(
    `select ${themeColumns}, (select count(*) from project_theme where theme_id = theme.id) as projects
      from theme order by id collate "C"`,
  )
  return rows
}

/**
 * Adds the themes that are new, each with its default sector. A stored theme keeps its name and sector: another spelling
 * becomes an alias, by which records that have only a name find the theme.
 */
export async function saveThemes(db: Db, themes: readonly ThemeRecord[], source: RecordSource): Promise<void> {
  if (themes.length === 0) return
  const rows = [...new Map(themes.map(({ id, name }) => [id, name]))].map(([id, stated]) => {
    const known = themeDefault(id, stated)
    return {
      id,
      name: firstThemeName(id, stated),
      sector_code: known?.sectorCode,
      humanitarian: known?.humanitarian,
      name_source: source,
    }
  })
  await db.query(
    `insert into theme (id, name, sector_code, humanitarian, name_source)
     select id, name, sector_code, humanitarian, name_source from json_populate_recordset(null::theme, $1::json) order by id
     on conflict (id) do update set name = excluded.name
     where theme.name = theme.id and excluded.name <> excluded.id`,
    [JSON.stringify(rows)],
  )
  await saveAliases(db, themes)
}

/** As `saveThemes`, from the list of themes of an upstream, which renames themes that the operator has not named. */
export async function saveThemeList(db: Db, themes: readonly ThemeRecord[]): Promise<void> {
  await nameThemes(db, themes, 'upstream')
  await saveThemes(db, themes, 'upstream')
}

/** Renames stored themes; the old names stay as aliases. `local` is the operator, whose names nothing else changes. */
export async function nameThemes(db: Db, themes: readonly ThemeRecord[], source: 'local' | 'upstream'): Promise<void> {
  const wanted = JSON.stringify(themes.filter(({ id, name }) => name !== id))
  const { rows } = await db.query<ThemeRecord>(
    `with renamed as (
       select t.id, t.name from theme t join json_populate_recordset(null::theme, $1::json) w using (id)
       where case $2 when 'local' then (t.name, t.name_source) <> (w.name, 'local')
         else t.name <> w.name and t.name_source <> 'local' end
     ), written as (
       update theme t set name = w.name, name_source = $2
       from json_populate_recordset(null::theme, $1::json) w where w.id = t.id and t.id in (select id from renamed)
     )
     select id, name from renamed`,
    [wanted, source],
  )
  await saveAliases(db, rows)
}

/** Remembers the names that differ from the stored ones; a spelling that another theme has stays with that theme. */
async function saveAliases(db: Db, themes: readonly ThemeRecord[]): Promise<void> {
  await db.query(
    `insert into theme_alias (name, theme_id)
     select distinct on (lower(w.name)) w.name, t.id
       from json_to_recordset($1::json) as w(id text, name text) join theme t using (id)
       where lower(w.name) <> lower(t.name) and w.name <> t.id and w.name <> ''
       order by lower(w.name), t.id
     on conflict do nothing`,
    [JSON.stringify(themes)],
  )
}

/** The names of all regions. */
export async function listRegions(db: Db): Promise<string[]> {
  const { rows } = await db.query<{ name: string }>('select name from region order by name collate "C"', [], 'regions')
  return rows.map((row) => row.name)
}

/** Adds regions by their names. */
export async function saveRegions(db: Db, names: readonly string[]): Promise<void> {
  if (names.length === 0) return
  await db.query('insert into region (name) select unnest($1::text[]) on conflict (name) do nothing', [
    [...new Set(names)].sort(),
  ])
}

/** The regions of those of these countries that the store has placed, by code. */
export async function regionsOfCountries(db: Db, codes: readonly string[]): Promise<ReadonlyMap<string, string>> {
  if (codes.length === 0) return new Map()
  const { rows } = await db.query<{ code: string; region: string }>(
    'select code, region_name as region from country where code = any ($1::text[]) and region_name is not null',
    [[...new Set(codes)]],
  )
  return new Map(rows.map(({ code, region }) => [code, region]))
}

/** A country and the region that it lies in, where that is stated. */
export type PlacedCountry = Country & { readonly regionName?: string | undefined }

/** Adds countries; a country keeps the first name and region it is seen with, but a name is better than its code. */
export async function saveCountries(db: Db, countries: readonly PlacedCountry[]): Promise<void> {
  const rows = new Map<string, { code: string; name: string; region_name?: string | undefined }>()
  for (const { code, name, regionName } of countries) {
    const row = rows.get(code) ?? { code, name }
    row.region_name ??= regionName
    rows.set(code, row)
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

type CountryCount = { readonly code: string; readonly name: string; readonly projects: number }

export type RegionCounts = {
  readonly name: string
  /** Countries that have projects, by name; a project of several countries counts in each. */
  readonly countries: readonly CountryCount[]
}

/** Projects by region and country; of one region (letter case ignored) or, undefined, of all. */
export async function countProjectsByRegion(
  db: Db,
  { region, activeOnly }: { region?: string | undefined; activeOnly: boolean },
): Promise<RegionCounts[]> {
  const { rows } = await db.query<{ region: string } & (CountryCount | { [Name in keyof CountryCount]: undefined })>(
    `select r.name as region, c.code, c.name, c.projects
      from region r left join (
        select c.region_name, c.code, c.name, count(*) as projects
        from country c join project_country k on k.country_code = c.code join project p on p.id = k.project_id
        where p.active or not $2::boolean
        group by c.code
      ) c on c.region_name = r.name
      where $1::text is null or lower(r.name) = lower($1)
      order by r.name collate "C", c.name collate "C", c.code`,
    [region ?? null, activeOnly],
    'project-counts',
  )
  const regions = new Map<string, { name: string; countries: CountryCount[] }>()
  for (const { region, ...country } of rows) {
    const counts = regions.get(region) ?? { name: region, countries: [] }
    regions.set(region, counts)
    if (country.code !== undefined) counts.countries.push(country)
  }
  return [...regions.values()]
}
