import { execFileSync } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import type { ImportSummary } from '../../../src/catalogue/import/import-summary.js'
import { afterFile } from '../../support/after-file.js'
import { runCommandLine } from '../../support/command-line.js'
import { type TestDatabase, testDatabase } from '../../support/database.js'

let database: TestDatabase
let folder: string
let files = 0

beforeAll(async () => {
  database = await testDatabase()
  folder = await mkdtemp(path.join(tmpdir(), 'giving-messages-'))
  afterFile(() => rm(folder, { recursive: true, force: true }))
})

async function give(args: readonly string[], currency = 'EUR') {
  const environment = { DATABASE_URL: database.url, GIVING_DATA_DIR: folder, DEFAULT_CURRENCY: currency }
  return await runCommandLine(args, { ...environment, LOG_LEVEL: 'silent' })
}

async function fileOf(kind: string, ...lines: readonly string[]): Promise<string> {
  const file = path.join(folder, `${kind}-${files++}.csv`)
  await writeFile(file, `${lines.join('\r\n')}\r\n`)
  return file
}

async function summaryOf(args: readonly string[], currency?: string): Promise<ImportSummary> {
  return JSON.parse((await give(['import', '--json', ...args], currency)).stdout) as ImportSummary
}

const projectsHeader = 'id;title;active;status;goal'

describe('giving import', () => {
  it('counts a line end within quotes once', async () => {
    const file = await fileOf('themes', 'id,name', 'a,"A', 'and', 'more"', 'b,NULL', '"', '"', 'c,"C', 'c"', 'd,N/A')
    const { problems } = await summaryOf([file])
    expect(problems.map(({ line, got }) => [line, got])).toEqual([
      [5, 'NULL'],
      [10, 'N/A'],
    ])
    const broken = await fileOf('themes', 'id,name', 'e,"E', 'e"', 'f,"F')
    expect((await summaryOf([broken])).problems[0]?.got).toContain('from line 4 on')
  })

  it('reads no pipes and devices, at which it would wait for ever', async () => {
    const pipe = path.join(folder, 'pipe.csv')
    execFileSync('mkfifo', [pipe])
    const { problems } = await summaryOf(['--kind', 'themes', pipe, '/dev/zero'])
    expect(problems.map(({ got }) => got)).toEqual([
      expect.stringContaining(`${pipe} is no regular file`),
      expect.stringContaining('/dev/zero is no regular file'),
    ])
  })

  it('says first which file cannot be read, and shows all problems to a script', async () => {
    const wrong = Array.from({ length: 130 }, (_, index) => `t${index},null`)
    const damaged = await fileOf('themes', 'id,name', ...wrong, 'last,"never ends')
    const told = await give(['import', damaged])
    expect(told.stderr.split('\n')[0]).toContain(`${damaged}, file: expected a readable file`)
    expect(told.stderr).toContain('(101 of 131 problems are shown; --json shows more)')
    const summary = await summaryOf([damaged])
    expect(summary).toMatchObject({ refused: 130, problemCount: 131 })
    expect(summary.problems.map(({ field }) => field)).toEqual(['file', ...wrong.map(() => 'name')])
  })

  it.each(['NULL', 'n/a', '#N/A', '(null)', 'None', 'NaN', '#REF!', '#NAME?', 'undefined'])(
    'refuses %s as a title',
    async (title) => {
      const told = await give(['import', await fileOf('projects', projectsHeader, `1;${title};yes;active;`)])
      expect(told.code).toBe(2)
      expect(told.stderr).toContain(`title: expected a name; NULL, N/A and the like stand for no value`)
    },
  )

  it('takes titles that only contain such a word', async () => {
    const file = await fileOf(
      'projects',
      projectsHeader,
      '2;Nullarbor Plain;yes;active;',
      '3;None left behind;yes;active;',
    )
    expect(await summaryOf([file])).toMatchObject({ created: 2, problems: [] })
  })
})

describe('numbers in CSV', () => {
  const goalOf = async (goal: string, args: readonly string[] = [], currency?: string) => {
    const file = await fileOf('projects', `id;title;active;status;goal`, `10;Wells;yes;active;${goal}`)
    const { problems } = await summaryOf([file, '--dry-run', ...args], currency)
    return problems[0]?.expected ?? 'taken'
  }

  it('that can be read in two ways are refused, and both are named', async () => {
    const file = await fileOf('projects', projectsHeader, '10;Wells;yes;active;25.000')
    const told = await give(['import', file])
    expect(told.code).toBe(2)
    expect(told.stderr).toContain(
      'goal: expected a plain number such as 1234.50; this one is 25 with giving import --decimal point, ' +
        '25000 with giving import --decimal comma, got "25.000"',
    )
    expect(await goalOf('1.000')).toContain('1 with giving import --decimal point, 1000 with')
    expect(await goalOf('25,000')).toContain('25000 with giving import --decimal point, 25 with')
    expect(await goalOf('1.234,50')).toContain('this one is 1234.50 with giving import --decimal comma')
  })

  it.each(['25', '25.00', '25.5', '1234.500', '0.500', '25.0000'])('that are plain are taken: %s', async (goal) => {
    expect(await goalOf(goal)).toBe('taken')
  })

  it('have three decimals in a currency that has them, and thousands in one that has none', async () => {
    expect(await goalOf('25.000', [], 'KWD')).toBe('taken')
    expect(await goalOf('25.000', [], 'JPY')).toContain('25000 with giving import --decimal comma')
  })

  it.each([
    ['comma', '25.000', '25000.000'],
    ['comma', '1.234.567,5', '1234567.500'],
    ['comma', '1 234,50', '1234.500'],
    ['comma', '25', '25.000'],
    ['point', '25.000', '25.000'],
    ['point', '1,234.50', '1234.500'],
    ['point', "1'234.50", '1234.500'],
  ])('are read with --decimal %s: %s', async (decimal, goal, stored) => {
    const file = await fileOf('projects', projectsHeader, `11;Wells;yes;active;${goal}`)
    expect(await summaryOf([file, '--decimal', decimal])).toMatchObject({ refused: 0, problems: [] })
    const { rows } = await database.store.db.query<{ goal: string }>('select goal from project where id = 11')
    expect(rows).toEqual([{ goal: stored }])
  })

  it.each([
    ['comma', '12.50'],
    ['comma', '1.23.456'],
    ['point', '12,50'],
    ['point', '1.234,50'],
  ])('of another sign than --decimal %s are refused: %s', async (decimal, goal) => {
    expect(await goalOf(goal, ['--decimal', decimal])).toContain('a plain number')
  })

  it('follow the same rule within lists, and degrees and shares have no thousands', async () => {
    const header = 'id;title;active;status;latitude;longitude;countries;donationOptions'
    const at = (...cells: string[]) => fileOf('projects', header, `12;Wells;yes;active;${cells.join(';')}`)
    const [ambiguous] = (await summaryOf([await at('7.964', '-11.738', 'KE:33.333|UG:66.667', '1.000:a wall')]))
      .problems
    expect(ambiguous).toMatchObject({ field: 'donationOptions', expected: expect.stringContaining('1000 with') })
    const comma = await at('7,964', '-11,738', 'KE:33,333|UG:66,667', '1.000:a wall')
    expect(await summaryOf([comma, '--decimal', 'comma'])).toMatchObject({ created: 1, problems: [] })
    const { rows } = await database.store.db.query<object>(
      `select latitude::text, (select amount::int from donation_option where project_id = id) as amount
         from project where id = 12`,
    )
    expect(rows).toEqual([{ latitude: '7.964', amount: 1000 }])
  })

  it('are written by an export so that an import reads them', async () => {
    const header = 'id;title;active;status;goal;donationOptions'
    const file = await fileOf('projects', header, '14;Wells;yes;active;250;25.00:a spade|40:a pump')
    expect(await summaryOf([file])).toMatchObject({ refused: 0, problems: [] })
    const out = path.join(folder, 'export')
    expect((await give(['export', '--format', 'csv', out])).code).toBe(0)
    expect(await summaryOf([path.join(out, 'projects.csv')])).toMatchObject({ refused: 0, problems: [] })
    const { rows } = await database.store.db.query<object>(
      `select goal::text, array(select amount::text from donation_option where project_id = id order by 1) as amounts
         from project where id = 14`,
    )
    expect(rows).toEqual([{ goal: '250.000', amounts: ['25.000', '40.000'] }])
  })
})

describe('values that no person would mean', () => {
  const soon = new Date(Date.now() + 36 * 3_600_000).toISOString().slice(0, 10)
  const far = '2200-01-01'
  const future = 'a day that is not in the future'

  it.each<[kind: string, header: string, row: string, field: string, expected: string, got: string]>([
    ['projects', 'approvedDate', '1203-05-16', 'approvedDate', 'a day from 1900-01-01', '1203-05-16'],
    ['projects', 'approvedDate', far, 'approvedDate', 'a day until 20', far],
    ['projects', 'modifiedDate', soon, 'modifiedDate', future, soon],
    ['projects', 'deadline', '0203-01-01', 'deadline', 'a day such as', '0203-01-01'],
    ['projects', 'payouts', `P:${far}:5`, 'payouts', 'a day until 20', far],
    [
      'projects',
      'summary',
      'x'.repeat(100_001),
      'summary',
      'a text of at most 100000 characters',
      `${'x'.repeat(119)}…`,
    ],
    ['gifts', 'date;amount;currency;reference', `${soon};5;EUR;a`, 'date', future, soon],
    ['gifts', 'date;amount;currency;reference', '1820-01-01;5;EUR;b', 'date', 'a day from 1900-01-01', '1820-01-01'],
    ['disbursements', 'date;amount;currency;reference', `${soon};5;EUR;a`, 'date', future, soon],
    ['payout-plans', 'date;amount;currency;reference', `${far};5;EUR;a`, 'date', 'a day until 20', far],
    ['images', 'position;original;takenOn', `0;https://a.example/i.jpg;${soon}`, 'takenOn', future, soon],
    ['reports', 'url;title;published;html', `https://a.example/r;R;${soon};x`, 'published', future, soon],
  ])('are refused in their row, not with others: %s, %s %s', async (kind, header, row, field, expected, got) => {
    const isProject = kind === 'projects'
    const head = isProject ? 'id;title;active;status' : 'project'
    const lead = isProject ? '30;Wells;yes;active' : '30'
    await give(['import', await fileOf('projects', 'id;title;active;status', '30;Wells;yes;active')])
    const good = header.split(';').map((name) => (isProject ? '' : (goodCells[name] ?? '')))
    const lines = [`${head};${header}`, `${lead};${row}`, `${lead};${good.join(';')}`]
    const { refused, created, changed, unchanged, problems } = await summaryOf([await fileOf(kind, ...lines)])
    expect({ refused, kept: created + changed + unchanged }).toEqual({ refused: 1, kept: 1 })
    expect(problems).toMatchObject([{ line: 2, field, expected: expect.stringContaining(expected), got }])
  })

  it('were never booked: an imported payout is changed by no other', async () => {
    const { rows } = await database.store.db.query<{ source: string }>('select source from disbursement')
    expect(new Set(rows.map(({ source }) => source))).toEqual(new Set(['import']))
  })
})

/** A cell that is right for each field above. */
const goodCells: Readonly<Record<string, string>> = {
  ...{ date: '2026-01-05', amount: '5', currency: 'EUR', reference: 'good' },
  ...{ position: '1', original: 'https://a.example/good.jpg', takenOn: '2026-01-05' },
  ...{ url: 'https://a.example/good', title: 'Good', published: '2026-01-05', html: 'x' },
}
