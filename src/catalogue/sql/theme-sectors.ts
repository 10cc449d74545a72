import { firstThemeName, themeDefault } from '../../kernel/theme-sectors.js'
import type { Db } from '../../platform/database/connection.js'
import { type RowChange, upsertRows } from '../../platform/database/upsert.js'
import { listThemesInUse, nameThemes, type ThemeInUse } from './reference-lists.js'

/** A theme and the sector it stands for; what is absent stays as it is. */
export type ThemeSector = {
  readonly id: string
  readonly name?: string | undefined
  readonly sector?: string | undefined
  readonly humanitarian?: boolean | undefined
}

/** Writes themes; a new one takes what is absent from the defaults that this program has. A trigger marks their projects. */
export async function saveThemeSectors(db: Db, themes: readonly ThemeSector[]): Promise<RowChange[]> {
  const { rows } = await db.query<ThemeRow>(
    `select id, name, sector_code, humanitarian, name_source from theme where id = any ($1::text[])
      order by id for update`,
    [themes.map(({ id }) => id)],
  )
  const stored = new Map(rows.map((row) => [row.id, row]))
  const isRenamed = ({ id, name }: ThemeSector) => {
    const now = stored.get(id)
    return now && name !== undefined && (now.name !== name || now.nameSource !== 'local')
  }
  await nameThemes(
    db,
    themes.flatMap((theme) => (isRenamed(theme) && theme.name !== undefined ? { id: theme.id, name: theme.name } : [])),
    'local',
  )
  const changes = await upsertRows(
    db,
    { table: 'theme', key: ['id'], columns: ['sector_code', 'humanitarian'], insertOnly: ['name', 'name_source'] },
    themes.map(({ id, name, sector, humanitarian }) => {
      const now = stored.get(id)
      const known = themeDefault(id, name)
      return {
        id,
        name: name ?? firstThemeName(id, id),
        name_source: 'local',
        sector_code: sector ?? (now ? now.sectorCode : known?.sectorCode),
        humanitarian: humanitarian ?? now?.humanitarian ?? known?.humanitarian,
      }
    }),
  )
  return changes.map((change, index) => {
    const theme = themes[index]
    return change === 'unchanged' && theme && isRenamed(theme) ? 'changed' : change
  })
}

/** Changes a stored theme; returns it, or undefined when no theme has that id. */
export async function changeTheme(db: Db, theme: ThemeSector): Promise<ThemeInUse | undefined> {
  const isThis = ({ id }: ThemeInUse) => id === theme.id
  if (!(await listThemesInUse(db)).some(isThis)) return undefined
  await saveThemeSectors(db, [theme])
  return (await listThemesInUse(db)).find(isThis)
}

type ThemeRow = {
  readonly id: string
  readonly name: string
  readonly sectorCode: string | undefined
  readonly humanitarian: boolean | undefined
  readonly nameSource: string
}
