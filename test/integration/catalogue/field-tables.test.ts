import { expect, it } from 'vitest'
import { columnOf } from '../../../src/catalogue/sql/field-columns.js'
import { organisationFields, projectFields } from '../../../src/kernel/project.js'
import { testDatabase } from '../../support/store/database.js'

// The types of PostgreSQL that a kind of field may have.
const types: Readonly<Record<string, readonly string[]>> = {
  text: ['text'],
  textOrEmpty: ['text'],
  integer: ['integer', 'bigint'],
  bigint: ['bigint'],
  boolean: ['boolean'],
  decimal: ['numeric'],
  day: ['date'],
  instant: ['timestamp with time zone'],
  status: ['text'],
  precision: ['text'],
  source: ['text'],
}

it.each([
  ['project', projectFields],
  ['organisation', organisationFields],
] as const)(
  'each field of the table %s has a column of its kind, which may be null where the field may be absent',
  async (table, fields) => {
    const { store } = await testDatabase()
    const { rows } = await store.db.query<{ name: string; type: string; nullable: boolean }>(
      `select column_name as name, data_type as type, is_nullable = 'YES' as nullable
      from information_schema.columns where table_name = $1`,
      [table],
    )
    const columns = new Map(rows.map((row) => [row.name, row]))
    const wrong = fields.flatMap(([name, kind]) => {
      const column = columns.get(columnOf(name))
      const fits = types[kind.replace('?', '')]?.includes(column?.type ?? '') && column?.nullable === kind.endsWith('?')
      return fits ? [] : [`${name} (${kind}): ${column ? `${column.type}${column.nullable ? '?' : ''}` : 'no column'}`]
    })
    expect(wrong).toEqual([])
  },
)
