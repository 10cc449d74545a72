import type { DuckDBConnection } from '@duckdb/node-api'
import { XmlDocument, type XmlNode, XmlXPath } from 'libxml2-wasm'
import { codeName } from '../../../src/iati/standard/index.js'
import { type Decimal, fromMinorUnits, toMinorUnits } from '../../../src/kernel/money.js'
import type { Publisher } from './publishing.js'
import { filesOf, rowsOf } from './table-reader.js'

/** What a row of each table is, said again in the words of the standard. */
export const rowPaths = {
  activities: '/iati-activities/iati-activity',
  transactions: '/iati-activities/iati-activity/transaction',
  budgets: '/iati-activities/iati-activity/budget',
  planned_disbursements: '/iati-activities/iati-activity/planned-disbursement',
  locations: '/iati-activities/iati-activity/location',
  sectors: '/iati-activities/iati-activity/sector',
  recipient_countries: '/iati-activities/iati-activity/recipient-country',
  recipient_regions: '/iati-activities/iati-activity/recipient-region',
  goals: "/iati-activities/iati-activity/tag[@vocabulary='2' or @vocabulary='3']",
  related_activities: '/iati-activities/iati-activity/related-activity',
  participating_orgs: '/iati-activities/iati-activity/participating-org',
  documents: '/iati-activities/iati-activity/document-link',
  results: '/iati-activities/iati-activity/result/indicator/period',
  reports: '/iati-activities/iati-activity/result/indicator/period/actual/document-link',
} as const

type TableName = keyof typeof rowPaths

/** Numbers of a table that have a sum, and by what: column and XPath from the row's element of each. */
const sums: Partial<Record<TableName, readonly (readonly [column: string, path: string])[]>> = {
  transactions: [
    ['value', 'value'],
    ['transactiontype_code', 'transaction-type/@code'],
    ['value_currency', 'value/@currency'],
    [`strftime(transactiondate_isodate, '%Y-%m')`, 'substring(transaction-date/@iso-date, 1, 7)'],
  ],
  budgets: [
    ['value', 'value'],
    ['type', '@type'],
    ['value_currency', 'value/@currency'],
  ],
  planned_disbursements: [
    ['value', 'value'],
    ['value_currency', 'value/@currency'],
  ],
  recipient_countries: [
    ['percentage', '@percentage'],
    ['code', '@code'],
  ],
  sectors: [
    ['percentage', '@percentage'],
    ['vocabulary', '@vocabulary'],
  ],
}

type Field = { readonly name: string; readonly type: string; readonly description: string }

/** How often a row was found in the XML, less how often in the table: rows that are in both are not kept. */
class Balance extends Map<string, number> {
  add(row: string, times: number): void {
    const left = (this.get(row) ?? 0) + times
    if (left === 0) this.delete(row)
    else this.set(row, left)
  }
}

/**
 * Everything in which the tables of the live release differ from its activities, read by libxml2: rows with all their values
 * by the XPath that the data package names for each column, numbers of rows, and sums by keys of the standard. Also in what
 * CSV and Parquet differ.
 */
export async function tableDifferences(publisher: Publisher, duck: DuckDBConnection): Promise<string[]> {
  const differences: string[] = []
  const fields = await fieldsOf(publisher)
  const balances = new Map<TableName, Balance>()
  const counts = new Map<TableName, number>()
  const expectedSums = new Map<string, bigint>()
  for await (const document of activityDocuments(publisher)) {
    for (const name of Object.keys(rowPaths) as TableName[]) {
      const balance = balances.get(name) ?? new Balance()
      balances.set(name, balance)
      const read = readersOf(name, fields[name] ?? [])
      let [activity, number] = ['', 0]
      for (const element of document.find(compiled(rowPaths[name]))) {
        const identifier = valueAt(element, 'ancestor-or-self::iati-activity/iati-identifier')
        number = identifier === activity ? number + 1 : 1
        activity = identifier
        balance.add(read.map((value) => value(element, number)).join('\u001f'), 1)
        counts.set(name, (counts.get(name) ?? 0) + 1)
        const [amount, ...keys] = (sums[name] ?? []).map(([, path]) => valueAt(element, path))
        if (!amount) continue
        const key = [name, ...keys].join(' ')
        expectedSums.set(key, (expectedSums.get(key) ?? 0n) + toMinorUnits(amount as Decimal, 4))
      }
    }
  }
  const { files } = await publisher.manifest()
  const foundSums = new Map<string, bigint>()
  for (const [name, balance] of balances) {
    const { csv, parquet } = await filesOf(publisher, name)
    const row = (fields[name] ?? []).map((field) => `coalesce(${textInSql(field)}, '')`).join(` || '\u001f' || `)
    for (const found of await rowsOf(duck, `select ${row} as text from ${parquet}`)) balance.add(String(found.text), -1)
    for (const [text, times] of balance) {
      differences.push(
        `${name}: ${times > 0 ? 'only in the XML' : 'only in the table'}: ${text.replaceAll('\u001f', ' | ')}`,
      )
    }
    const [onlyInOne] = await rowsOf(
      duck,
      `select count(*) as rows from ((from ${csv} except all from ${parquet}) union all (from ${parquet} except all from ${csv}))`,
    )
    if (onlyInOne?.rows !== '0') differences.push(`${name}: ${onlyInOne?.rows} rows differ between CSV and Parquet`)
    const records = files.find(({ path }) => path === `/data/${name}.csv`)?.records
    if (records !== (counts.get(name) ?? 0)) differences.push(`${name}: ${records} rows, ${counts.get(name)} elements`)
    const [amount, ...keys] = (sums[name] ?? []).map(([column]) => column)
    if (amount === undefined) continue
    const key = keys.join(` || ' ' || `)
    const grouped = await rowsOf(
      duck,
      `select ${key} as key, sum(${amount})::decimal(38, 4)::varchar as amount from ${parquet} where ${amount} is not null group by 1`,
    )
    for (const sum of grouped) foundSums.set(`${name} ${sum.key}`, toMinorUnits(sum.amount as Decimal, 4))
  }
  for (const key of new Set([...expectedSums.keys(), ...foundSums.keys()])) {
    const [expected, found] = [expectedSums.get(key), foundSums.get(key)]
    if (expected !== found) differences.push(`sum of ${key}: ${expected} in the XML, ${found} in the table`)
  }
  return differences
}

/** The columns of each table, as the data package of the release describes them. */
async function fieldsOf(publisher: Publisher): Promise<Record<string, readonly Field[]>> {
  const { resources } = JSON.parse(await publisher.read('/data/datapackage.json')) as {
    resources: { name: string; format: string; schema: { fields: Field[] } }[]
  }
  return Object.fromEntries(
    resources.filter(({ format }) => format === 'csv').map(({ name, schema }) => [name, schema.fields]),
  )
}

/** How the value of each column is read from a row's element. */
function readersOf(table: TableName, fields: readonly Field[]): ((row: XmlNode, number: number) => string)[] {
  return fields.map(({ name, type, description }) => {
    const [, codeList, code] = /^English name, by code list (.+), of the code at (.+)$/.exec(description) ?? []
    const path = fromRow(code ?? description.replace(/^XPath from the row's element: /, ''))
    const isRepeated = table === 'activities' && name.startsWith('recipient')
    const nameOf = (value: string) => codeName(codeList ?? '', value) ?? ''
    if (name === 'number') return (_, number) => String(number)
    if (name === 'latitude') return (row) => asText('number', valueAt(row, path).split(' ')[0] ?? '')
    if (name === 'longitude') return (row) => asText('number', valueAt(row, path).split(' ')[1] ?? '')
    if (isRepeated) {
      return (row) =>
        row
          .find(compiled(path))
          .map(({ content }) => (codeList ? nameOf(content) : content))
          .join(';')
    }
    if (codeList === undefined) return (row) => asText(type, valueAt(row, path))
    const ownName = path.replace(/@code$/, 'narrative')
    return (row) => (ownName !== path && valueAt(row, ownName)) || nameOf(valueAt(row, path))
  })
}

/** A path that begins with `/` is one from the activity. */
function fromRow(path: string): string {
  return path.startsWith('/') ? `ancestor-or-self::iati-activity${path}` : path
}

function asText(type: string, value: string): string {
  return type === 'number' && value !== '' ? fromMinorUnits(toMinorUnits(value as Decimal, 5), 5) : value
}

/** The text of a column in the same form. */
function textInSql({ name, type }: Field): string {
  if (type === 'number') return `${name}::decimal(38, 5)::varchar`
  return type === 'datetime' ? `strftime(${name} at time zone 'UTC', '%Y-%m-%dT%H:%M:%SZ')` : `${name}::varchar`
}

const expressions = new Map<string, XmlXPath>()

function compiled(path: string): XmlXPath {
  const known = expressions.get(path) ?? XmlXPath.compile(path)
  expressions.set(path, known)
  return known
}

/** The first value that an XPath finds, as text. */
function valueAt(element: XmlNode, path: string): string {
  const found = element.eval(compiled(path))
  return Array.isArray(found) ? (found[0]?.content ?? '') : String(found)
}

async function* activityDocuments(publisher: Publisher): AsyncGenerator<XmlDocument> {
  const release = await publisher.live()
  for (const { path } of release.manifest.files) {
    if (!/^\/iati\/activities(-\d+)?\.xml$/.test(path)) continue
    const document = XmlDocument.fromBuffer((await (await release.find(path))?.identity.bytes()) ?? Buffer.alloc(0))
    yield document
    document.dispose()
  }
}
