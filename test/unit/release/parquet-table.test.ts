import { readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { type Table, tables } from '../../../src/iati/tables/tables.js'
import { parseElement, recordLimits } from '../../../src/kernel/xml/reader.js'
import { joinParquet, ParquetTable } from '../../../src/release/tables/parquet-table.js'
import { toActivityRows } from '../../../src/release/tables/table-pieces.js'
import { openTables, rowsOf } from '../../support/release/table-reader.js'
import { temporaryFolder } from '../../support/values/temporary-folder.js'

const transactions = tables.find(({ name }) => name === 'transactions') as Table

const folder = await temporaryFolder()
const duck = await openTables()
afterAll(async () => {
  duck.closeSync()
})

type Transaction = { readonly type?: '1' | '3'; readonly value: string; readonly to?: string }

/** The rows of an activity with these transactions. */
function pieceOf(identifier: string, list: readonly Transaction[]): Buffer {
  const elements = list.map(
    ({ type, value, to }) =>
      `<transaction>${type ? `<transaction-type code="${type}"/>` : ''}<transaction-date iso-date="2026-11-20"/>` +
      `<value currency="USD">${value}</value>${to ? `<receiver-org><narrative>${to}</narrative></receiver-org>` : ''}</transaction>`,
  )
  const text = `<iati-activity><iati-identifier>${identifier}</iati-identifier>${elements.join('')}</iati-activity>`
  return toActivityRows(parseElement(Buffer.from(text), recordLimits)).parquet
}

/** Writes a file of the pieces in these row groups. */
async function writeFileOf(name: string, groups: readonly (readonly Buffer[])[]): Promise<string> {
  const files = tables.map((table) => new ParquetTable(table, { isWritten: table === transactions }))
  const file = files[tables.indexOf(transactions)] as ParquetTable
  const parts: Buffer[] = []
  for (const pieces of groups) {
    for (const piece of pieces) expect(files.reduce((at, one) => one.add(piece, at), 0)).toBe(piece.length)
    parts.push(...(await file.group()))
  }
  const target = path.join(folder, name)
  await writeFile(target, [...parts, ...(await file.end())])
  return target
}

describe('a Parquet file of a table', () => {
  it('has the values of all activities, equal and missing ones too, in each row group', async () => {
    const many = Array.from(
      { length: 600 },
      (_, at): Transaction => ({ type: '1', value: '7', to: `Partner ${at >> 8}` }),
    )
    const sides = Array.from(
      { length: 4 },
      (_, at): Transaction =>
        at % 2 === 0
          ? { type: '1', value: `${at}` }
          : { type: '3', value: `${at}.25`, to: 'Wells for all '.repeat(20) },
    )
    const groups = [
      new Map([
        ['A', many],
        ['B', []],
        ['C', sides],
      ]),
      new Map([
        ['D', [{ value: '-0.5' }]],
        ['E', sides],
        ['F', [...sides, ...sides]],
      ]),
    ]
    const file = await writeFileOf(
      'values',
      groups.map((group) => [...group].map(([name, list]) => pieceOf(name, list))),
    )
    const expected = groups.flatMap((group) =>
      [...group].flatMap(([name, list]) =>
        list.map(({ type = null, value, to = null }, at) => [name, at + 1, type, Number(value), 'US Dollar', to, null]),
      ),
    )
    const rows = await rowsOf(
      duck,
      `select iatiidentifier, number, transactiontype_code, value::double, value_currencyname, receiverorg_narrative, ref
        from read_parquet('${file}')`,
    )
    expect(rows.map((row) => Object.values(row))).toEqual(expected)
  })

  it('is joined from others, whose row groups move and whose ends are replaced', async () => {
    const one = await writeFileOf('one', [
      [pieceOf('A', [{ value: '1' }])],
      [pieceOf('B', [{ value: '2' }, { value: '3' }])],
    ])
    const other = await writeFileOf('other', [[pieceOf('C', [{ value: '4', to: 'Wells' }])]])
    const files = [other, one, other]
    const target = path.join(folder, 'joined')
    const join = async (files: readonly string[]) => {
      const { start, spans, end } = await joinParquet(transactions, files)
      const contents = await Promise.all(files.map((file) => readFile(file)))
      const groups = contents.map((content, index) => content.subarray(...(spans[index] ?? [0, 0])))
      await writeFile(target, [Buffer.from(start), ...groups, end])
    }
    await join(files)
    const rows = await rowsOf(
      duck,
      `select iatiidentifier, value::double, receiverorg_narrative from read_parquet('${target}')`,
    )
    expect(rows.map((row) => Object.values(row))).toEqual([
      ['C', 4, 'Wells'],
      ...[
        ['A', 1, null],
        ['B', 2, null],
        ['B', 3, null],
      ],
      ['C', 4, 'Wells'],
    ])
    const count = () =>
      rowsOf(duck, `select count(*)::int as rows, sum(value)::int as sum from read_parquet('${target}')`)
    await join([])
    expect(await count()).toEqual([{ rows: 0, sum: null }])
    // A list of fifteen and more is encoded in another way.
    for (const times of [7, 15, 200]) {
      await join([...Array.from({ length: times }, () => one), other])
      expect(await count()).toEqual([{ rows: 3 * times + 1, sum: 6 * times + 4 }])
    }
  })
})
