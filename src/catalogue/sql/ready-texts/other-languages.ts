import type { Db } from '../../../platform/database/connection.js'

/** The language that a record names, and the keys of its texts in others; of a project those of its partner too. */
export type OtherLanguages = { readonly id: number; readonly language: string | undefined; readonly keys: string[] }

const statements = {
  project: `select p.id, p.language, array(select jsonb_object_keys(p.texts) union select jsonb_object_keys(o.texts)) as keys
    from project p left join organisation o on o.id = p.organisation_id where p.id = any ($1)`,
  organisation:
    'select id, language, array(select jsonb_object_keys(texts)) as keys from organisation where id = any ($1)',
} as const

/** The languages of these records. */
export async function findOtherLanguages(
  db: Db,
  noun: keyof typeof statements,
  ids: readonly number[],
): Promise<OtherLanguages[]> {
  const { rows } = await db.query<OtherLanguages>(statements[noun], [ids])
  return rows
}
