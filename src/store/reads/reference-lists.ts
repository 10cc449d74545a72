import type { Db } from '../database/connection.js'

export type ThemeName = { readonly id: string; readonly name: string }

/** All themes by id. */
export async function listThemes(db: Db): Promise<ThemeName[]> {
  const { rows } = await db.query<ThemeName>('select id, name from theme order by id collate "C"', [], 'themes')
  return rows
}

/** All themes with the ids of their projects, ascending, as texts. */
export async function listThemesWithProjects(
  db: Db,
): Promise<(ThemeName & { readonly projectIds: readonly string[] })[]> {
  const { rows } = await db.query<ThemeName & { ids: string | null }>(
    `select t.id, t.name, (
        select string_agg(p.project_id::text, ',' order by p.project_id) from project_theme p where p.theme_id = t.id
      ) as ids
      from theme t order by t.id collate "C"`,
    [],
    'themes-with-projects',
  )
  return rows.map(({ id, name, ids }) => ({ id, name, projectIds: ids?.split(',') ?? [] }))
}

/** The names of all regions. */
export async function listRegions(db: Db): Promise<string[]> {
  const { rows } = await db.query<{ name: string }>('select name from region order by name collate "C"', [], 'regions')
  return rows.map((row) => row.name)
}

export type RegionCounts = {
  readonly name: string
  /** Countries that have projects, by name; a project of several countries counts in each. */
  readonly countries: readonly { readonly code: string; readonly name: string; readonly projects: number }[]
}

/** Projects by region and country; of one region (letter case ignored) or, undefined, of all. */
export async function countProjectsByRegion(
  db: Db,
  { region, activeOnly }: { region?: string | undefined; activeOnly: boolean },
): Promise<RegionCounts[]> {
  const { rows } = await db.query<{ region: string; code: string | null; name: string; projects: number }>(
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
  const regions = new Map<string, { name: string; countries: { code: string; name: string; projects: number }[] }>()
  for (const { region: name, code, name: country, projects } of rows) {
    const counts = regions.get(name) ?? { name, countries: [] }
    regions.set(name, counts)
    if (code !== null) counts.countries.push({ code, name: country, projects })
  }
  return [...regions.values()]
}
