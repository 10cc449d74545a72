import type { IsoDate } from '../../../kernel/dates.js'
import type { Db } from '../../../platform/database/connection.js'

/** A list of a record: the rows of another table that belong to it. */
type ListMember = {
  readonly table: string
  /** The column that names the record. */
  readonly owner: string
  /** One column makes a list of values, several by their member a list of objects. */
  readonly columns: string | Readonly<Record<string, string>>
  /** Columns of the order; a column `position` is numbered anew, from 0. */
  readonly order: readonly string[]
  /** The operator's kind does not know it: a member of `stored`. */
  readonly stored?: boolean
}

/** The rows of a table as records, each with its lists. Columns without a member of their own are members of `stored`. */
export type TableResource = {
  readonly table: string
  /** Columns of the order; with their table's key, so that the same rows make the same file. */
  readonly order: readonly string[]
  /** Columns by the member that the operator's kind has for them. */
  readonly members: Readonly<Record<string, string>>
  readonly lists?: Readonly<Record<string, ListMember>>
  /** Columns that are not exported, with the SQL of the value that an import gives them; undefined: their default. */
  readonly left?: Readonly<Record<string, string | undefined>>
  /** SQL of exported values that differ from the column's, by column. */
  readonly values?: Readonly<Record<string, string>>
  /** Members of `stored` that other tables have: SQL of the row `t`, the type, and the statement that puts it back from `$RECORDS`. */
  readonly extras?: Readonly<Record<string, { readonly read: string; readonly type: string; readonly write: string }>>
  /** SQL condition on the row `t`. */
  readonly where?: string
  /** SQL of the day of the row `t`: when what it says was, or when it last changed; without it rows are of every day. */
  readonly day?: string
}

type Column = {
  readonly name: string
  readonly type: string
  /** SQL of the default of a column that may not be null: exports of earlier versions may lack the column. */
  readonly fallback: string | undefined
}

/** How a table resource is read and written; `$1` of a statement of `write` is a JSON array of records. */
export type ResourceSql = {
  /** Selects the JSON text of each record, in order. */
  readonly read: string
  readonly write: readonly string[]
  /** Every member with its type in PostgreSQL; lists are `json`. */
  readonly members: Readonly<Record<string, string>>
  readonly stored: Readonly<Record<string, string>>
}

/** The resource for a table of cells: texts in other languages are a member each, such as `title@fr`. */
export async function inColumns(db: Db, table: string | undefined, sql: ResourceSql): Promise<ResourceSql> {
  if (sql.members.texts === undefined) return sql
  const { rows } = await db.query<{ key: string }>(
    `select distinct key from (
        select 'project' as name, jsonb_object_keys(texts) as key from project
        union all select 'organisation', jsonb_object_keys(texts) from organisation
        union all select 'progress_report', jsonb_object_keys(texts) from progress_report) k
      where name = $1 order by key`,
    [table],
  )
  const columns = rows.map(({ key }): [string, string] => [key, 'text'])
  const members = Object.entries(sql.members).flatMap(([name, type]) => (name === 'texts' ? columns : [[name, type]]))
  return { ...sql, members: Object.fromEntries(members) }
}

/** Writes records, given as a JSON array. */
export async function insertRecords(db: Db, { write }: ResourceSql, records: string): Promise<void> {
  for (const statement of write) await db.query(statement, [records])
}

/** The statements of a resource for the columns that its tables have now. */
export async function resourceSql(db: Db, resource: TableResource, since?: IsoDate): Promise<ResourceSql> {
  const { table, order, members, lists = {}, left = {}, values = {}, extras = {}, where = 'true', day } = resource
  const isSince = since === undefined || day === undefined ? '' : ` and (${day}) >= '${since}'`
  const own = (await columnsOf(db, table)).filter(({ name }) => !(name in left))
  const typeOf = new Map(own.map(({ name, type }) => [name, type]))
  const named = new Map(Object.entries(members).map(([member, column]) => [column, member]))
  const known = own.filter(({ name }) => named.has(name))
  const stored = own.filter(({ name }) => !named.has(name))
  const listSql: ListSql[] = []
  for (const [member, list] of Object.entries(lists)) listSql.push(await readList(db, member, list))
  // Texts in several languages are an object in files too; other JSON may have numbers that only text holds exactly.
  const outwardOf = ({ name, type }: Column) =>
    name === 'texts' ? `t.${name}` : outward(values[name] ?? `t.${name}`, type)

  const extraSql = Object.entries(extras).map(
    ([member, { read, type }]) => `${outward(read, type)} as ${quoted(member)}`,
  )

  const selected = [
    ...known.map((column) => `${outwardOf(column)} as ${quoted(named.get(column.name) ?? column.name)}`),
    ...listSql.flatMap((list) => (list.stored ? [] : `${list.read} as ${quoted(list.member)}`)),
    ...(stored.length + extraSql.length === 0
      ? []
      : [
          `(select row_to_json(s) from (select ${[
            ...stored.map((column) => `${outwardOf(column)} as ${quoted(camelCase(column.name))}`),
            ...extraSql,
          ].join(', ')}) s) as stored`,
        ]),
  ]
  const record = [
    ...known.map(({ name }) => `${quoted(named.get(name) ?? name)} text`),
    ...listSql.flatMap((list) => (list.stored ? [] : `${quoted(list.member)} json`)),
    'stored json',
  ].join(', ')
  const records = `json_to_recordset($1::json) as r (${record})`
  const sources = [
    ...known.map((column) => filled(`r.${quoted(named.get(column.name) ?? column.name)}`, column)),
    ...stored.map((column) => filled(`(r.stored ->> '${camelCase(column.name)}')`, column)),
    ...Object.values(left).flatMap((value) => value ?? []),
  ]
  const targets = [
    ...[...known, ...stored].map(({ name }) => name),
    ...Object.entries(left).flatMap(([name, value]) => (value === undefined ? [] : name)),
  ]
  const owner = (column: string) => inward(`r.${quoted(named.get(column) ?? column)}`, typeOf.get(column) ?? 'text')
  return {
    read: `select json_strip_nulls(row_to_json(record))::text
      from (select ${selected.join(', ')} from ${table} t where ${where}${isSince} order by ${order.map((name) => `t.${name}`).join(', ')}) record`,
    write: [
      `insert into ${table} (${targets.join(', ')}) overriding system value select ${sources.join(', ')} from ${records}`,
      ...listSql.map(({ write }) => write(records, owner('id'))),
      ...Object.values(extras).map(({ write }) => write.replace('$RECORDS', records)),
    ],
    members: Object.fromEntries([
      ...known.map(({ name, type }) => [named.get(name) ?? name, type]),
      ...listSql.flatMap((list) => (list.stored ? [] : [[list.member, 'json']])),
    ]),
    stored: Object.fromEntries([
      ...stored.map(({ name, type }) => [camelCase(name), type]),
      ...Object.entries(extras).map(([member, { type }]) => [member, type]),
      ...listSql.flatMap((list) => (list.stored ? [[list.member, 'json']] : [])),
    ]),
  }
}

type ListSql = {
  readonly member: string
  readonly stored: boolean
  /** SQL of the list of the row `t`. */
  readonly read: string
  readonly write: (records: string, owner: string) => string
}

async function readList(
  db: Db,
  member: string,
  { table, owner, columns, order, stored = false }: ListMember,
): Promise<ListSql> {
  const known = new Map((await columnsOf(db, table)).map((column) => [column.name, column]))
  const listed = [owner, 'position', ...(typeof columns === 'string' ? [columns] : Object.values(columns))]
  const forgotten = [...known.keys()].filter((name) => !listed.includes(name))
  if (forgotten.length > 0) throw new Error(`the list ${member} of ${table} leaves out ${forgotten.join(', ')}`)
  const columnOf = (name: string) => {
    const column = known.get(name)
    if (column === undefined) throw new Error(`the table ${table} has no column ${name}`)
    return column
  }
  const typeOf = (column: string) => columnOf(column).type
  const entries = typeof columns === 'string' ? [] : Object.entries(columns)
  const value =
    typeof columns === 'string'
      ? outward(`c.${columns}`, typeOf(columns))
      : `(select row_to_json(v) from (select ${entries
          .map(([name, column]) => `${outward(`c.${column}`, typeOf(column))} as ${quoted(name)}`)
          .join(', ')}) v)`
  const sorted = order.map((column) => `c.${column}`).join(', ')
  const isPlaced = order.includes('position')
  const targets = [
    owner,
    ...(isPlaced ? ['position'] : []),
    ...(typeof columns === 'string' ? [columns] : entries.map(([, column]) => column)),
  ]
  const sources = [
    ...(isPlaced ? ['e.place - 1'] : []),
    ...(typeof columns === 'string'
      ? [inward("(e.value #>> '{}')", typeOf(columns))]
      : entries.map(([name, column]) => filled(`(e.value ->> '${name}')`, columnOf(column)))),
  ]
  const list = stored ? `(r.stored -> '${member}')` : `r.${quoted(member)}`
  return {
    member,
    stored,
    read: `(select json_agg(${value} order by ${sorted}) from ${table} c where c.${owner} = t.id)`,
    write: (records, id) =>
      `insert into ${table} (${targets.join(', ')}) overriding system value
        select ${[id, ...sources].join(', ')} from ${records}, json_array_elements(${list})
          with ordinality e (value, place)`,
  }
}

/** The columns of a table that are written, in their order. */
async function columnsOf(db: Db, table: string): Promise<Column[]> {
  const { rows } = await db.query<Column>(
    `select a.attname as name, format_type(a.atttypid, null) as type,
        case when a.attnotnull then pg_get_expr(d.adbin, d.adrelid) end as fallback
      from pg_attribute a left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
      where a.attrelid = to_regclass($1) and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
      order by a.attnum`,
    [table],
  )
  return rows
}

/** SQL of a value as JSON can hold it exactly. */
function outward(value: string, type: string): string {
  if (type === 'numeric' || type === 'jsonb') return `(${value})::text`
  return type === 'bytea' ? `encode(${value}, 'hex')` : value
}

/** SQL of a value of this type from its text. */
function inward(text: string, type: string): string {
  return type === 'bytea' ? `decode(${text}, 'hex')` : `${text}::${type}`
}

function filled(text: string, { type, fallback }: Column): string {
  return fallback === undefined ? inward(text, type) : `coalesce(${inward(text, type)}, ${fallback})`
}

function camelCase(column: string): string {
  return column.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase())
}

function quoted(name: string): string {
  return `"${name}"`
}
