import type { AnyFieldTable, StatedBy } from '../../kernel/field-table.js'

/** The column of a field: its name in snake case. */
export function columnOf(field: string): string {
  return field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}

/** The columns of the fields that `statedBy` states. */
export function columnsOf(fields: AnyFieldTable, statedBy: StatedBy): string[] {
  return fields.filter(([, , by]) => by === statedBy).map(([name]) => columnOf(name))
}

/** A function that gives the values of the fields that `statedBy` states, by column. */
export function createToColumns(fields: AnyFieldTable, statedBy: StatedBy): (noun: object) => Record<string, unknown> {
  const pairs = fields.filter(([, , by]) => by === statedBy).map(([name]) => [name, columnOf(name)] as const)
  return (noun) => {
    const values = noun as Readonly<Record<string, unknown>>
    return Object.fromEntries(pairs.map(([name, column]) => [column, values[name]]))
  }
}

/** SQL: the fields of the row `alias`, each under its own name; an empty text is absent. */
export function selectFields(fields: AnyFieldTable, alias: string): string {
  return fields.map(([name, kind]) => `${jsonValue(`${alias}.${columnOf(name)}`, kind)} as "${name}"`).join(', ')
}

// Numbers in JSON are doubles: amounts, coordinates and 64-bit integers stay exact only as text.
function jsonValue(column: string, kind: string): string {
  if (/^(decimal|bigint)\b/.test(kind)) return `${column}::text`
  return kind === 'text?' ? `nullif(${column}, '')` : column
}

/** SQL: the rows of a sorted subquery as one JSON array. */
export function jsonList(query: string): string {
  return `coalesce((select json_agg(t) from (${query}) t), '[]')`
}
