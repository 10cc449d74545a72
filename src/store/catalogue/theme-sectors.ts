import { themeDefault } from '../../domain/theme-sectors.js'
import type { Db } from '../database/connection.js'
import { type RowChange, upsertRows } from '../database/upsert.js'

/** A theme and the sector it stands for; what is absent stays as it is. */
export type ThemeSector = {
  readonly id: string
  readonly name?: string | undefined
  readonly sector?: string | undefined
  readonly humanitarian?: boolean | undefined
}

/** Writes themes; a new one takes what is absent from the defaults that this program has. A trigger marks their projects. */
export async function saveThemeSectors(db: Db, themes: readonly ThemeSector[]): Promise<RowChange[]> {
  const ids = themes.map(({ id }) => id)
  const { rows } = await db.query<{ id: string; name: string; sector_code: string | null; humanitarian: boolean }>(
    'select id, name, sector_code, humanitarian from theme where id = any ($1::text[]) order by id for update',
    [ids],
  )
  const stored = new Map(rows.map((row) => [row.id, row]))
  return await upsertRows(
    db,
    { table: 'theme', key: ['id'], columns: ['name', 'sector_code', 'humanitarian'] },
    themes.map(({ id, name, sector, humanitarian }) => {
      const now = stored.get(id)
      const known = themeDefault(id)
      return {
        id,
        name: name ?? now?.name ?? known?.name ?? id,
        sector_code: sector ?? (now ? now.sector_code : known?.sectorCode),
        humanitarian: humanitarian ?? now?.humanitarian ?? known?.humanitarian ?? false,
      }
    }),
  )
}
