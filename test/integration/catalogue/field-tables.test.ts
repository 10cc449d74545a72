import { expect, it } from 'vitest'
import { columnFields, columnOf, kindOf } from '../../../src/kernel/nouns/field.js'
import { organisationFields } from '../../../src/kernel/nouns/organisation.js'
import { projectFields } from '../../../src/kernel/nouns/project.js'
import { testPublisher } from '../../support/release/publishing.js'
import { testDatabase } from '../../support/store/database.js'

// The types of PostgreSQL that a kind of field may have.
const types: Readonly<Record<string, readonly string[]>> = {
  text: ['text'],
  textOrEmpty: ['text'],
  address: ['text'],
  addressOrEmpty: ['text'],
  country: ['text'],
  glideNumber: ['text'],
  iatiIdentifier: ['text'],
  organisationType: ['text'],
  externalId: ['text'],
  id: ['bigint'],
  count: ['integer'],
  bigint: ['bigint'],
  boolean: ['boolean'],
  money: ['numeric'],
  latitude: ['numeric'],
  longitude: ['numeric'],
  day: ['date'],
  instant: ['timestamp with time zone'],
  status: ['text'],
  precision: ['text'],
  source: ['text'],
  language: ['text'],
  texts: ['jsonb'],
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
    const wrong = columnFields(fields, ['record', 'iati', 'service', 'file']).flatMap((one) => {
      const { field, kind } = one
      const column = columns.get(columnOf(one))
      const fits = types[kindOf(one)]?.includes(column?.type ?? '') && column?.nullable === kind.endsWith('?')
      return fits ? [] : [`${field} (${kind}): ${column ? `${column.type}${column.nullable ? '?' : ''}` : 'no column'}`]
    })
    expect(wrong).toEqual([])
  },
)

it('what a field marked as private says is in no file of IATI or of tables', async () => {
  const { store } = await testDatabase()
  const columns = columnFields(projectFields).flatMap((one) => (one.private ? [columnOf(one)] : []))
  expect(columns.length).toBeGreaterThan(7)
  await store.db.query(
    `insert into project (id, active, status, title, ${columns.join(', ')})
      values (1, true, 'active', 'Wells', ${columns.map((column) => `'private ${column}'`).join(', ')})`,
  )
  const publisher = await testPublisher(store)
  await publisher.publish()
  for (const file of ['/iati/activities.xml', '/iati/index.json', '/data/activities.csv']) {
    const text = await publisher.read(file)
    expect(text, file).toContain('Wells')
    expect(
      columns.filter((column) => text.includes(`private ${column}`)),
      file,
    ).toEqual([])
  }
})
