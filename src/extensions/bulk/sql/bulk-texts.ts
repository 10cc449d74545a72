import { createHash } from 'node:crypto'
import { organisationKinds } from '../../../catalogue/sql/ready-texts/organisation-pages.js'
import type { Connection, Db } from '../../../platform/database/connection.js'
import { copyRows } from '../../../platform/database/copy-rows.js'

/** The files of full records that consumers fetch whole. */
const fileNames = [
  'projects',
  'projects-active',
  'organizations',
  'organizations-active',
  'organizations-vetted',
] as const

export type BulkFileName = (typeof fileNames)[number]

/** Whose records a file holds. */
export type BulkFamily = 'project' | 'organisation'

/** The files of a family, each with the SQL that says which records are in it. */
const files: Readonly<Record<BulkFamily, Readonly<Partial<Record<BulkFileName, string>>>>> = {
  project: { projects: 'true', 'projects-active': 'p.active' },
  organisation: {
    organizations: 'true',
    'organizations-active': organisationKinds.active,
    'organizations-vetted': organisationKinds.vetted,
  },
}

/** The files of a family, in their order. */
export function bulkFilesOf(family: BulkFamily): BulkFileName[] {
  return fileNames.filter((name) => name in files[family])
}

/** SQL of a family's stored texts. */
const sources: Readonly<Record<BulkFamily, { readonly from: string; readonly key: string }>> = {
  project: { from: 'project p join wire_record w on w.project_id = p.id', key: 'p.id' },
  organisation: { from: 'organisation o join organisation_record w on w.organisation_id = o.id', key: 'o.id' },
}

// Ids in one part of a file: a change then rewrites a few megabytes at most.
const idsOfPart = 1000

/** The records of a file that have neighbouring ids; `fingerprint` names exactly these versions of them. */
type BulkPart = { readonly part: number; readonly records: number; readonly fingerprint: string }

/** What a file would consist of: its parts in the order of ids. */
export type BulkContent = Omit<BulkPart, 'part'> & { readonly name: BulkFileName; readonly parts: readonly BulkPart[] }

/** The contents of all files of a family. */
export async function bulkContents(db: Db, family: BulkFamily, recordVersion: number): Promise<BulkContent[]> {
  const { from, key } = sources[family]
  const names = bulkFilesOf(family)
  const columns = names.flatMap((_, file) => [
    `(count(*) filter (where is_in_${file}))::integer as records_${file}`,
    `md5(string_agg(id || ':' || version, ',' order by id) filter (where is_in_${file})) as hash_${file}`,
  ])
  const conditions = names.map((name, file) => `(${files[family][name]}) as is_in_${file}`)
  // `offset 0` keeps the planner from evaluating the conditions once per aggregate.
  const { rows } = await db.query<Record<string, number | string | null>>(
    `select part, ${columns.join(', ')} from (
      select ${key} as id, ${key} / ${idsOfPart} as part, w.version, ${conditions.join(', ')}
        from ${from} where w.mapping = $1 order by ${key} offset 0
    ) as record group by part order by part`,
    [recordVersion],
  )
  return names.map((name, file) => {
    const parts = rows.flatMap((row): BulkPart[] => {
      const hash = row[`hash_${file}`]
      const fingerprint = `${recordVersion}-${hash}`
      return hash === undefined
        ? []
        : [{ part: Number(row.part), records: Number(row[`records_${file}`]), fingerprint }]
    })
    const all = createHash('md5')
    for (const { part, fingerprint } of parts) all.update(`${part} ${fingerprint}\n`)
    return {
      ...{ name, parts },
      records: parts.reduce((sum, { records }) => sum + records, 0),
      fingerprint: `${recordVersion}-${all.digest('hex')}`,
    }
  })
}

/**
 * XML texts of the records in a part of several files of one family, in id order and read in one pass: a batch has the texts of
 * each file. Texts are views into a buffer: use or copy them before asking for more.
 */
export async function* bulkTexts(
  client: Connection,
  family: BulkFamily,
  { names, part, recordVersion }: { names: readonly BulkFileName[]; part: number; recordVersion: number },
): AsyncGenerator<Buffer[][]> {
  const { from, key } = sources[family]
  const conditions = names.map((name) => `(${files[family][name] ?? 'false'})`)
  const first = Math.trunc(part) * idsOfPart
  const sql = `copy (
    select w.xml, ${conditions.join(', ')} from ${from}
      where w.mapping = ${Math.trunc(recordVersion)} and ${key} between ${first} and ${first + idsOfPart - 1}
        and (${conditions.join(' or ')}) order by ${key}
  ) to stdout (format binary)`
  for await (const rows of copyRows(client, sql)) {
    yield names.map((_, file) => rows.flatMap(([text, ...isIn]) => (text && isIn[file]?.[0] === 1 ? [text] : [])))
  }
}

/** Ids above `after`, ascending, of projects or organisations without a text of their current version. */
export async function idsWithoutText(
  db: Db,
  of: BulkFamily,
  { after, limit, recordVersion }: { after: number; limit: number; recordVersion: number },
): Promise<number[]> {
  const table = of === 'project' ? 'wire_record' : 'organisation_record'
  const { rows } = await db.query<{ id: number }>(
    `select v.${of}_id as id from ${of}_version v
      where v.${of}_id > $1 and not exists (
        select from ${table} w where w.${of}_id = v.${of}_id and w.version = v.version and w.mapping = $2)
      order by v.${of}_id limit $3`,
    [after, recordVersion, limit],
  )
  return rows.map((row) => row.id)
}
