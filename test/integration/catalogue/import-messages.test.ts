import { execFileSync } from 'node:child_process'
import { mkdtemp, readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import type { ImportSummary } from '../../../src/catalogue/import/import-summary.js'
import { runCommandLine } from '../../support/commands/command-line.js'
import { partsInOrder } from '../../support/runner/in-order.js'
import { testDatabase } from '../../support/store/database.js'
import { temporaryFolder } from '../../support/values/temporary-folder.js'

let files = 0

const database = await testDatabase()
await database.store.db.query(`insert into project (id, active, status, title, summary, source)
  values (4, true, 'active', 'Wells', 'Four wells', 'import')`)
const folder = await temporaryFolder()

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

partsInOrder()

describe('giving import', { shuffle: false }, () => {
  it('says with a mapping to copy what unknown columns may be', async () => {
    const header = "Projekt Nr;Amount, EUR;Date of it's gift;Beleg;"
    const row = '4;5,00;2025-03-05;M-1;'
    const mapOf = async (...args: readonly string[]) => {
      const { problems } = await summaryOf([await fileOf('gifts', header, row), '--dry-run', ...args])
      return problems[0]?.got ?? 'read'
    }
    const first = await mapOf()
    expect(first).toContain(`a first line with unknown column "Projekt Nr", unknown column "Amount, EUR"`)
    expect(first).toContain(
      `no column currency; what they are says --map 'Projekt Nr=project,Amount, EUR=amount,Date of it'\\''s gift=date,Beleg=FIELD' ` +
        '(FIELD: one of currency, settledAmount, kind, reference, count, funder, or nothing to leave it out)',
    )
    const map = "Projekt Nr=project,Amount, EUR=amount,Date of it's gift=date,Beleg="
    expect(await mapOf('--map', map)).toBe('a first line with no column currency')
    expect(await mapOf('--map', `${map}referense`)).toContain(
      `unknown column "referense", as --map names "Beleg", no column currency; what they are says --map 'Projekt Nr=project`,
    )
    expect(await mapOf('--map', 'Betrag=amount')).toContain(
      'a first line without "Betrag", which --map names; it has "Projekt Nr", "Amount, EUR", "Date of it\'s gift", "Beleg", ""',
    )
    const lines = path.join(folder, 'themes-like.ndjson')
    await writeFile(lines, '{"id": "like", "names": "Like"}')
    expect((await summaryOf([lines])).problems).toMatchObject([
      { field: 'names', expected: 'a field of this kind, such as name' },
    ])
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
    expect(told.stderr.split('\n').slice(1)).toEqual([
      ...[2, 3, 4].map((line) =>
        expect.stringContaining(`${damaged}, line ${line}, record t${line - 2}, name: expected`),
      ),
      expect.stringMatching(/name: 127 more such problems, 130 in all$/),
      '(--problems FILE.csv writes all refused rows, --json shows all problems)',
      '',
    ])
    const summary = await summaryOf([damaged])
    expect(summary).toMatchObject({ refused: 130, problemCount: 131 })
    const fields = summary.problems.map(({ field }) => field)
    expect(fields).toEqual(['file', ...fields.slice(1).map(() => 'name')])
    expect(fields).toHaveLength(131)
  })

  it('names both lines of an id that stands twice in a file, whatever lies between them', async () => {
    const others = Array.from({ length: 2500 }, (_, index) => `between${index},Theme ${index}`)
    const file = await fileOf('themes', 'id,name', 'twice,"First', 'line"', ...others, 'twice,Second', 'twice,Third')
    const { repeated, problems, refused } = await summaryOf([file, '--dry-run'])
    expect({ repeated, refused }).toEqual({ repeated: 2, refused: 0 })
    const expected = expect.stringContaining('line 2 has it too') as string
    expect(problems.map(({ line, field, expected, got }) => ({ line, field, expected, got }))).toEqual(
      [2504, 2505].map((line) => ({ line, field: 'id', expected, got: 'twice' })),
    )
    const gifts = await fileOf(
      'gifts',
      'project,date,amount,currency,reference,count',
      '4,2025-03-05,5.00,EUR,R-1,',
      '4,2025-03-06,6.00,EUR,R-1,',
      '4,2025-04-06,6.00,EUR,,3',
      '4,2025-04-07,7.00,EUR,,3',
    )
    const told = await give(['import', gifts, '--dry-run'])
    const once = 'expected what stands on one line of a file'
    expect(told.stderr).toContain(`line 3, record 4 2025-03-06 6.00 R-1, reference: ${once}; line 2 has it too`)
    expect(told.stderr).toContain(`line 5, record 4 2025-04-07 7.00, date: ${once}; line 4 has it too`)
    expect(told.stdout).toContain('2 created, 0 changed, 0 unchanged, 2 refused, 2 repeated')
  })

  it('takes several addresses of pictures of a report', async () => {
    const header = 'url,project,title,published,html,images'
    const addresses = ['https://p.example/a.jpg?x=1:2', 'https://p.example/b.jpg']
    const file = await fileOf('reports', header, `https://p.example/r/1,4,One,2025-06-01,x,${addresses.join(' | ')}`)
    expect(await summaryOf([file])).toMatchObject({ created: 1, problems: [] })
    const { rows } = await database.store.db.query<object>('select url, media_type from report_image order by position')
    expect(rows).toEqual(addresses.map((url) => ({ url, mediaType: undefined })))
    const lines = path.join(folder, 'reports-2.ndjson')
    const images = [{ url: 'https://p.example/c.jpg', mediaType: 'image/jpeg' }, 'https://p.example/d.jpg']
    const report = { url: 'https://p.example/r/1', project: 4, title: 'One', published: '2025-06-01', html: 'x' }
    await writeFile(lines, JSON.stringify({ ...report, images }))
    expect(await summaryOf([lines])).toMatchObject({ changed: 1, problems: [] })
    const wrong = await fileOf('reports', header, 'https://p.example/r/2,4,T,2025-06-01,x,a|b')
    expect((await summaryOf([wrong])).problems).toMatchObject([{ field: 'images', got: 'a|b' }])
  })

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

describe('files of several kinds', () => {
  it('are taken in the order in which the store needs them, unreadable ones first', async () => {
    const own = await mkdtemp(path.join(folder, 'own-'))
    const contents = {
      'bad.csv': 'a,b\n1,2\n',
      'disbursements.csv': 'project,date,amount,currency,reference\n901,2025-06-30,9.00,EUR,D-9\n',
      'funders.csv': 'id,name\n951,Fund\n',
      'gifts.csv': 'project,date,amount,currency,reference,funder\n901,2025-03-05,25.00,EUR,G-9,951\n',
      'images.csv': 'project,position,original\n901,0,https://p.example/o.jpg\n',
      'organizations.csv': 'id,name,themes\n907,Trust,own-theme\n',
      'payout-plans.csv': 'project,date,amount,currency,reference\n901,2027-03-31,2.00,EUR,PP-9\n',
      'projects.csv': 'id,title,status,organization,themes\n901,Wells,active,907,own-theme\n',
      'reports.csv': 'url,project,title,published,html\nhttps://p.example/r/9,901,Nine,2025-06-01,x\n',
      'themes.csv': 'id,name\nown-theme,Own\n',
    }
    for (const [name, text] of Object.entries(contents)) await writeFile(path.join(own, name), text)
    const summary = await summaryOf([...Object.keys(contents).map((name) => path.join(own, name)), '--dry-run'])
    expect(summary).toMatchObject({ files: 10, brokenFiles: 1, created: 9, refused: 0 })
    expect(summary.problems).toMatchObject([{ file: path.join(own, 'bad.csv'), field: 'file' }])
  })

  it('keep their order within a kind', async () => {
    const first = await fileOf('themes', 'id,name', 'same,One')
    const second = await fileOf('themes', 'id,name', 'same,Two')
    expect(await summaryOf([second, first])).toMatchObject({ created: 1, changed: 1 })
    const { rows } = await database.store.db.query<object>(`select name from theme where id = 'same'`)
    expect(rows).toEqual([{ name: 'One' }])
  })
})

describe('--problems', () => {
  const at = (name: string) => path.join(folder, name)
  const contentsOf = (name: string) => readFile(at(name), 'utf8')

  it('writes refused rows of CSV as they came, to be fixed and imported again', async () => {
    const goal = (index: number) => (index % 3 === 0 ? '1.000' : '5,5')
    const rows = Array.from(
      { length: 300 },
      (_, index) => `${20_000 + index};"Title; ${index}";active;${goal(index)};x`,
    )
    const odd = ['"20400";"Many\r\nlines";open;5;', '20401;a;active;5;x;more']
    const file = await fileOf('projects', 'id;title;status;goal;Why', ...rows, ...odd)
    const refused = at('fix-projects.csv')
    const told = await give(['import', file, '--decimal', 'point', '--problems', refused])
    expect(told.stderr).toContain(`${refused} has the 202 refused rows of ${file} and why: fix and import it`)
    const written = await contentsOf('fix-projects.csv')
    const number = 'a plain number such as 1234.50, as --decimal point has it'
    expect(written.split('\r\n').slice(0, 2)).toEqual([
      '\uFEFFwhy;id;title;status;goal',
      `"goal: expected ${number}, got ""5,5""";20001;"Title; 1";active;5,5`,
    ])
    expect(written).toContain(`, got ""open""";20400;"Many\r\nlines";open;5`)
    expect(written).toContain('"record: expected 5 cells, got ""6 cells""";20401;a;active;5;more')
    await writeFile(refused, written.replaceAll(';5,5', ';5.5').replace(';open;', ';active;').replace(';more', ''))
    // The file that is read may be the one that is written.
    const again = await give(['import', refused, '--problems', refused])
    expect(again.stdout).toContain('202 records: 202 created')
    expect(again.stderr).toContain('no row was refused')
    expect(await contentsOf('fix-projects.csv')).toContain('20401;a;active;5')
  })

  it('writes what only the store refuses, in the order of lines', async () => {
    const rows = ['999999,0,https://p.example/1.jpg', '999998,x,https://p.example/2.jpg']
    const file = await fileOf('images', 'project,position,original', ...rows)
    expect(await summaryOf([file, '--problems', at('images-why.csv')])).toMatchObject({
      refusedTo: [{ file: at('images-why.csv'), of: file, records: 2 }],
    })
    const lines = (await contentsOf('images-why.csv')).trimEnd().split('\r\n')
    expect(lines.map((line) => line.split(',').at(-3))).toEqual(['project', '999999', '999998'])
  })

  it('writes NDJSON as NDJSON, and of other forms the places', async () => {
    const lines = [{ why: 'old, "quoted"', id: 'nd', name: 'NULL' }, 'no json', { id: 'nd2', name: 'Good' }]
    const ndjson = path.join(folder, 'themes-nd.ndjson')
    await writeFile(ndjson, lines.map((line) => (typeof line === 'string' ? line : JSON.stringify(line))).join('\n'))
    const xml = path.join(folder, 'wire.xml')
    await writeFile(xml, '<projects><project><id>5</id></project></projects>')
    await give(['import', xml, ndjson, '--problems', at('bad.csv')])
    const written = (await contentsOf('themes-nd.bad.csv')).trimEnd().split('\n')
    expect(written.map((line) => JSON.parse(line) as object)).toEqual([
      { why: expect.stringMatching(/^name: expected a value; for NULL/), id: 'nd', name: 'NULL' },
      { why: expect.stringContaining('one JSON object'), text: 'no json' },
    ])
    const fixed = path.join(folder, 'themes-fixed.ndjson')
    await writeFile(fixed, `${written[0]?.replace('"name":"NULL"', '"name":"Named"')}\n`)
    expect(await summaryOf([fixed])).toMatchObject({ created: 1, refused: 0 })
    expect(await contentsOf('wire.bad.csv')).toMatch(/^\uFEFFwhy,line,record\r\n"active: .*",1,5\r\n$/)
  })

  it('says why a file cannot be written', async () => {
    const file = await fileOf('themes', 'id,name', 'z,NULL')
    const told = await give(['import', file, '--problems', path.join(folder, 'absent', 'why.csv')])
    expect(told.code).not.toBe(0)
    expect(told.stderr).toContain(`cannot write ${path.join(folder, 'absent', 'why.csv')}`)
  })
})

describe('numbers in CSV', { shuffle: false }, () => {
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
    const example = decimal === 'comma' ? '1234,50' : '1234.50'
    const expected = `a plain number such as ${example}, as --decimal ${decimal} has it`
    expect(await goalOf(goal, ['--decimal', decimal])).toBe(expected)
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

// The last test looks at what the others have left.
describe('days in CSV', () => {
  const deadlineOf = async (deadline: string, ...args: readonly string[]) => {
    const file = await fileOf('projects', 'id;title;active;status;deadline', `13;Wells;yes;active;${deadline}`)
    const { problems } = await summaryOf([file, '--dry-run', ...args])
    return problems[0]?.expected ?? 'taken'
  }

  it.each([
    ['31.12.2027', '2027-12-31 with giving import --date dd.mm.yyyy'],
    ['12/31/2027', '2027-12-31 with giving import --date mm/dd/yyyy'],
    ['5.3.2027', '2027-03-05 with giving import --date dd.mm.yyyy, 2027-05-03 with giving import --date mm.dd.yyyy'],
    ['2027/12/31', '2027-12-31 with giving import --date yyyy/mm/dd'],
    ['31 12 2027', "2027-12-31 with giving import --date 'dd mm yyyy'"],
    ['31.12.27', '2027-12-31 with giving import --date dd.mm.20yy'],
    ['31-Dec-2027', '2027-12-31 with giving import --date dd-mmm-yyyy'],
    ['46387', '2026-12-31 with giving import --date excel'],
  ])('that are written otherwise are refused with what they may be: %s', async (deadline, readings) => {
    expect(await deadlineOf(deadline)).toBe(`a day such as 2026-11-21; this one is ${readings}`)
  })

  it.each(['32.12.2027', '31-Foo-2027'])('are not guessed: %s', async (deadline) => {
    expect(await deadlineOf(deadline)).toBe('a day such as 2026-11-21')
    expect(await deadlineOf(deadline, '--date', 'dd.mm.yyyy')).toBe('a day such as dd.mm.yyyy')
  })
})

describe('values that no person would mean', { shuffle: false }, () => {
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
