import { readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import pg from 'pg'
import { beforeAll, describe, expect, it } from 'vitest'
import { newestEdition } from '../../../src/iati/mapping/assumptions.js'
import { defaultWriterRole, grantWriterRole } from '../../../src/platform/database/writer-role.js'
import { testApi } from '../../support/api/api.js'
import { runCommandLine } from '../../support/commands/command-line.js'
import { testPublisher } from '../../support/release/publishing.js'
import { type TestDatabase, testDatabase } from '../../support/store/database.js'
import { officialStandard } from '../../support/values/borrowed-files.js'
import { mappingConfig } from '../../support/values/builders.js'
import { temporaryFolder } from '../../support/values/temporary-folder.js'

const lines = (...all: string[]) => `${all.join('\n')}\n`

/** What a platform of its own knows of one project, as files of every kind. */
const files: Readonly<Record<string, string>> = {
  'themes.csv': lines('id,name,sector', 'water,Clean Water,14031'),
  'organizations.csv': lines(
    'id;name;orgRef;orgType;vetted;city;country;countries;themes;url;logoUrl;mission',
    '7;Tara Water Trust;GB-CHC-202918;22;yes;Bo;SL;SL;water;https://tara.example;https://tara.example/logo.png;Safe water.',
  ),
  'funders.ndjson': lines('{"id": 501, "name": "Fund of Lakes", "orgRef": "XM-DAC-1", "orgType": "60"}'),
  'projects.csv': lines(
    'id\ttitle\tstatus\torganization\tsummary\tneed\tactivities\tthemes\tcountries\tregion\tlatitude\tlongitude\tgoal\tapprovedDate\tmodifiedDate\tdeadline\tsdgs\tvideos\tprojectLink',
    [
      ...[
        '101',
        'Wells for Tara',
        'active',
        '7',
        '"Four village wells',
        'in the Bo district."',
        'Water is far.',
        'Drill.',
      ],
      ...[
        'Clean Water',
        'SL:60|GN:40',
        'Africa',
        '7.9647',
        '-11.7383',
        '8000',
        '2026-01-05',
        '2026-10-01',
        '2027-06-30',
      ],
      ...['6.1|13', 'https://platform.example/film', 'https://platform.example/projects/101'],
    ]
      .join('\t')
      .replace('village wells\tin the', 'village wells\nin the'),
  ),
  'payout-plans.csv': lines('reference,project,date,amount,currency', 'P-1,101,2027-03-01,40.00,USD'),
  'disbursements.csv': lines('reference,project,date,amount,currency', 'D-1,101,2026-03-01,18.00,USD'),
  'gifts.csv': lines(
    'project,date,amount,currency,count,funder,reference',
    '101,2026-02-20,1990.00,USD,,,G-1',
    '101,2026-02-11,10.00,USD,,,G-2',
    '101,2026-02-03,5.50,USD,1,501,',
    '101,2026-03-02,-10.00,USD,,,R-1',
  ),
  'images.ndjson': lines(
    '{"project": 101, "position": 0, "id": 0, "original": "https://platform.example/well.jpg", "title": "The well", "consent": true}',
    '{"project": 101, "position": 1, "id": 9001, "original": "https://platform.example/face.jpg", "consent": false}',
  ),
  'reports.atom': `<?xml version="1.0"?><feed xmlns="http://www.w3.org/2005/Atom"><id>https://platform.example/feed</id>
    <title>Reports</title><updated>2026-06-01T09:30:00Z</updated>
    <link rel="alternate" href="https://platform.example/projects/101"/>
    <entry><id>https://platform.example/reports/1</id><title>The pump runs</title><author><name>Tara Water Trust</name></author>
    <published>2026-06-01T09:30:00Z</published><updated>2026-06-02T09:30:00Z</updated>
    <content type="html">&lt;p&gt;Water since Monday.&lt;/p&gt;</content></entry></feed>`,
}

/** The same in plain SQL, by the role that may write the operator's columns. */
const statements = [
  `insert into region values ('Africa')`,
  `insert into country (code, name, region_name) values ('SL', 'Sierra Leone', 'Africa'), ('GN', 'Guinea', null)`,
  `insert into theme (id, name, sector_code) values ('water', 'Clean Water', '14031')`,
  `insert into organisation (id, name, org_ref, org_type, vetted, city, country_code, country_name, url, logo_url, mission)
    values (7, 'Tara Water Trust', 'GB-CHC-202918', '22', true, 'Bo', 'SL', 'Sierra Leone', 'https://tara.example',
      'https://tara.example/logo.png', 'Safe water.'), (501, 'Fund of Lakes', 'XM-DAC-1', '60', false, null, null, null, null, null, null)`,
  `insert into organisation_country values (7, 0, 'SL')`,
  `insert into organisation_theme values (7, 0, 'water')`,
  `insert into project (id, organisation_id, active, status, title, summary, need, activities, theme_name, country_code,
      country_name, region_name, latitude, longitude, goal, funding, remaining, number_of_donations, number_of_reports,
      date_of_most_recent_report, approved_date, modified_date, deadline, project_link, image_link, image_title,
      image_gallery_size)
    values (101, 7, true, 'active', 'Wells for Tara', E'Four village wells\\nin the Bo district.', 'Water is far.', 'Drill.',
      'Clean Water', 'SL', 'Sierra Leone', 'Africa', 7.9647, -11.7383, 8000, 1995.50, 6004.50, 2, 1, '2026-06-01T09:30:00Z',
      '2026-01-05T00:00:00Z', '2026-10-01T00:00:00Z', '2027-06-30', 'https://platform.example/projects/101', null, null, null)`,
  `insert into project_country (project_id, position, country_code, share) values (101, 0, 'SL', 60), (101, 1, 'GN', 40)`,
  `insert into project_theme values (101, 0, 'water')`,
  `insert into project_sdg values (101, '6.1'), (101, '13')`,
  `insert into video values (101, 0, 'https://platform.example/film')`,
  `insert into payout_plan (reference, project_id, planned_on, amount, currency) values ('P-1', 101, '2027-03-01', 40, 'USD')`,
  `insert into disbursement (project_id, reference, disbursed_on, amount, currency) values (101, 'D-1', '2026-03-01', 18, 'USD')`,
  `insert into donation_month (project_id, month, currency, kind, funder_id, amount, count, last_on)
    values (101, '2026-02-01', 'USD', 'gift', null, 2000, 2, '2026-02-20'),
      (101, '2026-02-01', 'USD', 'gift', 501, 5.5, 1, '2026-02-03'),
      (101, '2026-03-01', 'USD', 'refund', null, -10, 1, '2026-03-02')`,
  `insert into photo (project_id, position, wire_id, title, original_url, consent)
    values (101, 0, 0, 'The well', 'https://platform.example/well.jpg', true),
      (101, 1, 9001, null, 'https://platform.example/face.jpg', false)`,
  `insert into progress_report (id, project_id, title, author_name, published_at, updated_at, content_html, url)
    values (1, 101, 'The pump runs', 'Tara Water Trust', '2026-06-01T09:30:00Z', '2026-06-02T09:30:00Z',
      '<p>Water since Monday.</p>', 'https://platform.example/reports/1')`,
]

const standard = officialStandard('the official schema over what an own platform publishes')

/** Everything that the service says of the platform after its data came in by a door. */
async function published(fill: (database: TestDatabase) => Promise<void>) {
  const database = await testDatabase()
  const { store } = database
  await fill(database)
  const publisher = await testPublisher(store, { mappingConfig: { ...mappingConfig, edition: newestEdition } })
  expect(await publisher.publish()).toMatchObject({ state: 'published', held: 0 })
  const api = await testApi(store)
  const read = async (address: string) => {
    const answer = await api.app.inject(`/api/public/${address}?api_key=${api.apiKey}`)
    expect(answer.statusCode, address).toBe(200)
    return answer.body
  }
  const service = (name: string) => Promise.all([read(`${name}.json`), read(`${name}.xml`)])
  return {
    project: await service('projectservice/projects/101'),
    images: await service('projectservice/projects/101/imagegallery'),
    organization: await service('orgservice/organization/7'),
    vetted: await service('orgservice/all/organizations/vetted'),
    ofTheme: await service('projectservice/themes/water/projects'),
    reports: await service('projectservice/projects/101/reports'),
    activities: await publisher.read('/iati/activities.xml'),
    feed: await publisher.read('/feeds/projects/101/reports.atom'),
  }
}

describe('what a platform of its own has', () => {
  let folder: string
  let byFiles: Awaited<ReturnType<typeof published>>
  let bySql: Awaited<ReturnType<typeof published>>
  beforeAll(async () => {
    folder = await temporaryFolder()
    byFiles = await published(async ({ url }) => {
      for (const [name, text] of Object.entries(files)) {
        const file = path.join(folder, name)
        await writeFile(file, text)
        const environment = { DATABASE_URL: url, GIVING_DATA_DIR: path.join(folder, 'data'), LOG_LEVEL: 'silent' }
        const { code, stdout, stderr } = await runCommandLine(['import', file, '--json'], environment)
        expect([code, JSON.parse(stdout).problems, stderr], name).toEqual([0, [], ''])
      }
    })
    bySql = await published(async ({ store, url }) => {
      const platform = new pg.Client({ connectionString: url })
      await platform.connect()
      await grantWriterRole(store.db, defaultWriterRole, new Date())
      await platform.query(`set role ${defaultWriterRole}`)
      for (const statement of statements) await platform.query(statement)
      await platform.end()
    })
  })

  const facts = {
    project: [
      ...['Wells for Tara', 'Four village wells', 'Water is far.', 'Tara Water Trust', 'Clean Water', '7.9647'],
      ...['1995.50', '6004.50', '2026-10-01T', 'https://platform.example/film', 'well.jpg'],
    ],
    images: ['The well', 'face.jpg'],
    organization: ['Bo', 'https://tara.example/logo.png', 'Safe water.'],
    vetted: ['Tara Water Trust'],
    ofTheme: ['Wells for Tara'],
    reports: ['The pump runs', 'Water since Monday.', 'https://platform.example/reports/1'],
  } as const

  it.each([
    ['files of every kind', () => byFiles],
    ['plain SQL', () => bySql],
  ])('is in the API, in IATI and in Atom when it came by %s', async (_door, said) => {
    for (const [name, texts] of Object.entries(facts)) {
      for (const body of said()[name as keyof typeof facts]) {
        for (const text of texts) expect(body.includes(text.replace(/0$/, '')), `${name}: ${text}`).toBe(true)
      }
    }
    const { activities, feed } = said()
    for (const fact of [
      'US-EIN-123456789-101</iati-identifier>',
      '<narrative>Wells for Tara</narrative>',
      'ref="GB-CHC-202918"',
      'ref="XM-DAC-1"',
      '<recipient-country code="SL" percentage="60.00"',
      '<recipient-country code="GN" percentage="40.00"',
      '<pos>7.9647 -11.7383</pos>',
      'code="14031"',
      'code="6.1"',
      'code="13"',
      'iso-date="2027-06-30"',
      '>5387.45<',
      '>2612.55<',
      '>2000.00<',
      '>5.50<',
      '>-10.00<',
      '>18.00<',
      '>40.00<',
      'https://platform.example/well.jpg',
      'https://platform.example/reports/1',
    ]) {
      expect(activities.includes(fact), fact).toBe(true)
    }
    expect(activities).not.toContain('face.jpg')
    for (const fact of ['The pump runs', 'Water since Monday.', 'Tara Water Trust']) expect(feed).toContain(fact)
  })

  it('is the same whichever door it came by', () => {
    expect(byFiles).toEqual(bySql)
  })

  it('is what giving try shows of the files, without a store', async () => {
    const out = path.join(folder, 'out.xml')
    const { code, stdout, stderr } = await runCommandLine(
      ['try', ...Object.keys(files).map((name) => path.join(folder, name)), '--out', out, '--json'],
      {
        ...{ REPORTING_ORG_NAME: 'Example Giving', REPORTING_ORG_TYPE: '21', REPORTING_ORG_REF: 'US-EIN-123456789' },
        ...{ BASE_URL: 'https://giving.example', DATABASE_URL: 'postgres://giving@127.0.0.1:1/giving' },
      },
    )
    // The files name their theme by its name.
    expect([code, stderr], stdout).toEqual([0, expect.stringMatching(/^\S+projects\.csv is read by a guess, .*\n$/)])
    expect(JSON.parse(stdout)).toMatchObject({ created: 13, refused: 0, verdict: { publishable: 1, held: 0 } })
    const untimed = (text: string) => text.replace(/(?:generated|last-updated)-datetime="[^"]*"/g, '').trim()
    const tried = await readFile(out, 'utf8')
    expect(tried).not.toContain('US-EIN-123456789')
    expect(untimed(tried)).toBe(untimed(byFiles.activities).replaceAll('US-EIN-123456789', 'XE-EXAMPLE-INVENTED'))
  })

  it.skipIf(!standard)('is valid by the official schema and all rules', async () => {
    const file = path.join(folder, 'activities.xml')
    await writeFile(file, byFiles.activities)
    const checked = await runCommandLine(['validate', file, '--strict'], { IATI_STANDARD_DIR: standard })
    expect([checked.code, checked.stdout, checked.stderr]).toEqual([
      0,
      expect.stringContaining(': 0 errors, 0 warnings'),
      '',
    ])
  })
})

it('messy files of three countries become what they say', async () => {
  const { store, url } = await testDatabase()
  const folder = await temporaryFolder()
  const uuids = ['0f8fad5b-d9cb-469f-a165-70867728950e', '7c9e6679-7425-40de-944b-e07fc1f90ae7']
  const long = 'Ü'.repeat(500)
  const importing = async (name: string, content: string | Buffer, ...options: string[]) => {
    const file = path.join(folder, name)
    await writeFile(file, content)
    const environment = { DATABASE_URL: url, GIVING_DATA_DIR: path.join(folder, 'data'), LOG_LEVEL: 'silent' }
    const { stdout } = await runCommandLine(['import', file, '--json', ...options], environment)
    return JSON.parse(stdout) as { created: number; refused: number; problems: object[] }
  }
  const rows = [`${uuids[0]};${long};active`, `${uuids[1]};مياه نظيفة للجميع;active`]
  expect(
    await importing('projects.csv', `\uFEFF${['externalId;title;status', ...rows, ''].join('\r\n')}`),
  ).toMatchObject({
    ...{ created: 2, refused: 0, problems: [] },
  })
  const german = `project;date;amount;currency;reference\n${uuids[0]};31.01.2026;"1.234,50";USD;Müller-1\n`
  const windows = Buffer.from(german, 'latin1')
  const inGerman = ['--decimal', 'comma', '--date', 'dd.mm.yyyy', '--encoding', 'windows-1252'] as const
  expect(await importing('gifts-de.csv', windows, ...inGerman)).toMatchObject({ created: 1, problems: [] })
  // In this encoding the first sign is the first byte of a byte order mark.
  const marked = Buffer.from(german.replace('project', 'ïd'), 'latin1')
  expect(await importing('gifts-mark.csv', marked, ...inGerman, '--map', 'ïd=project')).toMatchObject({
    ...{ unchanged: 1, problems: [] },
  })
  const head = 'project,date,amount,currency,reference\n'
  const american = `${head}${uuids[1]},12/31/2025,"2,000.25",USD,A-1\n${uuids[1]},12/31/2025,"2,000.25",USD,A-1\n`
  expect(await importing('gifts-us.csv', american, '--decimal', 'point', '--date', 'mm/dd/yyyy')).toMatchObject({
    ...{ created: 1, problems: [{ line: 3, field: 'reference', expected: expect.stringContaining('line 2') }] },
  })
  const british = `${head}${uuids[1]},05/02/2026,10.00,USD,B-1\n`
  expect(await importing('gifts-gb.csv', british, '--date', 'dd/mm/yyyy')).toMatchObject({ created: 1, problems: [] })
  const { rows: stored } = await store.db.query(
    `select p.external_id as id, p.title, p.funding::float as funding,
        (select string_agg(last_on::text, ' ' order by last_on) from donation_month where project_id = p.id) as days
      from project p order by p.external_id`,
  )
  expect(stored).toEqual([
    { id: uuids[0], title: long, funding: 1234.5, days: '2026-01-31' },
    { id: uuids[1], title: 'مياه نظيفة للجميع', funding: 2010.25, days: '2025-12-31 2026-02-05' },
  ])
  const publisher = await testPublisher(store)
  expect(await publisher.publish()).toMatchObject({ state: 'published', held: 0 })
  const activities = await publisher.read('/iati/activities.xml')
  for (const fact of [long, 'مياه نظيفة للجميع', '>1234.50<', '>2000.25<', '>10.00<'])
    expect(activities).toContain(fact)
})
