import type { Column } from './describe.js'
import type { Member, Statement } from './statements.js'

/** What our connections make of a column, by its type in PostgreSQL; `json` is whatever the type says. */
export const kinds: Readonly<Record<string, string>> = {
  ...{ bool: 'boolean', bytea: 'Buffer', timestamptz: 'Date', json: 'json', jsonb: 'json' },
  ...{ int2: 'number', int4: 'number', int8: 'number', float4: 'number', float8: 'number', oid: 'number' },
  ...{ text: 'text', name: 'text', numeric: 'text', date: 'text', regclass: 'text' },
  ...{ _text: 'text[]', _int4: 'number[]' },
}

/** What the type of a statement's rows says and PostgreSQL does not, for one text of the statement. */
export function compareRows(statement: Statement, columns: readonly Column[]): string[] {
  const lists = statement.rows.filter((members) => members.length > 0)
  if (lists.length === 0) return []
  const fitting = lists.filter((members) => members.every((one) => one.optional || find(columns, one.name)))
  if (fitting.length === 0) {
    const missing = lists[0]?.filter((one) => !one.optional && !find(columns, one.name)) ?? []
    return missing.map(({ name }) => `${name}: no column`)
  }
  const members = fitting.flat()
  const unread = columns.filter(({ name }) => !find(members, name)).map(({ name }) => `${name}: no member`)
  return [...unread, ...columns.flatMap((column) => compareColumn(column, members))]
}

function compareColumn(column: Column, all: readonly Member[]): string[] {
  const members = all.filter(({ name }) => name === column.name)
  if (members.length === 0) return []
  const kind = kinds[column.type] ?? column.type
  const fits = (said: string) => said === kind || said === 'unknown' || (kind === 'json' && isFromJson(said))
  const wrong = members.flatMap((member) => member.kinds).filter((said) => !fits(said))
  const mayBeNull = members.some((one) => one.undefined)
  return [
    ...wrong.map((said) => `${column.name}: ${column.type} is ${kind}, not ${said}`),
    ...(column.null === 'possible' && !mayBeNull ? [`${column.name}: may be null`] : []),
  ]
}

/** JSON has neither dates nor bytes; a text that is declared for it is more likely a forgotten cast. */
function isFromJson(said: string): boolean {
  return !['Date', 'Buffer', 'text'].includes(said)
}

function find<T extends { readonly name: string }>(list: readonly T[], name: string): T | undefined {
  return list.find((one) => one.name === name)
}

/** Members that no text of the statement has a column for, and rows of a union that none of them gives. */
export function unusedMembers(statement: Statement, texts: readonly (readonly Column[])[]): string[] {
  return statement.rows.flatMap((members) => {
    const own = texts.filter((columns) => members.every((one) => one.optional || find(columns, one.name)))
    const unused = members.filter(({ name }) => !own.some((columns) => find(columns, name)))
    return unused.map(({ name }) => `${name}: no column`)
  })
}
