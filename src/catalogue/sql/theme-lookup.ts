import type { RecordSource } from '../../kernel/record.js'
import { knownThemeId, themeDefault } from '../../kernel/theme-sectors.js'
import type { Db } from '../../platform/database/connection.js'
import { saveThemes } from './reference-lists.js'

/**
 * The ids of themes that are given by id, by name or by another spelling (letter case ignored). A theme that every platform
 * of this kind has is added when it is first named; others that the store lacks are left out.
 */
export async function findThemeIds(
  db: Db,
  given: readonly string[],
  source: RecordSource,
): Promise<ReadonlyMap<string, string>> {
  const wanted = [...new Set(given)]
  if (wanted.length === 0) return new Map()
  const { rows } = await db.query<{ given: string; id: string }>(
    `select w.given, coalesce(
        (select t.id from theme t where t.id = w.given),
        (select t.id from theme t where lower(t.name) = lower(w.given) order by t.id limit 1),
        (select a.theme_id from theme_alias a where lower(a.name) = lower(w.given))) as id
      from unnest($1::text[]) w (given)`,
    [wanted],
  )
  const found = new Map(rows.flatMap(({ given, id }) => (id === undefined ? [] : [[given, id] as const])))
  const added = wanted.flatMap((text) => {
    const id = found.has(text) ? undefined : themeDefault(text) ? text : knownThemeId(text)
    return id === undefined ? [] : [{ text, id }]
  })
  await saveThemes(
    db,
    added.map(({ id }) => ({ id, name: id })),
    source,
  )
  for (const { text, id } of added) found.set(text, id)
  return found
}
