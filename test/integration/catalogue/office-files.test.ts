import { mkdir, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { zipOf } from '../../support/catalogue/workbooks.js'
import { printed, runCommandLine } from '../../support/commands/command-line.js'
import { someOf } from '../../support/runner/some-of.js'
import { testDatabase } from '../../support/store/database.js'
import { temporaryFolder } from '../../support/values/temporary-folder.js'

const folder = await temporaryFolder()
const { url, store } = await testDatabase()
const environment = { DATABASE_URL: url, GIVING_DATA_DIR: path.join(folder, 'data'), LOG_LEVEL: 'silent' }

async function fileOf(name: string, content: string | Buffer): Promise<string> {
  const at = path.join(folder, name)
  await mkdir(path.dirname(at), { recursive: true })
  await writeFile(at, content)
  return at
}

type Summary = {
  readonly created: number
  readonly changed: number
  readonly refused: number
  readonly leftOut?: Readonly<Record<string, number>>
  readonly problems: readonly { readonly field: string; readonly expected: string; readonly got?: string }[]
}

let files = 0
async function importing(
  content: string | Buffer,
  options: readonly string[] = [],
  name = 'gifts.csv',
): Promise<Summary> {
  const file = await fileOf(`${files++}/${name}`, content)
  return await printed<Summary>(['import', file, ...options], environment, expect.any(Number))
}

const stored = async (sql: string) => (await store.db.query<{ value: string }>(sql)).rows.map(({ value }) => value)

await importing('externalId,title,status\nP-1,Wells,Active\nP-2,Clinic,FUNDED\n', [], 'projects.csv')

describe('a table of projects', () => {
  it.each([
    ['ends of lines in its header', 'id,title,"status\n(active/funded)"\n203,Wells,active\n'],
    ['a line that names the separator', 'sep=;\r\nid;title;status\r\n203;Wells;active\r\n'],
    ['lines above its header', '#-----\n#Report run: 2026-11-01\nAll projects,,\nid,title,status\n203,Wells,active\n'],
    ['blank lines above its header', '\r\n\r\nid,title,status\r\n203,Wells,active\r\n'],
    ['UTF-16 without a mark', Buffer.from('id\ttitle\tstatus\r\n203\tÉcole\tactive\r\n', 'utf16le')],
    ['UTF-16 of the other order', Buffer.from('id\ttitle\tstatus\r\n203\tÉcole\tactive\r\n', 'utf16le').swap16()],
  ])('is read with %s', async (_what, content) => {
    expect(await importing(content, ['--dry-run'], 'projects.csv')).toMatchObject({ created: 1, problems: [] })
  })

  it('is read with quotes that are not doubled, and told of them', async () => {
    const text =
      'id,title,status\n204,Pipe 12" line,active\n205,"Say \\"yes\\", now",active\n206,"open,active\n207,"x",active\n'
    const { created, refused, problems } = await importing(text, [], 'projects.csv')
    expect({ created, refused }).toEqual({ created: 3, refused: 1 })
    expect(problems.map(({ field }) => field)).toEqual(['record', 'record', 'record'])
    expect(await stored('select title as value from project where id in (204, 205) order by id')).toEqual([
      'Pipe 12" line',
      'Say "yes", now',
    ])
  })

  it('names the cell that is empty', async () => {
    const told = await importing('externalId,title,status\n,Total,active\nP-9,,active\n', [], 'projects.csv')
    expect(told.problems).toMatchObject([
      { field: 'externalId', expected: expect.stringContaining('a value') },
      { field: 'title', expected: 'a value: a text' },
    ])
  })

  it('is told of an archive and of a spreadsheet what it is, and read from an archive with one file', async () => {
    const text = Buffer.from('id,title,status\n208,Wells,active\n')
    expect(await importing(gzipSync(text), [], 'projects.csv.gz')).toMatchObject({ created: 1 })
    expect(await importing(zipOf({ 'projects.csv': text }), [], 'x.zip')).toMatchObject({
      created: 0,
      refused: 0,
      problems: [],
    })
    for (const [archive, said] of [
      [zipOf({ 'a.csv': text, 'b.csv': text }), 'a ZIP archive with 2 files'],
      [gzipSync(text).subarray(0, 30), 'a damaged archive'],
      [Buffer.from('d0cf11e0a1b11ae1', 'hex'), 'a document of an older Office, perhaps .xls'],
      [zipOf({ 'projects.csv': text }).subarray(0, 60), 'a ZIP archive that was cut'],
    ] as const) {
      const { problems } = await importing(archive, [], 'projects.zip')
      expect(problems[0]?.got).toContain(said)
    }
  })
})

describe('a table of gifts', () => {
  const head = 'project,date,amount,currency,reference\n'
  const row = (date: string, amount: string, reference: string, currency = 'USD') =>
    `P-1,"${date}","${amount}",${currency},"${reference}"\n`
  const dryRun = ['--dry-run', '--decimal', 'point']

  const amounts: [string, boolean][] = [
    ['1,00,000.00', true],
    ['12,34,567.50', true],
    ['$25.00', true],
    ['25.00 USD', true],
    ['US$ 1,234.50', true],
    ['-5.00', true],
    ['(5.00)', true],
    ['($5.00)', true],
    ['5.00-', true],
    ['\u22125.00', true],
    ['-$5.00', true],
    ['€ 25.00', false],
    ['£10', false],
    ['1,00,00.00', false],
    ['--5', false],
    ['(-5)', false],
    ['5 USD EUR', false],
  ]
  it.each(someOf(amounts, 2))('takes %s as an amount: %s', async (amount, isRead) => {
    const { created, problems } = await importing(head + row('2026-03-05', amount, 'r'), dryRun)
    expect([created, problems.length]).toEqual(isRead ? [1, 0] : [0, 1])
  })

  const days: [string, string | undefined][] = [
    ['2026-03-05 14:05', undefined],
    ['2026-03-05T14:05:00Z', undefined],
    ['2026-03-05 14:05:33 +0100', undefined],
    ['2026-3-5', undefined],
    ['05.03.26', 'dd.mm.20yy'],
    ['3/5/26', 'mm/dd/20yy'],
    ['5-Mar-26', 'dd-mmm-20yy'],
    ['5 March 2026', 'dd mmm yyyy'],
    ['5. März 2026', 'dd. mmm yyyy'],
    ['Mar 5, 2026', 'mmm dd, yyyy'],
    ['20260305', 'yyyymmdd'],
    ['46086', 'excel'],
    ['05/03/2026 2:05 pm', 'dd/mm/yyyy'],
  ]
  it.each(someOf(days, 2))('takes %s as a day with --date %s', async (date, pattern) => {
    const options = ['--decimal', 'point', ...(pattern === undefined ? [] : ['--date', pattern])]
    const reference = `d-${date}`
    expect(await importing(head + row(date, '1.00', reference), options)).toMatchObject({ created: 1, problems: [] })
    const { stdout } = await runCommandLine(['gifts', 'show', reference], environment)
    expect(stdout).toMatch(/2026-03-05/)
    expect(stdout).toMatch(/1\.00 USD/)
    if (pattern === undefined) return
    const { problems } = await importing(head + row(date, '1.00', 'x'), dryRun)
    if (!/[. ]mmm|pm/.test(pattern + date))
      expect(problems[0]?.expected).toContain(`2026-03-05 with giving import --date`)
  })

  it('says which pattern was meant', async () => {
    const file = await fileOf('gifts.csv', head)
    const told = async (pattern: string) =>
      (await runCommandLine(['import', file, '--date', pattern], environment)).stderr
    expect(await told('d.m.yyyy')).toContain('dd.mm.yyyy reads it')
    expect(await told('m/d/yy')).toContain('mm/dd/20yy reads it, whose years have two digits and a stated century')
  })

  it('has days of the zone in which the service publishes', async () => {
    const text = `${head}${row('2026-03-05T14:05:00Z', '1.00', 'nz-1')}`
    const file = await fileOf('nz/gifts.csv', text)
    await runCommandLine(['import', file], { ...environment, PUBLISH_TIMEZONE: 'Pacific/Auckland' })
    expect((await runCommandLine(['gifts', 'show', 'nz-1'], environment)).stdout).toContain('2026-03-06')
    // The day after UTC's, which has begun somewhere at any time.
    const tomorrow = new Intl.DateTimeFormat('en-CA', { timeZone: 'Pacific/Kiritimati' }).format(new Date())
    const today = await fileOf('nz2/gifts.csv', head + row(tomorrow, '1.00', 'nz-2'))
    const { code } = await runCommandLine(['import', today], { ...environment, PUBLISH_TIMEZONE: 'Pacific/Kiritimati' })
    expect(code).toBe(0)
  })

  it('of which nothing was taken says so', async () => {
    const file = await fileOf('none/gifts.csv', head + row('soon', '1.00', 'n'))
    const { code, stdout } = await runCommandLine(['import', file], environment)
    expect({ code, stdout }).toMatchObject({ code: 2, stdout: expect.stringContaining('nothing was taken: 1 records') })
    const { stdout: list } = await runCommandLine(['imports', 'list', '--limit', '1'], environment)
    expect(list).toContain('nothing taken')
  })

  it('is read by a recipe: values, filters, merged cells, totals, doubled headers and constants', async () => {
    const recipe = await fileOf(
      'recipe.json',
      JSON.stringify({
        kind: 'gifts',
        map: {
          Projekt: 'project',
          Datum: 'date',
          Betrag: 'amount',
          'Beleg#2': 'reference',
          'Beleg#1': '',
          Art: 'kind',
          Status: '',
        },
        values: { Art: { Spende: 'gift' } },
        only: { Status: ['Abgeschlossen'] },
        without: { Projekt: ['Gesamt'] },
        fillDown: ['Projekt'],
        constants: { currency: 'USD' },
        decimal: 'comma',
        date: 'excel',
      }),
    )
    const text = [
      'Projekt;Datum;Betrag;Beleg;Beleg;Art;Status',
      'P-2;46086;1.000,50;a;XL-1;Spende;Abgeschlossen',
      ';46087;5,00;b;XL-2;Spende;abgeschlossen',
      ';46088;7,00;c;XL-3;Spende;Fehlgeschlagen',
      'Gesamt;;1.012,50;;;;',
      ';46089;1,00;d;XL-4;Spende;Abgeschlossen',
    ].join('\r\n')
    const summary = await importing(text, ['--recipe', recipe], 'export.csv')
    expect(summary).toMatchObject({
      created: 3,
      refused: 0,
      leftOut: { 'Projekt=Gesamt': 1, 'Status=Fehlgeschlagen': 1 },
    })
    const wrong = await fileOf('wrong.json', '{"maps": {}, "decimal": "dot"}')
    const told = await runCommandLine(['import', recipe, '--recipe', wrong], environment)
    expect(told.stderr).toContain('maps: expected map, or another one of')
    expect(told.stderr).toContain('decimal: expected comma, point, cents, got dot')
  })
})
