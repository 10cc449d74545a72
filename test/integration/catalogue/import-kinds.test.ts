import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { templateOf } from '../../../src/catalogue/import/describe-kind.js'
import { type ImportOptions, importFiles } from '../../../src/catalogue/import/import.js'
import { kinds } from '../../../src/catalogue/import/kinds.js'
import type { CurrencyCode } from '../../../src/kernel/money.js'
import { listDifferences } from '../../../src/money/sql/books-check.js'
import { testDatabase } from '../../support/store/database.js'
import { temporaryFolder } from '../../support/values/temporary-folder.js'

const { store } = await testDatabase()
const folder = await temporaryFolder()

const options = {
  source: 'import',
  clock: () => new Date('2026-11-21T08:00:00Z'),
  currency: 'USD' as CurrencyCode,
} as const

async function importing(name: string, text: string, more: Partial<ImportOptions> = {}) {
  const file = path.join(folder, name)
  await writeFile(file, text)
  return await importFiles(store, [file], { ...options, ...more })
}

const lines = (...all: string[]) => `${all.join('\n')}\n`

async function rows(sql: string): Promise<object[]> {
  return (await store.db.query<object>(sql)).rows
}

/** The versions of all projects: a number moves when the project is marked as changed. */
const versions = () => rows(`select project_id, version from project_version order by project_id`)

/** Imports the same text again: nothing changes, and no project is marked. */
async function changesNothingAgain(name: string, text: string): Promise<void> {
  const before = await versions()
  expect(await importing(name, text)).toMatchObject({ created: 0, changed: 0, refused: 0, differing: 0 })
  expect(await importing(name, text, { repair: true })).toMatchObject({ created: 0, changed: 0, refused: 0 })
  expect(await versions()).toEqual(before)
}

describe('a store that is filled kind by kind', { shuffle: false }, () => {
  describe('themes, organizations and funders', () => {
    const themes = lines('id,name,sector', 'bees,Bees,31194', 'water,,')
    const organizations = lines(
      'id;name;orgRef;orgType;vetted;country;themes;countries;logoUrl',
      '7;Tara Water Trust;GB-CHC-202918;22;yes;SL;water|Bees;SL|GN;https://tara.example/logo.png',
      '8;"Gulu\r\nSchools";;;no;UG;education;UG;',
    )
    const funders = lines(
      '{"id": 501, "name": "Fund of Lakes", "orgRef": "XM-DAC-1", "orgType": "60", "country": "CH"}',
    )

    it('are created, and not touched by the same files', async () => {
      expect(await importing('themes.csv', themes)).toMatchObject({ created: 2, refused: 0, problems: [] })
      expect(await importing('organizations.csv', organizations)).toMatchObject({ created: 2, problems: [] })
      expect(await importing('funders.ndjson', funders)).toMatchObject({ created: 1, problems: [] })
      expect(await rows('select id, name, sector_code from theme order by id')).toEqual([
        { id: 'bees', name: 'Bees', sectorCode: '31194' },
        { id: 'edu', name: 'Education', sectorCode: '11220' },
        { id: 'water', name: 'Clean Water', sectorCode: '14031' },
      ])
      expect(
        await rows(`select id, name, org_ref, org_type, vetted, country_name, source,
        array(select theme_id from organisation_theme where organisation_id = id order by position) as themes
        from organisation order by id`),
      ).toMatchObject([
        { id: 7, orgRef: 'GB-CHC-202918', orgType: '22', vetted: true, themes: ['water', 'bees'] },
        { id: 8, name: 'Gulu\r\nSchools', orgRef: undefined, vetted: false, themes: ['edu'], countryName: 'Uganda' },
        { id: 501, name: 'Fund of Lakes', orgRef: 'XM-DAC-1', countryName: 'Switzerland', source: 'import' },
      ])
      await changesNothingAgain('themes.csv', themes)
      await changesNothingAgain('organizations.csv', organizations)
      await changesNothingAgain('funders.ndjson', funders)
    })

    it('keep what a later file leaves out, where that is promised', async () => {
      expect(await importing('organizations.csv', 'id,name\n8,Gulu Schools\n')).toMatchObject({ changed: 1 })
      expect(await importing('funders.csv', 'id,name\n501,Fund of all Lakes\n')).toMatchObject({ changed: 1 })
      expect(await importing('themes.csv', 'id,name\nbees,Wild Bees\n')).toMatchObject({ changed: 1 })
      expect(await rows(`select vetted, country_code from organisation where id in (8, 501) order by id`)).toEqual([
        { vetted: false, countryCode: undefined },
        { vetted: false, countryCode: 'CH' },
      ])
      expect(await rows(`select name, sector_code from theme where id = 'bees'`)).toEqual([
        { name: 'Wild Bees', sectorCode: '31194' },
      ])
    })

    it('of another source stay', async () => {
      await store.db.query(`insert into organisation (id, name, source) values (900, 'Ours', 'local')`)
      for (const name of ['organizations.csv', 'funders.csv']) {
        expect(await importing(name, 'id,name\n900,Theirs\n')).toMatchObject({
          refused: 1,
          problems: [{ recordId: '900', field: 'id', got: 'organisation 900, which is local' }],
        })
      }
    })
  })

  describe('projects', () => {
    const csv = lines(
      'id\ttitle\tstatus\torganization\tthemes\tcountries\tgoal\tfunding\tdeadline\tsdgs\tpayouts\tlocationPrecision\tapprovedDate',
      '101\tWells for Tara\tactive\t7\twater|Wild Bees\tSL\t8000.00\t\t2027-06-30\t6.1|13\tP-1:2027-03-31:2500.00\tcountry\t2026-01-05',
      '102\tDesks\tfunded\t8\tEducation\tKE:60|UG:40\t12500\t12500.00\t\t\t\t\t2025-08-20T09:30:00+00:00',
    )

    it('are created with all that belongs to them', async () => {
      expect(await importing('projects.csv', csv)).toMatchObject({ created: 2, refused: 0, problems: [] })
      expect(
        await rows(`select p.id, status, active, organisation_id, goal, funding, remaining, deadline, location_precision,
          source, country_code,
          array(select theme_id from project_theme where project_id = p.id order by position) as themes,
          array(select country_code || coalesce(':' || share, '') from project_country where project_id = p.id
            order by position) as countries,
          array(select code from project_sdg where project_id = p.id order by code) as sdgs,
          array(select reference from payout_plan where project_id = p.id) as payouts,
          array(select kind || ' ' || amount || ' ' || last_on from donation_month where project_id = p.id) as money
        from project p order by id`),
      ).toEqual([
        {
          id: 101,
          status: 'active',
          active: true,
          organisationId: 7,
          goal: '8000.000',
          funding: '0.000',
          remaining: '8000.000',
          deadline: '2027-06-30',
          locationPrecision: 'country',
          source: 'import',
          countryCode: 'SL',
          themes: ['water', 'bees'],
          countries: ['SL'],
          sdgs: ['13', '6.1'],
          payouts: ['P-1'],
          money: [],
        },
        {
          id: 102,
          status: 'funded',
          active: false,
          organisationId: 8,
          goal: '12500.000',
          funding: '12500.000',
          remaining: '0.000',
          deadline: undefined,
          locationPrecision: 'point',
          source: 'import',
          countryCode: 'KE',
          themes: ['edu'],
          countries: ['KE:60.0000', 'UG:40.0000'],
          sdgs: [],
          payouts: [],
          money: [expect.stringMatching(/^opening 12500.000 /)],
        },
      ])
      await changesNothingAgain('projects.csv', csv)
    })

    it('change alone, and keep the total, the main picture and what is left out', async () => {
      await store.db.query(`insert into photo (project_id, position, wire_id, original_url, consent)
      values (101, 0, 0, 'https://platform.example/a.jpg', true)`)
      await store.db.query(`update project set funding = 40, number_of_reports = 3 where id = 101`)
      const before = await versions()
      const changed = csv.replace('Wells for Tara', 'Deep wells').replace('8000.00', '9000')
      expect(await importing('projects.csv', changed)).toMatchObject({ changed: 1, unchanged: 1 })
      const after = await versions()
      expect(after.filter((row, index) => JSON.stringify(row) !== JSON.stringify(before[index]))).toMatchObject([
        { projectId: 101 },
      ])
      expect(
        await rows(`select title, funding, remaining, number_of_reports,
        (select count(*) from photo where project_id = 101 and consent) as photos from project where id = 101`),
      ).toEqual([{ title: 'Deep wells', funding: '40.000', remaining: '8960.000', numberOfReports: 3, photos: 1 }])
      await store.db.query('update project set funding = 0 where id = 101')
    })

    it('come as NDJSON too, with lists and numbers as JSON has them', async () => {
      const ndjson = lines(
        JSON.stringify({
          id: 103,
          title: 'Nets',
          status: 'active',
          active: true,
          countries: [
            { country: 'KE', share: 50 },
            { country: 'UG', share: '50' },
          ],
          themes: ['Clean Water'],
          goal: 100.5,
          donationOptions: [{ amount: 25, description: 'a net: strong' }],
          videos: ['https://video.example/1'],
        }),
        'not JSON',
        '',
        '{"id": 104, "title": "x", "status": "active", "colour": "red"}',
      )
      const summary = await importing('more.ndjson', ndjson)
      expect(summary).toMatchObject({ records: 3, created: 1, refused: 2 })
      expect(summary.problems.map(({ line, recordId, field }) => [line, recordId, field])).toEqual([
        [2, undefined, 'record'],
        [4, '104', 'colour'],
      ])
      expect(
        await rows(`select goal, (select description from donation_option where project_id = 103) as option,
        (select url from video where project_id = 103) as video from project where id = 103`),
      ).toEqual([{ goal: '100.500', option: 'a net: strong', video: 'https://video.example/1' }])
    })

    it.each([
      ['themes', 'Nobody knows', { themes: 'Nobody knows' }],
      ['organization', '999', { organization: '999' }],
      ['goal', '1.234,50', { goal: '1.234,50' }],
      ['goal', '9999999999999999', { goal: '9999999999999999' }],
      ['status', 'open', { status: 'open' }],
      ['countries', 'KE:60|UG:30', { countries: 'KE:60|UG:30' }],
      ['countries', 'QQ', { countries: 'QQ' }],
      ['payouts', 'P-1:soon:5', { payouts: 'P-1:soon:5' }],
      ['payouts', undefined, { payouts: 'P:2027-01-01:5|P:2027-02-01:6' }],
      ['iati/payouts/reference', 'P-1, which is of project 101', { payouts: 'P-1:2027-01-01:5' }],
      ['deadline', '30.06.2027', { deadline: '30.06.2027' }],
      ['sdgs', '18', { sdgs: '18' }],
      ['title', undefined, { title: '' }],
      ['funding', undefined, { numberOfDonations: '3' }],
    ])('with a wrong %s are refused: %s', async (field, got, fields) => {
      const record = { id: '150', title: 'x', status: 'active', ...fields }
      const text = lines(
        Object.keys(record).join(','),
        Object.values(record)
          .map((value) => `"${value}"`)
          .join(','),
      )
      expect(await importing('projects.csv', text)).toMatchObject({
        refused: 1,
        problems: [{ line: 2, recordId: '150', field, ...(got !== undefined && { got }) }],
      })
    })

    it('of another source stay', async () => {
      await store.db.query(`insert into project (id, active, status, title) values (190, true, 'active', 'Ours')`)
      expect(await importing('projects.csv', 'id,title,status\n190,Theirs,active\n')).toMatchObject({
        refused: 1,
        problems: [{ recordId: '190', field: 'id', got: 'project 190, which is local' }],
      })
    })

    it('may be tried without a trace', async () => {
      const before = await versions()
      const text = lines('id,title,status', '101,Deep wells,retired', '160,New,active', '160,Newer,active', 'x,y,z')
      expect(await importing('projects.csv', text, { dryRun: true })).toMatchObject({
        created: 1,
        changed: 1,
        repeated: 1,
        refused: 1,
      })
      expect(await versions()).toEqual(before)
      expect(await rows('select id from project where id = 160')).toEqual([])
    })
  })

  describe('payouts', () => {
    const plans = lines('project,date,amount,currency,reference', '101,2027-05-31,500.00,USD,PP-1')

    it('that are planned are created, changed and kept', async () => {
      expect(await importing('payout-plans.csv', plans)).toMatchObject({ created: 1, problems: [] })
      await changesNothingAgain('payout_plans 2026.csv', plans)
      expect(await importing('payout-plans.csv', plans.replace('500', '600'))).toMatchObject({ changed: 1 })
      const wrong = lines(
        'project,date,amount,currency,reference',
        '102,2027-05-31,500.00,USD,PP-1',
        '999,2027-05-31,500.00,USD,PP-2',
        '101,2027-05-31,0,USD,PP-3',
        '101,2027-05-31,5.001,USD,PP-4',
        '101,2027-05-31,5,EUR,PP-5',
      )
      const summary = await importing('payout-plans.csv', wrong)
      expect(summary.problems.map(({ line, field }) => `${line} ${field}`).sort()).toEqual([
        '2 reference',
        '3 project',
        '4 amount',
        '5 amount',
        '6 currency',
      ])
    })

    it('that were made name their receiver', async () => {
      const text = lines(
        'project,date,amount,currency,reference,receiver',
        '101,2026-05-31,50.00,USD,D-1,501',
        '101,2026-05-31,50.00,USD,D-2,999',
        '101,2026-05-31,9999999999999999,USD,D-3,',
      )
      const summary = await importing('disbursements.csv', text)
      expect(summary).toMatchObject({ created: 1, refused: 2 })
      expect(summary.problems.map(({ field }) => field).sort()).toEqual(['amount', 'receiver'])
      expect(await rows(`select receiver_id, amount from disbursement where reference = 'D-1'`)).toEqual([
        { receiverId: 501, amount: '50.000' },
      ])
    })
  })

  describe('files', () => {
    it.each([
      [
        'of columns that fit several kinds',
        'x.csv',
        'project,date,amount,currency,reference\n',
        'payout-plans, disbursements',
      ],
      ['of columns that fit none', 'x.csv', 'id,colour\n1,red\n', 'columns of no kind (id, colour)'],
      ['with an unknown column', 'projects.csv', 'id,title,status,colour\n', 'unknown column "colour"'],
      ['with a column twice', 'projects.csv', 'id,title,status,Title\n', 'column title twice'],
      ['without a column', 'projects.csv', 'id,title\n', 'no column status'],
      ['that are not UTF-8', 'projects.csv', 'id,title,status\n', undefined],
      ['of a kind that is never XML', 'themes.xml', '<projects/>', undefined],
    ])('%s', async (_what, name, text, reason) => {
      const summary = await importing(name, text)
      if (reason === undefined) return
      expect(summary).toMatchObject({ brokenFiles: 1 })
      expect(summary.problems[0]?.got).toContain(reason)
    })

    it('of Latin-1 are refused, of UTF-16 are read', async () => {
      const file = path.join(folder, 'themes.csv')
      const importBytes = async (bytes: Buffer) => {
        await writeFile(file, bytes)
        return await importFiles(store, [file], options)
      }
      const text = 'id\tname\r\ncafe\tCafé\r\n'
      expect((await importBytes(Buffer.from(text, 'latin1'))).problems[0]?.got).toContain('not UTF-8')
      expect(await importBytes(Buffer.from(`\uFEFF${text}`, 'utf16le'))).toMatchObject({ created: 1, problems: [] })
      expect(await rows(`select name from theme where id = 'cafe'`)).toEqual([{ name: 'Café' }])
    })

    it('with U+0000 or too many cells lose that row only', async () => {
      const summary = await importing('themes.csv', 'id,name\na,A\u0000\nb,B,C\n,\nd,D\n')
      expect(summary).toMatchObject({ records: 3, created: 1, refused: 2 })
      expect(summary.problems.map(({ line, field, expected }) => [line, field, expected])).toEqual([
        [2, 'name', 'a text without U+0000'],
        [3, 'record', '2 cells'],
      ])
    })

    it('with quotes that never end keep the rows before', async () => {
      const summary = await importing('themes.csv', 'id,name\ne,E\nf,"F\n')
      expect(summary).toMatchObject({ created: 1, brokenFiles: 1 })
      expect(summary.problems[0]?.got).toContain('from line 3 on')
    })

    it('of the wire format are known behind other members, and whatever their names', async () => {
      const project = { id: 170, title: 'x', active: true, status: 'active', funding: '0' }
      const page = { hasMore: false, projects: { project: [project] } }
      expect(await importing('gifts.json', JSON.stringify(page))).toMatchObject({ created: 1, problems: [] })
      expect(await importing('projects.json', JSON.stringify(page, undefined, 2))).toMatchObject({
        unchanged: 1,
        problems: [],
      })
    })

    it('of NDJSON are known by their first line, or by the end of their name', async () => {
      const line = '{"id": "lines", "name": "Lines"}'
      expect(await importing('themes.txt', `${line}\n`)).toMatchObject({ created: 1, problems: [] })
      expect(await importing('themes.ndjson', `{"id": \n${line}\n`)).toMatchObject({ unchanged: 1, refused: 1 })
    })

    it('of NDJSON with a line that is no object have it refused by its line', async () => {
      const summary = await importing('themes.ndjson', '{"id": "object", "name": "Object"}\nnull\n"Wells"\n')
      expect(summary).toMatchObject({ created: 1, refused: 2 })
      expect(summary.problems.map(({ line, expected, got }) => [line, expected, got])).toEqual([
        [2, 'a JSON object', undefined],
        [3, 'a JSON object', 'Wells'],
      ])
    })

    it('of organisations in the wire format go through the same door', async () => {
      const record = { id: 70, name: 'Wire Trust', vetted: true, iati: { ref: 'GB-CHC-70', type: '22' } }
      const json = JSON.stringify({ organizations: { organization: [record] } })
      expect(await importing('page.json', json)).toMatchObject({ created: 1, problems: [] })
      const xml = `<?xml version="1.0"?>\n<organizations><organization><id>70</id><name>Wire Trust</name></organization></organizations>`
      expect(await importing('page.xml', xml)).toMatchObject({ changed: 1, problems: [] })
      expect(await rows('select org_ref, org_type from organisation where id = 70')).toEqual([
        { orgRef: 'GB-CHC-70', orgType: '22' },
      ])
    })
  })

  describe('gifts', () => {
    const header = 'project,date,amount,currency,reference,count,funder,kind'
    const single = lines(
      header,
      '101,2026-03-05,25.00,USD,G-1,,,',
      '101,2026-03-20,10.50,USD,G-2,,,',
      '101,2026-03-21,-5.50,USD,G-2-refund,,,',
      '101,2026-04-02,100,USD,G-3,,501,',
      '101,2026-04-02,-1.25,USD,G-3-fee,,,fee',
    )
    const money = (id: number) =>
      rows(`select to_char(month, 'YYYY-MM') as month, kind, funder_id, amount, count, last_on, source from donation_month
      where project_id = ${id} order by 1, 2, 3`)
    const totals = (id: number) =>
      rows(`select funding, number_of_donations as n, remaining from project where id = ${id}`)

    it('that are single are summed at the door, and totals follow', async () => {
      expect(await importing('gifts.csv', single)).toMatchObject({ created: 5, refused: 0, problems: [] })
      const source = 'import'
      expect(await money(101)).toEqual([
        {
          month: '2026-03',
          kind: 'gift',
          funderId: undefined,
          amount: '35.500',
          count: 2,
          lastOn: '2026-03-20',
          source,
        },
        {
          month: '2026-03',
          kind: 'refund',
          funderId: undefined,
          amount: '-5.500',
          count: 1,
          lastOn: '2026-03-21',
          source,
        },
        {
          month: '2026-04',
          kind: 'fee',
          funderId: undefined,
          amount: '-1.250',
          count: 1,
          lastOn: '2026-04-02',
          source,
        },
        { month: '2026-04', kind: 'gift', funderId: 501, amount: '100.000', count: 1, lastOn: '2026-04-02', source },
      ])
      expect(await totals(101)).toEqual([{ funding: '130.000', n: 2, remaining: '8870.000' }])
      await changesNothingAgain('gifts.csv', single)
      expect(await store.snapshot((db) => listDifferences(db, 10))).toEqual([])
    })

    it('count once in whatever files they come, and leave nothing of themselves but hashes', async () => {
      const split = lines(header, '101,2026-03-05,25.00,USD,G-1,,,', '101,2026-03-30,4.00,USD,G-4,,,')
      expect(await importing('gifts-more.csv', split)).toMatchObject({ created: 1, unchanged: 1 })
      expect(await money(101)).toMatchObject([{ amount: '39.500', count: 3, lastOn: '2026-03-30' }, {}, {}, {}])
      const changed = lines(header, '101,2026-03-05,26.00,USD,G-1,,,')
      expect(await importing('gifts.csv', changed)).toMatchObject({
        refused: 1,
        problems: [{ line: 2, field: 'reference', got: 'G-1' }],
      })
      const ofTwo = lines(header, '101,2026-03-05,25.00,USD,G-1,2,,')
      expect(await importing('gifts.csv', ofTwo)).toMatchObject({ refused: 1 })
      expect(await rows(`select count(*) from imported_gift where project_id = 101`)).toEqual([{ count: 6 }])
      expect(JSON.stringify(await rows('select * from imported_gift'))).not.toContain('G-1')
    })

    it('twice in one file are counted once', async () => {
      const text = lines(
        header,
        '103,2026-05-05,7,USD,T-1,,,',
        '103,2026-05-05,7,USD,T-1,,,',
        '103,2026-05-05,8,USD,T-1,,,',
      )
      expect(await importing('gifts.csv', text)).toMatchObject({ created: 1, unchanged: 1, refused: 1 })
      expect(await totals(103)).toEqual([{ funding: '7.000', n: 1, remaining: '93.500' }])
    })

    it('that are sums of months replace what was said of the month', async () => {
      const sums = lines(header, '103,2026-06-30,200,USD,,12,,', '103,2026-07-31,300,USD,,20,501,')
      expect(await importing('gifts.csv', sums)).toMatchObject({ created: 2, problems: [] })
      await changesNothingAgain('gifts.csv', sums)
      const more = sums.replace('200,USD,,12', '210,USD,,13')
      expect(await importing('gifts.csv', more)).toMatchObject({ changed: 1, unchanged: 1 })
      expect(await totals(103)).toEqual([{ funding: '517.000', n: 34, remaining: '0.000' }])
      const twice = lines(header, '103,2026-08-10,5,USD,,1,,', '103,2026-08-20,6,USD,,1,,')
      expect(await importing('gifts.csv', twice)).toMatchObject({
        created: 1,
        refused: 1,
        problems: [
          { line: 3, field: 'date', expected: 'one sum of each month, funder and kind' },
          { line: 3, field: 'date', expected: expect.stringContaining('line 2 has it too') },
        ],
      })
    })

    it.each([
      ['a month of single gifts, as a sum', '103,2026-05-31,50,USD,,4,,', 'reference'],
      ['a month of a sum, as a single gift', '103,2026-06-10,50,USD,X-1,,,', 'reference'],
      ['a sum without a count', '103,2026-09-10,50,USD,,,,', 'count'],
      ['a day that the opening total counts', '102,2025-08-01,50,USD,X-2,,,', 'date'],
      ['a day to come', '103,2026-11-22,50,USD,X-3,,,', 'date'],
      ['a gift below 0', '103,2026-10-01,-50,USD,X-4,,,gift', 'amount'],
      ['a refund above 0', '103,2026-10-01,50,USD,X-5,,,refund', 'amount'],
      ['nothing', '103,2026-10-01,0,USD,X-6,,,', 'amount'],
      ['an amount that no column holds', '103,2026-10-01,9999999999999999,USD,X-7,,,', 'amount'],
      ['too many decimals', '103,2026-10-01,1.005,USD,X-8,,,', 'amount'],
      ['another currency', '103,2026-10-01,1,EUR,X-9,,,', 'settledAmount'],
      ['an unknown project', '999,2026-10-01,1,USD,X-10,,,', 'project'],
      ['an unknown funder', '103,2026-10-01,1,USD,X-11,,999,', 'funder'],
    ])('are refused for %s', async (_what, row, field) => {
      const before = await versions()
      expect(await importing('gifts.csv', lines(header, row))).toMatchObject({
        refused: 1,
        problems: [{ line: 2, field }],
      })
      expect(await versions()).toEqual(before)
    })

    it('of mirrored projects are refused, since their totals are the upstream’s', async () => {
      await store.db.query(
        `insert into project (id, active, status, title, source) values (195, true, 'active', 'M', 'upstream')`,
      )
      expect(await importing('gifts.csv', lines(header, '195,2026-10-01,1,USD,X-12,,,'))).toMatchObject({
        refused: 1,
        problems: [{ field: 'project' }],
      })
    })

    it('with columns about donors are not read at all', async () => {
      const summary = await importing('gifts.csv', 'project,date,amount,currency,reference,donor_email\n')
      expect(summary).toMatchObject({ brokenFiles: 1, records: 0 })
      expect(summary.problems[0]?.got).toContain('unknown column "donor_email"')
    })
  })

  describe('images', () => {
    const csv = lines(
      'project,position,title,original,small,consent,takenOn,id',
      '101,1,The pump,https://platform.example/1.jpg,https://platform.example/1s.jpg,yes,2026-03-14,9001',
      '101,2,,https://platform.example/2.jpg,,no,,',
    )
    const photos = () =>
      rows(`select position, wire_id, title, original_url, small_url, consent, taken_on from photo where project_id = 101
      and position > 0 order by position`)

    it('are created, changed and kept', async () => {
      expect(await importing('images.csv', csv)).toMatchObject({ created: 2, problems: [] })
      expect(await photos()).toEqual([
        {
          position: 1,
          wireId: 9001,
          title: 'The pump',
          originalUrl: 'https://platform.example/1.jpg',
          smallUrl: 'https://platform.example/1s.jpg',
          consent: true,
          takenOn: '2026-03-14',
        },
        {
          position: 2,
          wireId: 2,
          title: undefined,
          originalUrl: 'https://platform.example/2.jpg',
          smallUrl: undefined,
          consent: false,
          takenOn: undefined,
        },
      ])
      await changesNothingAgain('images.csv', csv)
    })

    it('keep a consent while they stay the same picture', async () => {
      const text = (url: string) =>
        lines(`{"project": 101, "position": 1, "original": "https://platform.example/${url}"}`)
      await importing('images.ndjson', text('1.jpg'))
      expect(await photos()).toMatchObject([{ consent: true }, {}])
      await importing('images.ndjson', text('other.jpg'))
      expect(await photos()).toMatchObject([{ consent: false }, {}])
      await importing('images.ndjson', text('third.jpg'), { photoConsent: true })
      expect(await photos()).toMatchObject([{ consent: true }, {}])
    })

    it('of unknown projects and without an address are refused', async () => {
      const text = lines('project,position,original', '999,0,https://platform.example/1.jpg', '101,3,pump.jpg')
      const summary = await importing('images.csv', text)
      expect(summary.problems.map(({ line, field }) => [line, field]).sort()).toEqual([
        [2, 'project'],
        [3, 'original'],
      ])
    })
  })

  describe('reports', () => {
    const report = (fields: object) =>
      JSON.stringify({
        url: 'https://platform.example/reports/17',
        project: 101,
        title: 'Pumping',
        published: '2026-06-01T09:30:00+02:00',
        html: '<p onclick="steal()">It runs.</p><script>steal()</script>',
        images: [
          { url: 'https://platform.example/r17.jpg', mediaType: 'image/jpeg' },
          { url: 'https://platform.example/b.png' },
        ],
        ...fields,
      })
    const stored = () =>
      rows(`select id, project_id, title, author_name, published_at, content_html, source,
      array(select concat_ws(' ', url, media_type) from report_image where report_id = r.id order by position) as images
      from progress_report r order by id`)

    it('are created with sanitised text and pictures, changed and kept', async () => {
      const text = lines(report({}))
      expect(await importing('reports.ndjson', text)).toMatchObject({ created: 1, problems: [] })
      expect(await stored()).toEqual([
        {
          id: 17,
          projectId: 101,
          title: 'Pumping',
          authorName: undefined,
          publishedAt: new Date('2026-06-01T07:30:00Z'),
          contentHtml: '<p>It runs.</p>',
          source: 'import',
          images: ['https://platform.example/r17.jpg image/jpeg', 'https://platform.example/b.png'],
        },
      ])
      await changesNothingAgain('reports.ndjson', text)
      expect(await importing('reports.ndjson', lines(report({ images: [] })))).toMatchObject({ changed: 1 })
      expect(await importing('reports.ndjson', lines(report({ images: [], author: 'Tara' })))).toMatchObject({
        changed: 1,
      })
    })

    it('get a number of their own where another report has theirs', async () => {
      const text = lines(report({ url: 'https://elsewhere.example/r/17', project: 103 }))
      expect(await importing('reports.ndjson', text)).toMatchObject({ created: 1, problems: [] })
      await changesNothingAgain('reports.ndjson', text)
      expect(await stored()).toMatchObject([{ id: 17 }, { projectId: 103 }])
    })

    it.each([
      ['id', { id: 17, url: 'https://platform.example/other', project: 103 }],
      ['project', { project: 999 }],
      ['project', { project: undefined }],
      ['projectLinks', { project: undefined, projectLinks: ['https://nobody.example/'] }],
      ['updated', { updated: '2026-05-01' }],
      ['html', { html: '<b>'.repeat(200) }],
      ['url', { url: 'reports/17' }],
    ])('with a wrong %s are refused: %j', async (field, fields) => {
      expect(await importing('reports.ndjson', lines(report(fields)))).toMatchObject({
        refused: 1,
        problems: [{ line: 1, field }],
      })
    })

    const feed = (head: string, entry: string) => `<?xml version="1.0"?>
    <feed xmlns="http://www.w3.org/2005/Atom" xml:base="https://platform.example/">
      <id>urn:feed</id><title>Reports</title><updated>2026-07-01T00:00:00Z</updated>${head}
      <entry><id>reports/21</id><title>Dug &amp; done</title><updated>2026-07-01T00:00:00Z</updated>
        <author><name>Ann</name></author>${entry}
        <content type="html">&lt;p&gt;Deep.&lt;/p&gt;&lt;script&gt;x()&lt;/script&gt;</content></entry>
    </feed>`

    it('come as Atom too, of the project that the feed links to', async () => {
      await store.db.query(
        `update project set progress_report_link = 'https://platform.example/p/101/r' where id = 101`,
      )
      const link = '<link rel="alternate" href="p/101/r"/>'
      const picture = '<link rel="enclosure" type="image/png" href="https://platform.example/21.png"/>'
      const atom = feed(link, picture)
      expect(await importing('feed.atom', atom)).toMatchObject({ records: 1, created: 1, problems: [] })
      expect((await stored()).filter((row) => 'id' in row && row.id === 21)).toMatchObject([
        {
          projectId: 101,
          title: 'Dug & done',
          authorName: 'Ann',
          contentHtml: '<p>Deep.</p>',
          images: ['https://platform.example/21.png image/png'],
        },
      ])
      await changesNothingAgain('feed.atom', atom)
    })

    it('of an Atom feed that names no project are of the one that is given', async () => {
      const atom = feed('', '').replace('reports/21', 'https://platform.example/reports/22')
      expect(await importing('feed.xml', atom)).toMatchObject({ refused: 1, problems: [{ field: 'projectLinks' }] })
      expect(await importing('feed.xml', atom, { project: '103' })).toMatchObject({ created: 1, problems: [] })
    })
  })

  it('every template is imported as it stands, in the order of the kinds', async () => {
    const empty = await testDatabase()
    for (const kind of kinds) {
      const file = path.join(folder, `${kind.name}.csv`)
      await writeFile(file, templateOf(kind))
      expect(await importFiles(empty.store, [file], options), kind.name).toMatchObject({ created: 2, problems: [] })
    }
    expect(await empty.store.snapshot((db) => listDifferences(db, 10))).toEqual([])
  })
})
