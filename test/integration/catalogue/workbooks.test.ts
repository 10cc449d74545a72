import { mkdir, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { crc32, deflateRawSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { type Cell, lettersOf, serialOf, styles, workbookOf, zipOf } from '../../support/catalogue/workbooks.js'
import { printed, runCommandLine } from '../../support/commands/command-line.js'
import { someOf } from '../../support/runner/some-of.js'
import { testDatabase } from '../../support/store/database.js'
import { temporaryFolder } from '../../support/values/temporary-folder.js'

const folder = await temporaryFolder()
const { url, store } = await testDatabase()
const environment = {
  ...{ DATABASE_URL: url, GIVING_DATA_DIR: path.join(folder, 'data'), LOG_LEVEL: 'silent', DEFAULT_CURRENCY: 'EUR' },
  ALLOW_PRIVATE_NETWORKS: 'true',
}

let files = 0
async function fileOf(content: Buffer | string, name = 'gifts.xlsx'): Promise<string> {
  const at = path.join(folder, String(files++), name)
  await mkdir(path.dirname(at), { recursive: true })
  await writeFile(at, content)
  return at
}

type Answer = {
  readonly outcome?: string
  readonly created?: number
  readonly refused?: number
  readonly recipe?: Readonly<Record<string, unknown>>
  readonly open?: readonly string[]
  readonly preview?: readonly unknown[]
  readonly problems?: readonly { readonly field: string; readonly got?: string; readonly line?: number }[]
}

const giving = (...args: readonly string[]) => printed<Answer>(args, environment, expect.any(Number))

const day = (text: string): Cell => ({ number: serialOf(text), style: styles.day })
const head = ['project', 'date', 'amount', 'currency', 'reference']

await giving(
  'import',
  await fileOf('id,externalId,title,status\n1,P-1,Wells,active\n2,P-2,Clinic,active\n', 'projects.csv'),
)

/** What a sheet becomes. */
async function tried(rows: readonly (readonly Cell[])[], options: Parameters<typeof workbookOf>[1] = {}) {
  const file = await fileOf(workbookOf([{ name: 'Gifts', rows: [head, ...rows] }], options))
  return await giving('try', file)
}

describe('a workbook', () => {
  it('is read by its cells: days, moments, numbers, formulas, texts in runs, truths', async () => {
    const rich = {
      xml: '<c t="inlineStr"><is><r><t>ref</t></r><r><t xml:space="preserve">-1 </t></r><rPh><t>no</t></rPh></is></c>',
    }
    const rows: Cell[][] = [
      ['P-1', day('2026-02-13'), 1234.5, 'EUR', rich],
      [
        'P-1',
        { number: serialOf('2026-02-14T22:30:00'), style: styles.moment },
        { formula: 'C2*2', worth: 2469 },
        'EUR',
        'b',
      ],
      [
        'P-2',
        { number: 46_031.75, style: styles.day },
        { number: 0.1 + 0.2, style: styles.euros },
        'EUR',
        { formula: 'A1', worth: 'c_x0041_' },
      ],
      ['P-2', { xml: '<c t="d"><v>2026-02-16</v></c>' }, 1e12, 'EUR', 7],
      ['P-2', day('2026-02-17'), { formula: 'SUM(C1:C3)' }, 'EUR', 'e'],
      ['P-2', day('2026-02-18'), { xml: '<c t="e"><v>#REF!</v></c>' }, 'EUR', 'f'],
      ['P-2', day('2026-02-19'), { number: 5, style: styles.code }, 'EUR', 'g'],
    ]
    const file = await fileOf(workbookOf([{ name: 'Gifts', rows: [head, ...rows] }]))
    const { created, problems = [] } = await giving('import', file)
    expect(created).toBe(4)
    expect(problems.map(({ line, got }) => [line, got])).toEqual([
      [6, '=SUM(C1:C3)'],
      [7, '#REF!'],
      // What the format of a cell shows is what a person sees.
      [8, '5 CHF'],
    ])
    for (const [reference, shown] of [
      ['ref-1', /2026-02-13[\s\S]*1234\.50 EUR/],
      ['b', /2026-02-14[\s\S]*2469\.00 EUR/],
      ['cA', /2026-01-09[\s\S]*0\.30 EUR/],
      ['7', /2026-02-16[\s\S]*1000000000000\.00 EUR/],
    ] as const) {
      expect((await runCommandLine(['gifts', 'show', reference], environment)).stdout).toMatch(shown)
    }
  })

  it('has numbers and days of cells, whatever notation its texts are in', async () => {
    const recipe = await fileOf(JSON.stringify({ kind: 'gifts', decimal: 'comma', date: 'dd.mm.yyyy' }), 'recipe.json')
    const rows: Cell[][] = [
      ['P-1', day('2026-03-01'), 1.234, 'EUR', 'n-1'],
      ['P-1', '02.03.2026', '1.234,50', 'EUR', 'n-2'],
      ['P-1', { xml: '<c><f>TODAY()</f><v>46084</v></c>' }, 12.5, 'EUR', 'n-3'],
    ]
    const file = await fileOf(workbookOf([{ name: 'Gifts', rows: [head, ...rows] }]))
    const { created, problems = [] } = await giving('import', file, '--recipe', recipe)
    // 1.234 is no thousand; a day without its format is a number.
    expect({ created, lines: problems.map(({ line, field, got }) => [line, field, got]) }).toEqual({
      created: 1,
      lines: [
        [2, 'amount', '1.234'],
        [4, 'date', '46084'],
      ],
    })
    expect((await giving('import', file, '--recipe', recipe, '--date', 'excel', '--dry-run')).created).toBe(1)
  })

  it('of a Mac counts days from 1904', async () => {
    const rows: Cell[][] = [['P-1', { number: serialOf('2026-02-13') - 1462, style: styles.day }, 2, 'EUR', 'mac']]
    expect(await tried(rows, { is1904: true })).toMatchObject({
      preview: [{ records: [{ fields: { date: '2026-02-13' } }] }],
    })
  })

  it('is guessed: its sheet, merged cells, totals, and hidden rows are told', async () => {
    const rows: Cell[][] = [
      ['Spendenbericht'],
      [],
      ['Projekt', 'Datum', 'Betrag', 'Währung', 'Beleg', 'Notiz'],
      ['P-1', day('2026-04-01'), 10.5, 'EUR', 'x-1', 'eine\nzweite "Zeile", dritte'],
      [undefined, undefined, 20, 'EUR', 'x-2'],
      [undefined, day('2026-04-03'), 30.25, 'EUR', 'x-3'],
      ['P-2', '04.04.2026', '1.234,50 €', 'EUR', 'x-4'],
      ['Gesamt', undefined, { formula: 'SUM(C4:C7)', worth: 1295.25 }],
    ]
    const file = await fileOf(
      workbookOf([
        { name: 'Deckblatt', rows: [], state: 'visible' },
        { name: 'Spenden', rows, merged: ['A1:F1', 'A4:A6', '$B$4:$B$5'], hiddenRows: [6] },
        { name: 'Notizen', rows: [['nichts']] },
        { name: 'Geheim', rows: [head], state: 'veryHidden' },
      ]),
      'spenden.xlsx',
    )
    const { recipe, open } = await giving('recipes', 'guess', file)
    expect(open).toEqual([])
    expect(recipe).toMatchObject({
      ...{ kind: 'gifts', sheet: 'Spenden', fillDown: ['Projekt', 'Datum'], without: { Projekt: ['Gesamt'] } },
      ...{ decimal: 'comma', date: 'dd.mm.yyyy' },
    })
    const saved = await fileOf(JSON.stringify(recipe), 'spenden.json')
    const imported = await giving('import', file, '--recipe', saved)
    expect(imported).toMatchObject({ created: 4, refused: 0 })
    expect(imported.problems).toMatchObject([{ line: 6, field: 'row', got: '1 hidden rows, which are read' }])
    const { rows: months } = await store.db.query<{ amount: string }>(
      `select project_id, trim_scale(amount)::text as amount from donation_month where month = '2026-04-01' order by 1`,
    )
    expect(months.map(({ amount }) => amount)).toEqual(['60.75', '1234.5'])
    // The first row below the header has its own number, whatever its cells have.
    expect((await giving('try', file)).preview).toMatchObject([
      { records: [{ line: 4 }, { line: 5, fields: { date: '2026-04-01' } }, { line: 6 }, { line: 7 }] },
    ])
    expect((await runCommandLine(['try', file], environment)).stderr).toContain(
      'sheet: Spenden, the first of Spenden, Notizen; --sheet names another',
    )
    const { problems } = await giving('import', file, '--kind', 'gifts')
    expect(problems?.[0]?.got).toContain('a workbook with the sheets "Spenden", "Notizen": name one with --sheet')
    const wrong = await giving('import', file, '--kind', 'gifts', '--sheet', 'Spende')
    expect(wrong.problems?.[0]?.got).toContain(
      'a workbook without the sheet "Spende"; it has "Deckblatt", "Spenden", "Notizen", "Geheim"',
    )
  })

  it('is a source of a folder that is read at night', async () => {
    const rows: Cell[][] = [
      ['P-1', day('2026-05-01'), 7, 'EUR', 'night-1'],
      ['P-2', day('2026-05-02'), 8, 'EUR', 'night-2'],
    ]
    const file = await fileOf(workbookOf([{ name: 'Gifts', rows: [head, ...rows] }]))
    const source = ['--kind', 'gifts', '--from', path.dirname(file), '--names', '*.xlsx', '--schedule', '30 1 * * *']
    await giving('sources', 'add', 'sheet', ...source)
    expect(await giving('sources', 'run', 'sheet')).toMatchObject({ outcome: 'imported', imports: [{ created: 2 }] })
    expect(await giving('sources', 'run', 'sheet')).toMatchObject({ outcome: 'unchanged' })
    // The refused rows of a sheet are a file of their own, to be fixed and imported.
    await writeFile(file, workbookOf([{ name: 'Gifts', rows: [head, ...rows, ['P-1', 'soon', 9, 'EUR', 'night-3']] }]))
    const problems = path.join(folder, 'refused.csv')
    expect(await giving('sources', 'run', 'sheet', '--problems', problems)).toMatchObject({
      imports: [{ created: 0, refused: 1 }],
    })
  })
})

describe('a workbook that cannot be read', () => {
  const gifts = [{ name: 'Gifts', rows: [head, ['P-1', day('2026-02-13'), 1, 'EUR', 'bad']] }]
  const sheetWith = (inside: string) => ({
    'xl/worksheets/sheet1.xml': `<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>${inside}</sheetData></worksheet>`,
  })
  const olderWith = (stream: string) =>
    Buffer.concat([
      Buffer.from('d0cf11e0a1b11ae1', 'hex'),
      Buffer.alloc(2000),
      Buffer.from(stream, 'utf16le'),
      Buffer.alloc(2000),
    ])
  const cell = (place: string) => `<c r="${place}"><v>1</v></c>`

  it.each([
    ['macros', workbookOf(gifts, { others: { 'xl/vbaProject.bin': 'x' } }), 'a workbook with macros (.xlsm)'],
    ['a binary form', zipOf({ 'xl/workbook.bin': Buffer.from('x') }), 'a binary workbook (.xlsb)'],
    [
      'links to other files',
      workbookOf(gifts, { others: { 'xl/externalLinks/externalLink1.xml': '<a/>' } }),
      'a workbook with links to other files',
    ],
    ['a password', olderWith('EncryptedPackage'), 'a workbook with a password'],
    ['the form of 1997', olderWith('Workbook'), 'a document of an older Office, perhaps .xls'],
    [
      'a million columns',
      workbookOf(gifts, { others: sheetWith(`<row r="1">${cell('A1')}${cell('XFD1')}</row>`) }),
      'a sheet with cells beyond its 1000th column, in row 1',
    ],
    [
      'columns that no sheet has',
      workbookOf(gifts, { others: sheetWith(`<row r="1">${cell('AAAA1')}</row>`) }),
      'a sheet with cells beyond its 1000th column',
    ],
    [
      'rows that no sheet has',
      workbookOf(gifts, { others: sheetWith(`<row r="99999999">${cell('A99999999')}</row>`) }),
      'a damaged sheet, whose row behind 0 is 99999999',
    ],
    [
      'rows that go back',
      workbookOf(gifts, { others: sheetWith(`<row r="2">${cell('A2')}</row><row r="1">${cell('A1')}</row>`) }),
      'a damaged sheet, whose row behind 2 is 1',
    ],
    [
      'entities of its own',
      workbookOf(gifts, {
        others: { 'xl/sharedStrings.xml': '<!DOCTYPE a [<!ENTITY b "c">]><sst><si><t>&b;</t></si></sst>' },
      }),
      'a DOCTYPE is not accepted',
    ],
    [
      'XML that is damaged',
      workbookOf(gifts, { others: sheetWith('<row r="1"><c r="A1"></row>') }),
      'a damaged workbook',
    ],
    [
      'no sheet that is seen',
      workbookOf([{ name: 'Gifts', rows: [head], state: 'hidden' }]),
      'a workbook without a sheet that is seen and has rows',
    ],
    [
      'a part twice',
      workbookOf(gifts, { others: { 'XL/workbook.xml': '<a/>' } }),
      'a damaged workbook, which has XL/workbook.xml twice',
    ],
    ['a cut', workbookOf(gifts).subarray(0, 500), 'a ZIP archive that was cut'],
  ])('is named: %s', async (_what, content, said) => {
    const { problems, created } = await giving('import', await fileOf(content))
    expect(created).toBe(0)
    expect(problems?.[0]?.got).toContain(said)
  })

  it('grows beyond bounds', async () => {
    // Rows, of which a thousand are a byte, and spaces.
    for (const inside of someOf([Buffer.alloc(12_000_000, '<row/>'), Buffer.alloc(12_000_000, ' ')], 2)) {
      const bomb = bombOf(workbookOf(gifts), inside)
      expect(bomb.length).toBeLessThan(100_000)
      const { problems } = await giving('import', await fileOf(bomb))
      expect(problems?.[0]?.got).toMatch(/an archive that grows beyond bounds|has a part longer than/)
    }
  })

  it('has a damaged part behind good rows: they stay, and the rest is told', async () => {
    const rows = Array.from({ length: 3000 }, (_, at): Cell[] => [
      'P-1',
      day('2026-06-01'),
      at + 1,
      'EUR',
      `many-${at}`,
    ])
    const whole = workbookOf([{ name: 'Gifts', rows: [head, ...rows] }])
    const at = whole.indexOf('xl/worksheets/sheet1.xml') + 20_000
    whole.fill(0xff, at, at + 50)
    const { problems } = await giving('import', await fileOf(whole))
    expect(problems?.at(-1)?.got).toMatch(/damaged/)
  })

  it('takes its last column', async () => {
    const wide = Array.from({ length: 1000 }, (_, at) => (at < 5 ? (head[at] ?? '') : ''))
    const file = await fileOf(workbookOf([{ name: 'Gifts', rows: [[...wide.slice(0, 999), 'Note']] }]))
    expect(lettersOf(999)).toBe('ALL')
    expect((await giving('try', file, '--kind', 'gifts')).problems).toEqual([])
  })
})

/** The workbook with a sheet that is this many bytes when it is unpacked. */
function bombOf(workbook: Buffer, inside: Buffer): Buffer {
  const name = 'xl/worksheets/sheet1.xml'
  const [local, listed] = [workbook.indexOf(name) - 30, workbook.lastIndexOf(name) - 46]
  const content = Buffer.concat([Buffer.from('<worksheet><sheetData>'), inside])
  const packed = deflateRawSync(content)
  const fields = Buffer.alloc(12)
  fields.writeUInt32LE(crc32(content), 0)
  fields.writeUInt32LE(packed.length, 4)
  fields.writeUInt32LE(content.length, 8)
  const old = workbook.readUInt32LE(local + 18)
  const before = Buffer.concat([workbook.subarray(0, local + 30 + name.length), packed])
  const rest = Buffer.from(workbook.subarray(local + 30 + name.length + old))
  const moved = packed.length - old
  fields.copy(before, local + 14)
  const tail = rest.length - (workbook.length - listed)
  fields.copy(rest, tail + 16)
  // Entries behind it, and the list of all, lie further on.
  for (let at = rest.indexOf('PK\u0001\u0002'); at >= 0; at = rest.indexOf('PK\u0001\u0002', at + 4)) {
    const offset = rest.readUInt32LE(at + 42)
    if (offset > local) rest.writeUInt32LE(offset + moved, at + 42)
  }
  const end = rest.lastIndexOf('PK\u0005\u0006')
  rest.writeUInt32LE(rest.readUInt32LE(end + 16) + moved, end + 16)
  return Buffer.concat([before, rest])
}
