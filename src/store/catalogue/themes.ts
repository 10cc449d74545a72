import type { Theme } from '../../domain/project.js'
import type { Db } from '../database/connection.js'

/** A theme with the number of projects that have it. */
export type ThemeInUse = Theme & { readonly projects: number }

/** All themes, by id. */
export async function listThemes(db: Db): Promise<ThemeInUse[]> {
  const { rows } = await db.query<{
    id: string
    name: string
    sector_code: string | null
    humanitarian: boolean
    projects: number
  }>(
    `select id, name, sector_code, humanitarian,
        (select count(*)::integer from project_theme where theme_id = theme.id) as projects
      from theme order by id collate "C"`,
  )
  return rows.map(({ id, name, sector_code: sectorCode, humanitarian, projects }) => ({
    id,
    name,
    humanitarian,
    projects,
    ...(sectorCode !== null && { sectorCode }),
  }))
}

/**
 * Gives a theme its purpose code, and says whether it is about emergencies (undefined: as before). Its projects are marked
 * by trigger, and only when something changed. Returns the theme, or undefined when there is none of that id.
 */
export async function mapTheme(
  db: Db,
  id: string,
  sectorCode: string,
  humanitarian: boolean | undefined,
): Promise<ThemeInUse | undefined> {
  await db.query(
    `update theme set sector_code = $2, humanitarian = coalesce($3, humanitarian)
      where id = $1 and (sector_code, humanitarian) is distinct from ($2, coalesce($3, humanitarian))`,
    [id, sectorCode, humanitarian ?? null],
  )
  return (await listThemes(db)).find((theme) => theme.id === id)
}
