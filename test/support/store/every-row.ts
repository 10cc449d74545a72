import type { Db } from '../../../src/platform/database/connection.js'

/** Every row of every table of every schema that is not the server's own, as text; of the tables `except` none. */
export async function everyRow(db: Db, except: readonly string[] = []): Promise<string> {
  const { rows } = await db.query<{ name: string }>(
    `select format('%I.%I', schemaname, tablename) as name from pg_tables
      where schemaname not in ('pg_catalog', 'information_schema') and tablename <> all ($1)`,
    [except],
  )
  const texts = await Promise.all(
    rows.map(({ name }) => db.query<{ text: string }>(`select t::text as text from ${name} t`)),
  )
  return texts.flatMap((found) => found.rows.map(({ text }) => text)).join('\n')
}
