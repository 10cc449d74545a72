import { columnFields, columnOf, kindOf, type NamedField, type Noun, type StatedBy } from '../../kernel/nouns/field.js'

/** The columns of the fields that `statedBy` states. */
export function columnsOf(noun: Noun, statedBy: StatedBy): string[] {
  return columnFields(noun, [statedBy]).map(columnOf)
}

/** A function that gives the values of the fields that `statedBy` states, by column. */
export function createToColumns(noun: Noun, statedBy: StatedBy): (values: object) => Record<string, unknown> {
  const pairs = columnFields(noun, [statedBy]).map((one) => [one.field, columnOf(one)] as const)
  return (given) => {
    const values = given as Readonly<Record<string, unknown>>
    return Object.fromEntries(pairs.map(([field, column]) => [column, values[field]]))
  }
}

/** SQL: the fields of the row `alias`, each under its own name; an empty text is absent. */
export function selectFields(noun: Noun, alias: string): string {
  return columnFields(noun)
    .map((one) => `${jsonValue(`${alias}.${columnOf(one)}`, one)} as "${one.field}"`)
    .join(', ')
}

// Numbers in JSON are doubles: amounts, coordinates and 64-bit integers stay exact only as text.
const exact: ReadonlySet<string> = new Set([
  'money',
  'positiveAmount',
  'signedAmount',
  'latitude',
  'longitude',
  'bigint',
])
const texts: ReadonlySet<string> = new Set([
  'text',
  'address',
  'country',
  'glideNumber',
  'iatiIdentifier',
  'organisationType',
])

function jsonValue(column: string, field: NamedField): string {
  const kind = kindOf(field)
  if (exact.has(kind)) return `${column}::text`
  return field.kind.endsWith('?') && texts.has(kind) ? `nullif(${column}, '')` : column
}

/** SQL: the rows of a sorted subquery as one JSON array. */
export function jsonList(query: string): string {
  return `coalesce((select json_agg(t) from (${query}) t), '[]')`
}

/** SQL: gives the rows of `table` those values of $1 that are not null, where they differ. */
export function updateStated(table: 'project' | 'organisation', columns: readonly string[]): string {
  const stored = columns.map((column) => `t.${column}`).join(', ')
  const wanted = columns
    .map((column) =>
      column === 'texts' ? `merged_texts(t.${column}, w.${column})` : `coalesce(w.${column}, t.${column})`,
    )
    .join(', ')
  return `
    update ${table} t set (${columns.join(', ')}) = row (${wanted})
    from json_populate_recordset(null::${table}, $1::json) w
    where w.id = t.id and row (${stored}) is distinct from row (${wanted})`
}
