import { themeDefaults } from '../../domain/theme-sectors.js'
import type { Db } from '../database/connection.js'
import { saveThemes } from './reference-lists.js'

/**
 * The ids of themes that are given by id or by name (letter case ignored). A theme that every platform of this kind has is
 * added when it is first named; others that the store lacks are left out.
 */
export async function findThemeIds(db: Db, given: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const wanted = [...new Set(given)]
  if (wanted.length === 0) return new Map()
  const { rows } = await db.query<{ id: string; name: string }>(
    'select id, name from theme where id = any ($1::text[]) or lower(name) = any ($2::text[]) order by id collate "C"',
    [wanted, wanted.map((text) => text.toLowerCase())],
  )
  const defaults = Object.entries(themeDefaults).map(([id, { name }]) => ({ id, name }))
  const found = new Map<string, string>()
  const added: { id: string; name: string }[] = []
  for (const text of wanted) {
    const stored = findTheme(rows, text)
    const theme = stored ?? findTheme(defaults, text)
    if (!theme) continue
    found.set(text, theme.id)
    if (!stored && !rows.some(({ id }) => id === theme.id)) added.push(theme)
  }
  await saveThemes(db, added, 'import')
  return found
}

function findTheme<T extends { readonly id: string; readonly name: string }>(themes: readonly T[], text: string) {
  const name = text.toLowerCase()
  return themes.find((theme) => theme.id === text) ?? themes.find((theme) => theme.name.toLowerCase() === name)
}
