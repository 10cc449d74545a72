import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api'
import { XmlDocument, XmlXPath } from 'libxml2-wasm'
import { type TableFormat, tablePath } from '../../../src/iati/addresses.js'
import { tables } from '../../../src/iati/tables/tables.js'
import { pathOnDisk } from './path-on-disk.js'
import type { Publisher } from './publishing.js'

/** A table's rows as a query that reads them. */
export type TableFiles = { readonly csv: string; readonly parquet: string }

/** Reads the tables of the live release with DuckDB; close the connection afterwards. */
export async function openTables(): Promise<DuckDBConnection> {
  return await (await DuckDBInstance.create(':memory:')).connect()
}

export async function rowsOf(duck: DuckDBConnection, sql: string): Promise<Record<string, unknown>[]> {
  return (await duck.runAndReadAll(sql)).getRowObjectsJson()
}

/** The files of a table on disk, as DuckDB's functions name them. */
export async function filesOf(publisher: Publisher, table: string): Promise<TableFiles> {
  const release = await publisher.live()
  const place = async (format: TableFormat) =>
    await pathOnDisk((await release.find(tablePath(table, format)))?.identity)
  const parquet = `read_parquet('${await place('parquet')}')`
  const types = tables.find(({ name: one }) => one === table)?.columns ?? []
  const columns = types.map(({ name: column, type }) => `'${column}': '${duckType[type]}'`).join(', ')
  // An apostrophe stands before a text that a spreadsheet could take for a formula.
  const strings = types.filter(({ type }) => type === 'string').map(({ name: column }) => column)
  const raw = strings.map((column) => `regexp_replace(${column}, '^''([=+@\\t\\r-])', '\\1') as ${column}`)
  const csv = `(select * replace (${raw.join(', ')}) from read_csv('${await place('csv')}', header = true,
    auto_detect = false, delim = ',', quote = '"', escape = '"', new_line = '\\r\\n', columns = {${columns}}))`
  return { csv, parquet }
}

const duckType = {
  string: 'VARCHAR',
  date: 'DATE',
  instant: 'TIMESTAMPTZ',
  decimal: 'DECIMAL(38,5)',
  integer: 'INTEGER',
} as const

const compiled = new Map<string, XmlXPath>()

/** What an XPath selects in every activity file of the live release, each result mapped. */
export async function selectAll<T>(
  publisher: Publisher,
  xpath: string,
  map: (find: (inner: string) => string) => T,
): Promise<T[]> {
  const known = (text: string) => {
    const path = compiled.get(text) ?? XmlXPath.compile(text)
    compiled.set(text, path)
    return path
  }
  const found: T[] = []
  for (const { path } of (await publisher.manifest()).files) {
    if (!/^\/iati\/activities(-\d+)?\.xml$/.test(path)) continue
    const document = XmlDocument.fromString(await publisher.read(path))
    for (const node of document.find(known(xpath))) {
      found.push(map((inner) => node.find(known(inner))[0]?.content ?? ''))
    }
    document.dispose()
  }
  return found
}
