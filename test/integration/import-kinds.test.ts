import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { CurrencyCode } from '../../src/domain/money.js'
import { type ImportOptions, importFiles } from '../../src/import/import.js'
import type { Store } from '../../src/store/store.js'
import { testDatabase } from '../support/database.js'

let store: Store
let folder: string

beforeAll(async () => {
  ;({ store } = await testDatabase())
  folder = await mkdtemp(path.join(tmpdir(), 'giving-kinds-'))
})
afterAll(async () => await rm(folder, { recursive: true, force: true }))

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
  expect(await importing(name, text)).toMatchObject({ created: 0, changed: 0, refused: 0 })
  expect(await versions()).toEqual(before)
}

describe('themes, organizations and funders', () => {
  const themes = lines('id,name,sector', 'bees,Bees,31194', 'water,,')
  const organizations = lines(
    'id;name;orgRef;orgType;vetted;country;themes;countries;logoUrl',
    '7;Tara Water Trust;GB-CHC-202918;22;yes;SL;water|Bees;SL|GN;https://tara.example/logo.png',
    '8;"Gulu\r\nSchools";;;no;UG;education;UG;',
  )
  const funders = lines('{"id": 501, "name": "Fund of Lakes", "orgRef": "XM-DAC-1", "orgType": "60", "country": "CH"}')

  it('are created, and not touched by the same files', async () => {
    expect(await importing('themes.csv', themes)).toMatchObject({ created: 2, refused: 0, problems: [] })
    expect(await importing('organizations.csv', organizations)).toMatchObject({ created: 2, problems: [] })
    expect(await importing('funders.ndjson', funders)).toMatchObject({ created: 1, problems: [] })
    expect(await rows('select id, name, sector_code from theme order by id')).toEqual([
      { id: 'bees', name: 'Bees', sector_code: '31194' },
      { id: 'edu', name: 'Education', sector_code: '11220' },
      { id: 'water', name: 'Clean Water', sector_code: '14031' },
    ])
    expect(
      await rows(`select id, name, org_ref, org_type, vetted, country_name, source,
        array(select theme_id from organisation_theme where organisation_id = id order by position) as themes
        from organisation order by id`),
    ).toMatchObject([
      { id: 7, org_ref: 'GB-CHC-202918', org_type: '22', vetted: true, themes: ['water', 'bees'] },
      { id: 8, name: 'Gulu\r\nSchools', org_ref: null, vetted: false, themes: ['edu'], country_name: 'Uganda' },
      { id: 501, name: 'Fund of Lakes', org_ref: 'XM-DAC-1', country_name: 'Switzerland', source: 'import' },
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
      { vetted: false, country_code: null },
      { vetted: false, country_code: 'CH' },
    ])
    expect(await rows(`select name, sector_code from theme where id = 'bees'`)).toEqual([
      { name: 'Wild Bees', sector_code: '31194' },
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
        organisation_id: 7,
        goal: '8000.000',
        funding: '0.000',
        remaining: '8000.000',
        deadline: '2027-06-30',
        location_precision: 'country',
        source: 'import',
        country_code: 'SL',
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
        organisation_id: 8,
        goal: '12500.000',
        funding: '12500.000',
        remaining: '0.000',
        deadline: null,
        location_precision: 'point',
        source: 'import',
        country_code: 'KE',
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
      { project_id: 101 },
    ])
    expect(
      await rows(`select title, funding, remaining, number_of_reports,
        (select count(*) from photo where project_id = 101 and consent) as photos from project where id = 101`),
    ).toEqual([{ title: 'Deep wells', funding: '40.000', remaining: '8960.000', number_of_reports: 3, photos: 1 }])
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
      { receiver_id: 501, amount: '50.000' },
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

  it('of organisations in the wire format go through the same door', async () => {
    const record = { id: 70, name: 'Wire Trust', vetted: true, iati: { ref: 'GB-CHC-70', type: '22' } }
    const json = JSON.stringify({ organizations: { organization: [record] } })
    expect(await importing('page.json', json)).toMatchObject({ created: 1, problems: [] })
    const xml = `<?xml version="1.0"?>\n<organizations><organization><id>70</id><name>Wire Trust</name></organization></organizations>`
    expect(await importing('page.xml', xml)).toMatchObject({ changed: 1, problems: [] })
    expect(await rows('select org_ref, org_type from organisation where id = 70')).toEqual([
      { org_ref: 'GB-CHC-70', org_type: '22' },
    ])
  })
})
