import type { Connection, Db } from './connection.js'
import { copyRows } from './copy-rows.js'
import { organisationKinds } from './organisation-pages.js'

/** The files of full records that consumers fetch whole. */
export const bulkFileNames = [
  'projects',
  'projects-active',
  'organizations',
  'organizations-active',
  'organizations-vetted',
] as const

export type BulkFileName = (typeof bulkFileNames)[number]

/** SQL of each file's rows: `id`, and `w` with the stored text and its version. */
const sources: Readonly<Record<BulkFileName, string>> = {
  projects: projects('true'),
  'projects-active': projects('p.active'),
  organizations: organisations('true'),
  'organizations-active': organisations(organisationKinds.active),
  'organizations-vetted': organisations(organisationKinds.vetted),
}

function projects(condition: string): string {
  return `project p join wire_record w on w.project_id = p.id where ${condition}`
}

function organisations(condition: string): string {
  return `organisation o join organisation_record w on w.organisation_id = o.id where ${condition}`
}

const keyOf = (name: BulkFileName) => (name.startsWith('projects') ? 'p.id' : 'o.id')

/** How many records a file would have, and a name for exactly these versions of them. */
export async function bulkFingerprint(
  db: Db,
  name: BulkFileName,
  mapping: number,
): Promise<{ readonly records: number; readonly fingerprint: string }> {
  const key = keyOf(name)
  const { rows } = await db.query<{ records: number; fingerprint: string | null }>(
    `select count(*) as records, md5(string_agg(${key} || ':' || w.version, ',' order by ${key})) as fingerprint
      from ${sources[name]} and w.mapping = $1`,
    [mapping],
  )
  return { records: rows[0]?.records ?? 0, fingerprint: `${mapping}-${rows[0]?.fingerprint ?? 'none'}` }
}

/** The records as XML texts in id order, a batch a chunk; each is a view into a buffer that is about to be reused. */
export async function* bulkTexts(client: Connection, name: BulkFileName, mapping: number): AsyncGenerator<Buffer[]> {
  const sql = `copy (
    select w.xml from ${sources[name]} and w.mapping = ${Math.trunc(mapping)} order by ${keyOf(name)}
  ) to stdout (format binary)`
  for await (const rows of copyRows(client, sql)) yield rows.flatMap(([text]) => text ?? [])
}

/** Ids above `after`, ascending, of projects or organisations without a text of their current version. */
export async function idsWithoutText(
  db: Db,
  of: 'project' | 'organisation',
  { after, limit, mapping }: { after: number; limit: number; mapping: number },
): Promise<number[]> {
  const table = of === 'project' ? 'wire_record' : 'organisation_record'
  const { rows } = await db.query<{ id: number }>(
    `select v.${of}_id as id from ${of}_version v
      where v.${of}_id > $1 and not exists (
        select from ${table} w where w.${of}_id = v.${of}_id and w.version = v.version and w.mapping = $2)
      order by v.${of}_id limit $3`,
    [after, mapping, limit],
  )
  return rows.map((row) => row.id)
}
