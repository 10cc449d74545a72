import { expect, it } from 'vitest'
import { CsvText } from '../../../../src/catalogue/import/csv-text.js'
import { withoutUnseenSigns } from '../../../../src/catalogue/import/unseen-signs.js'

function read(pieces: readonly string[], delimiter = ',') {
  const csv = new CsvText(delimiter)
  return [...pieces, ''].flatMap((piece, index) => [...csv.push(piece, index === pieces.length)])
}

const rtl = '\u200F'
const bom = '\uFEFF'
const nbsp = '\u00A0'

it.each([
  [`${bom}a,${rtl}"b"${nbsp},c\n`, [['a', 'b', 'c']]],
  [`"a"${rtl} ${bom}\n${bom}"b"${rtl}\n`, [['a'], ['b']]],
  [`"a ""${rtl}b${rtl}"""${rtl},"${nbsp}c${rtl}"\r\n`, [[`a "${rtl}b${rtl}"`, `${nbsp}c${rtl}`]]],
  [`""${rtl},${rtl}""\r`, [['', '']]],
  ['"می\u200Cخواهم"\r\n', [['می\u200Cخواهم']]],
  ['a,"b\nc",d\r\n\r\n e , f\t\n', [['a', 'b\nc', 'd'], [''], ['e', 'f']]],
  // Quotes that are not doubled: an inch mark, and those of writers that escape them.
  [
    '1,Pipe 12" line,x\n2,y,z\n',
    [
      ['1', 'Pipe 12" line', 'x'],
      ['2', 'y', 'z'],
    ],
  ],
  ['1,"Pipe 12" line",x\n', [['1', 'Pipe 12" line', 'x']]],
  [
    '"He said \\"hi, you\\"",x\n"5\\"",y\n',
    [
      ['He said "hi, you"', 'x'],
      ['5"', 'y'],
    ],
  ],
  // A backslash at the end of a cell escapes nothing.
  [
    '"C:\\",x\n"a\\""b",y\n',
    [
      ['C:\\', 'x'],
      ['a\\"b', 'y'],
    ],
  ],
])('reads the rows of %j wherever the text is cut', (text, expected) => {
  const cells = (pieces: readonly string[]) => read(pieces).map((row) => row.cells)
  expect(cells([text])).toEqual(expected)
  for (let first = 0; first <= text.length; first++) {
    for (let second = first; second <= text.length; second++) {
      expect(cells([text.slice(0, first), text.slice(first, second), text.slice(second)])).toEqual(expected)
    }
  }
})

it('says where each row begins, that one has no end of line, and which line alone is damaged', () => {
  expect(read(['a\r\n"b\nc"\n\nd'])).toMatchObject([{ line: 1 }, { line: 2 }, { line: 4 }, { line: 5, isOpen: true }])
  expect(read(['1,"not closed\n2,"quoted",x\n3,y,z\n'])).toMatchObject([
    { line: 1, damaged: '1,"not closed' },
    { line: 2, cells: ['2', 'quoted', 'x'] },
    { line: 3, cells: ['3', 'y', 'z'] },
  ])
})

it('throws for a quote that is never closed, after the rows before it, and for a row that is too long', () => {
  const rows: unknown[] = []
  const take = (text: string) => {
    for (const row of new CsvText(',').push(text, true)) rows.push(row)
  }
  expect(() => take('a,b\n1,"x\n2,y\n')).toThrow('from line 2 on it is not CSV: a quote is never closed')
  expect(rows).toHaveLength(1)
  expect(() => take(`"${'x\n'.repeat(2_100_000)}`)).toThrow('a row has more than 4194304 characters')
})

it('takes unseen signs from the ends of a cell, and leaves those within it', () => {
  expect(withoutUnseenSigns(`${rtl}\u202A12${nbsp}5\u202C${rtl}`)).toBe(`12${nbsp}5`)
  expect(withoutUnseenSigns(rtl)).toBe('')
  expect(withoutUnseenSigns(` ${rtl} plain ${bom}`)).toBe('plain')
})
