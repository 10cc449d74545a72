import { createHash } from 'node:crypto'
import { organisationKinds } from '../../../catalogue/sql/ready-texts/organisation-pages.js'
import type { Connection, Db } from '../../../platform/database/connection.js'
import { copyRows } from '../../../platform/database/copy-rows.js'
import { idsOfBlock } from '../../../release/bytes/blocks.js'

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

/** The records of a file that have neighbouring ids; `fingerprint` names exactly these versions of them. */
type BulkBlock = { readonly number: number; readonly fingerprint: string }

/** What a file would consist of: its blocks in the order of ids, of `ids` ids each. */
export type BulkContent = {
  readonly name: BulkFileName
  readonly records: number
  readonly fingerprint: string
  readonly ids: number
  readonly blocks: readonly BulkBlock[]
}

/** The contents of all files of a family. */
export async function bulkContents(db: Db, family: BulkFamily, recordVersion: number): Promise<BulkContent[]> {
  const { from, key } = sources[family]
  const names = bulkFilesOf(family)
  const columns = names.flatMap((_, file) => [
    `(count(*) filter (where is_in_${file}))::integer as records_${file}`,
    `left(md5(string_agg(id || ':' || version, ',' order by id) filter (where is_in_${file})), 24) as hash_${file}`,
  ])
  const conditions = names.map((name, file) => `${conditionOf(family, name)} as is_in_${file}`)
  // Each of them has a record by now.
  const { rows: all } = await db.query<{ count: number; ids: number }>(
    `select count(*) as count, coalesce(max(id) - min(id) + 1, 0) as ids from ${family}`,
  )
  const ids = idsOfBlock(all[0]?.count ?? 0, all[0]?.ids ?? 0)
  // `offset 0` keeps the planner from evaluating the conditions once per aggregate.
  const { rows } = await db.query<Record<string, number | string | null>>(
    `select number, ${columns.join(', ')} from (
      select ${key} as id, ${key} / $2 as number, w.version, ${conditions.join(', ')}
        from ${from} where w.mapping = $1 order by ${key} offset 0
    ) as record group by number order by number`,
    [recordVersion, ids],
  )
  return names.map((name, file) => {
    const blocks = rows.flatMap((row): BulkBlock[] => {
      const hash = row[`hash_${file}`]
      return hash === null ? [] : [{ number: Number(row.number), fingerprint: `${recordVersion}-${hash}` }]
    })
    const whole = createHash('md5')
    for (const { number, fingerprint } of blocks) whole.update(`${number} ${fingerprint}\n`)
    return {
      ...{ name, ids, blocks, fingerprint: `${recordVersion}-${whole.digest('hex')}` },
      records: rows.reduce((sum, row) => sum + Number(row[`records_${file}`]), 0),
    }
  })
}

function conditionOf(family: BulkFamily, name: BulkFileName): string {
  return `(${files[family][name] ?? 'false'})`
}

/** Blocks of files of one family, by their numbers, the lowest first; each is of `ids` ids. */
type WantedBlocks = {
  readonly names: readonly BulkFileName[]
  readonly recordVersion: number
  readonly ids: number
  readonly numbers: readonly number[]
}

// Blocks that are read together: more would be sorted on the disk.
const blocksAtOnce = 128

/** COPY of the number of the block (bigint), the XML, and for each file whether the record is in it, in id order. */
export async function* copyRecords(
  client: Connection,
  family: BulkFamily,
  { names, recordVersion, ids, numbers }: WantedBlocks,
): AsyncGenerator<Buffer[][]> {
  if (![recordVersion, ids, ...numbers].every(Number.isSafeInteger)) throw new TypeError('blocks have whole numbers')
  const { from, key } = sources[family]
  const conditions = names.map((name) => conditionOf(family, name))
  for (let at = 0; at < numbers.length; at += blocksAtOnce) {
    const some = numbers.slice(at, at + blocksAtOnce)
    const [first = 0, last = first] = [some[0], some.at(-1)]
    yield* copyRows(
      client,
      `copy (select ${key} / ${ids}::bigint, w.xml, ${conditions.join(', ')} from ${from}
        where w.mapping = ${recordVersion} and ${key} between ${first * ids} and ${(last + 1) * ids - 1}
          and ${key} / ${ids}::bigint = any ('{${some}}'::bigint[]) and (${conditions.join(' or ')})
        order by ${key}) to stdout (format binary)`,
    )
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
