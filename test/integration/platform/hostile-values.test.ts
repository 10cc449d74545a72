import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { defaultWriterRole, grantWriterRole } from '../../../src/platform/database/writer-role.js'
import { createBulkReader } from '../../../src/release/bulk/bulk-reader.js'
import { createReleaseReader } from '../../../src/release/read/release-reader.js'
import { type TestApi, testApi } from '../../support/api.js'
import { runCommandLine } from '../../support/command-line.js'
import { type TestDatabase, testDatabase } from '../../support/database.js'
import { type Publisher, testPublisher } from '../../support/publishing.js'
import { filesOf, openTables, rowsOf } from '../../support/table-reader.js'
import { temporaryFolder } from '../../support/temporary-folder.js'

/** Rows of every table that the role may write: those of project 1 are changed, project 2 is the other one. */
const rows = [
  `insert into region values ('Africa')`,
  `insert into country (code, name, region_name) values ('SL', 'Sierra Leone', 'Africa')`,
  `insert into theme (id, name, sector_code) values ('water', 'Clean Water', '14031')`,
  `insert into theme_alias (name, theme_id) values ('Water', 'water')`,
  `insert into organisation (id, name, org_ref, url, country_code, country_name) values
    (7, 'Tara Water Trust', 'GB-CHC-202918', 'https://tara.example', 'SL', 'Sierra Leone'), (8, 'Lakes', null, null, null, null)`,
  `insert into organisation_country values (7, 0, 'SL')`,
  `insert into organisation_theme values (7, 0, 'water')`,
  ...[1, 2].flatMap((id) => [
    `insert into project (id, organisation_id, active, status, title, summary, goal, funding, number_of_donations,
        approved_date, modified_date, deadline, latitude, longitude, project_link)
      values (${id}, ${id === 1 ? 7 : 8}, true, 'active', 'Wells ${id}', 'Four wells', 8000, 25, 1, '2026-01-05', '2026-03-01',
        '2027-06-30', 7.96, -11.74, 'https://platform.example/projects/${id}')`,
    `insert into project_country (project_id, position, country_code) values (${id}, 0, 'SL')`,
    `insert into project_theme values (${id}, 0, 'water')`,
    `insert into project_sdg values (${id}, '6.1')`,
    `insert into donation_option values (${id}, 0, 25, 'buys tools')`,
    `insert into video values (${id}, 0, 'https://platform.example/film')`,
    `insert into photo (project_id, position, wire_id, original_url, consent)
      values (${id}, 0, 0, 'https://platform.example/well.jpg', true)`,
    `insert into donation_month (project_id, month, currency, kind, amount, count, last_on)
      values (${id}, '2026-02-01', 'USD', 'gift', 25, 1, '2026-02-20')`,
    `insert into disbursement (project_id, reference, disbursed_on, amount, currency)
      values (${id}, 'D-${id}', '2026-03-01', 18, 'USD')`,
    `insert into payout_plan (reference, project_id, planned_on, amount, currency)
      values ('P-${id}', ${id}, '2027-03-01', 40, 'USD')`,
    `insert into progress_report (id, project_id, title, published_at, updated_at, content_html, url)
      values (${id}, ${id}, 'The pump runs', '2026-06-01', '2026-06-02', '<p>Water.</p>', 'https://platform.example/reports/${id}')`,
    `insert into report_image values (${id}, 0, 'https://platform.example/pump.jpg', 'image/jpeg')`,
  ]),
]

/** The row of each table that a value is written into. */
const rowOf: Readonly<Record<string, string>> = {
  country: `code = 'SL'`,
  disbursement: `reference = 'D-1'`,
  organisation: 'id = 7',
  organisation_country: 'organisation_id = 7',
  organisation_theme: 'organisation_id = 7',
  payout_plan: `reference = 'P-1'`,
  progress_report: 'id = 1',
  project: 'id = 1',
  region: `name = 'Africa'`,
  report_image: 'report_id = 1',
  theme: `id = 'water'`,
  theme_alias: `name = 'Water'`,
}

/** Values for columns of numbers, days and instants, which are no values of these types. */
const noNumbersAndDays: Readonly<Record<string, string>> = {
  NaN: 'NaN',
  Infinity: 'Infinity',
  '-Infinity': '-Infinity',
  'before Christ': '0044-03-15 BC',
  'year 10000': '10000-01-01',
  '10^30': '1e30',
  text: 'javascript:alert(1)',
}

/** Values for columns of texts. */
const hostileTexts: Readonly<Record<string, string>> = {
  '2 MB': 'x'.repeat(2_000_000),
  NUL: 'a\0b',
  'a script with a lone surrogate': 'java\tscript:alert(1)\ud800',
}

/** Values of which each constraint refuses one. */
const wrongValues = ['-1', '0', '0.5', '', 'x', '2026-02-03', '1950-01-01', 'NaN', '200']

/** A value as SQL has it; what is long and of one letter is made by the server. */
function inSql(value: string): string {
  return value.length > 100_000 ? `repeat('${value[0]}', ${value.length})` : pg.escapeLiteral(value)
}

/** Whether a row is known by this column. */
function isKey(row: string, { column }: { readonly column: string }): boolean {
  return row.startsWith(`${column} =`)
}

describe('a hostile value, written by the role into', async () => {
  const database: TestDatabase = await testDatabase()
  const { store } = database
  let publisher: Publisher
  let platform: pg.Client
  let api: TestApi

  await grantWriterRole(store.db, defaultWriterRole, new Date())
  const { rows: columns } = await store.db.query<{ table: string; column: string; isText: boolean }>(
    `select g.table_name as "table", g.column_name as "column", c.data_type = 'text' as "isText"
      from information_schema.role_column_grants g
        join information_schema.columns c using (table_schema, table_name, column_name)
      where g.grantee = $1 and g.privilege_type = 'UPDATE' and g.table_schema = current_schema()
      order by 1, 2`,
    [defaultWriterRole],
  )
  const tables = new Map<string, typeof columns>()
  for (const one of columns) tables.set(one.table, [...(tables.get(one.table) ?? []), one])

  beforeAll(async () => {
    platform = new pg.Client({ connectionString: database.url })
    await platform.connect()
    await platform.query(`set role ${defaultWriterRole}`)
    for (const statement of rows) await platform.query(statement)
    publisher = await testPublisher(store)
    api = await testApi(store)
    expect(await publisher.publish()).toMatchObject({ state: 'published', held: 0 })
  })
  afterAll(() => platform.end())

  /** Every answer that has both projects. */
  const answers = async () => {
    const texts: string[] = []
    for (const address of [
      'projectservice/all/projects',
      'projectservice/featured/projects',
      'projectservice/all/projects/summary',
      'orgservice/all/organizations',
    ]) {
      for (const form of ['json', 'xml']) {
        const answer = await api.app.inject(`/api/public/${address}.${form}?api_key=${api.apiKey}`)
        expect(answer.statusCode, address).toBe(200)
        texts.push(answer.body)
      }
    }
    return texts.join('\n')
  }

  /** Writes a value into a column of the rows of project 1; undefined when it was taken, else the refusal. */
  const write = async (table: string, column: string, value: string, place: string) =>
    await platform.query(`update ${table} set ${column} = ${inSql(value)} where ${place}`).then(
      ({ rowCount }) => void expect(rowCount, `${table}.${column}`).toBe(1),
      (error: Error) => error.message,
    )

  it.each([...tables.keys()])('numbers and days of %s is refused with a clear message', async (table) => {
    for (const { column, isText } of tables.get(table) ?? []) {
      if (isText) continue
      for (const [name, value] of Object.entries(noNumbersAndDays)) {
        const refusal = await write(table, column, value, rowOf[table] ?? 'project_id = 1')
        expect(refusal, `${table}.${column}: ${name}`).toMatch(/\w+ \w+ \w+/)
      }
    }
  })

  it.each(Object.entries(hostileTexts))(
    'every text, which is %s, is refused with a clear message, or concerns this project at most',
    async (name, value) => {
      const taken: { readonly column: string; readonly putBack: () => Promise<unknown> }[] = []
      for (const [table, all] of tables) {
        const row = rowOf[table] ?? 'project_id = 1'
        // A column that the row is known by comes last: the others are written where it still has its value.
        const texts = all.filter(({ isText }) => isText).sort((a, b) => Number(isKey(row, a)) - Number(isKey(row, b)))
        for (const { column } of texts) {
          const what = `${table}.${column}`
          const { rows: before } = await platform.query<object>(
            `select ${column}::text as value from ${table} where ${row}`,
          )
          const hostile = value.replace('(1)', `(${what})`)
          const refusal = await write(table, column, hostile, row)
          if (refusal !== undefined) {
            expect(refusal, `${what}: ${name}`).toMatch(/\w+ \w+ \w+/)
            continue
          }
          const place = isKey(row, { column })
            ? `${column} = ${pg.escapeLiteral(Buffer.from(hostile).toString())}`
            : row
          const values = before.map((one) => (one as { value: unknown }).value)
          taken.push({
            column: what,
            putBack: () => platform.query(`update ${table} set ${column} = $1 where ${place}`, values),
          })
        }
      }
      // One publication for all that were taken, which are found by their names.
      expect((await publisher.publish()).state, taken.map(({ column }) => column).join()).toMatch(
        /^(?:published|unchanged)$/,
      )
      const texts = [
        await publisher.read('/iati/activities.xml'),
        await publisher.read('/feeds/reports.atom'),
        await publisher.read('/iati/organisations.xml'),
        await answers(),
      ]
      for (const text of [texts[0], texts[3]]) expect(text?.includes('Wells 2')).toBe(true)
      for (const { column } of taken.filter((one) => /url|link|documentation/.test(one.column))) {
        const script = new RegExp(`java\\s*script:alert\\(${column}`, 'i')
        expect([column, texts.some((text) => script.test(text))]).toEqual([column, false])
      }
      const held = await store.db.query(`select project_id from rendering where verdict = 'held' and project_id <> 1`)
      expect(held.rows).toEqual([])
      for (const { putBack } of taken.reverse()) await putBack()
      if (name.startsWith('a script')) expect(taken.length).toBeGreaterThan(10)
      expect(await publisher.publish()).toMatchObject({ held: 0 })
    },
    60_000,
  )

  it('is refused in words that name column, what is expected and what came', async () => {
    const refusals: readonly (readonly [statement: string, message: string])[] = [
      [`update project set goal = 'NaN' where id = 1`, 'project.goal: expected a number, got NaN'],
      [
        `update project set deadline = 'infinity' where id = 1`,
        'project.deadline: expected a day from 1900-01-01 to 9999-12-31, got infinity',
      ],
      [
        `update project set approved_date = '0044-03-15 BC' where id = 1`,
        'project.approved_date: expected a day from 1900-01-01 to 9999-12-31, got 0044-03-15',
      ],
      [
        `update project set modified_date = now() + interval '3 days' where id = 1`,
        'project.modified_date: expected a day that is not in the future, got',
      ],
      [
        `update project set approved_date = '2300-01-01' where id = 1`,
        'project.approved_date: expected a day until 20',
      ],
      [
        `update project set project_link = 'javascript:alert(1)' where id = 1`,
        'project.project_link: expected an address that begins with http:// or https://, got javascript:alert(1)',
      ],
      [
        `update project set summary = repeat('x', 100001) where id = 1`,
        'project.summary: expected at most 100000 characters, got xxx',
      ],
      [`update project set source = 'upstream' where id = 1`, 'project.source: expected local'],
      [
        `update donation_month set month = '2099-02-01', last_on = '2099-02-20' where project_id = 1`,
        'donation_month.month: expected a day that is not in the future, got 2099-02-01',
      ],
      [
        `update disbursement set disbursed_on = '2099-02-01' where reference = 'D-1'`,
        'disbursement.disbursed_on: expected a day that is not in the future, got 2099-02-01',
      ],
      [
        `update disbursement set currency = 'XYZ' where reference = 'D-1'`,
        'disbursement.currency: expected a currency code of ISO 4217, got XYZ',
      ],
      [
        `update disbursement set currency = 'EUR' where reference = 'D-1'`,
        'disbursement.currency: expected USD, the currency of this store, got EUR',
      ],
    ]
    for (const [statement, message] of refusals) await expect(platform.query(statement)).rejects.toThrow(message)
  })

  it('is refused in words wherever a constraint refuses it', async () => {
    const { rows: constraints } = await store.db.query<{ table: string; name: string; columns: string[] }>(
      `select c.conrelid::regclass::text as "table", c.conname as name,
          array(select attname from pg_attribute where attrelid = c.conrelid and attnum = any (c.conkey))::text[] as columns
        from pg_constraint c
        where c.contype = 'c' and c.connamespace = current_schema()::regnamespace
          and has_any_column_privilege($1, c.conrelid, 'update')`,
      [defaultWriterRole],
    )
    const ofService = ['project_operator_state_check', 'project_original_goal_check']
    expect(constraints.length).toBeGreaterThan(40)
    for (const { table, name, columns: constrained } of constraints) {
      if (ofService.includes(name)) continue
      const row = rowOf[table] ?? 'project_id = 1'
      const messages: string[] = []
      for (const column of constrained) {
        for (const value of wrongValues) {
          await platform.query('begin')
          const message = await platform.query(`update ${table} set ${column} = $1 where ${row}`, [value]).then(
            () => '',
            (error: Error) => error.message,
          )
          await platform.query('rollback')
          expect(message, `${table}.${column} = ${value}`).not.toContain('violates check constraint')
          if (message.startsWith(`${table}.${column}: expected `)) messages.push(message)
        }
      }
      expect(messages, name).not.toEqual([])
    }
  })

  it('is refused where it would change what is booked or came from elsewhere', async () => {
    await store.db.query(`update donation_month set itemised = 20 where project_id = 1`)
    for (const statement of [
      'delete from donation_month where project_id = 1',
      'update donation_month set amount = 19 where project_id = 1',
      `update donation_month set month = '2026-01-01', last_on = '2026-01-20' where project_id = 1`,
    ]) {
      await expect(platform.query(statement)).rejects.toThrow(
        'donation_month: expected a row without donations that were made here, got one with 20.000 booked',
      )
    }
    await platform.query('update donation_month set amount = 26 where project_id = 1')
    await store.db.query(`update disbursement set source = 'import' where reference = 'D-1'`)
    for (const statement of [
      `delete from disbursement where reference = 'D-1'`,
      `update disbursement set amount = 1 where reference = 'D-1'`,
    ]) {
      await expect(platform.query(statement)).rejects.toThrow(
        'disbursement: expected a row of source local, got one of source import, which this role cannot change',
      )
    }
    await store.db.query(`update disbursement set source = 'local' where reference = 'D-1'`)
  })

  it('that the service itself has stored holds its project and no other', async () => {
    await store.db.query(`update project set approved_date = '0044-03-15 BC', deadline = null where id = 1`)
    expect(await publisher.publish()).toMatchObject({ state: 'published', held: 1 })
    const published = await publisher.read('/iati/activities.xml')
    for (const title of ['Wells 1', 'Wells 2']) expect(published.includes(title), title).toBe(true)
    expect(await answers()).toContain('Wells 2')
    const folder = await temporaryFolder()
    const environment = { DATABASE_URL: database.url, GIVING_DATA_DIR: folder, LOG_LEVEL: 'silent' }
    const { stdout } = await runCommandLine(['held'], environment)
    expect(stdout).toContain('1  US-EIN-123456789-1: its last valid text stays published')
    expect(stdout).toContain('render-failed  A value of the project is one that no activity can be made from.')
    expect(stdout).toMatch(
      /\/iati-activity\/activity-date: approvedDate: expected a time from 1000-01-01 to 9999-12-31, got /,
    )
    await store.db.query(`update project set approved_date = '2026-01-05' where id = 1`)
    expect(await publisher.publish()).toMatchObject({ held: 0 })
  })
})

/** Values that a store may have got before there were rules, or from a damaged backup; each in one row of project 1. */
const hostileRows: Readonly<Record<string, string>> = {
  'a goal that is no number': `update project set goal = 'NaN' where id = 1`,
  'a total that is no number': `update project set funding = 'NaN', remaining = 'NaN' where id = 1`,
  'a day before Christ': `update project set approved_date = '0044-03-15 BC' where id = 1`,
  'a change at the end of time': `update project set modified_date = 'infinity' where id = 1`,
  'a deadline without end': `update project set deadline = 'infinity' where id = 1`,
  'a place that is no number': `update project set latitude = 'NaN' where id = 1`,
  'a title that XML cannot have': `update project set title = E'Wells\\u0001\\uFFFE' where id = 1`,
  'a gift that is no number': `update donation_month set amount = 'NaN' where project_id = 1`,
  'a month of the year 20000': `update donation_month set month = '20000-02-01', last_on = '20000-02-20' where project_id = 1`,
  'a payout that is no number': `update disbursement set amount = 'NaN' where project_id = 1`,
  'a payout without a day': `update disbursement set disbursed_on = '-infinity' where project_id = 1`,
  'a plan that is no number': `update payout_plan set amount = 'NaN' where project_id = 1`,
  'a plan without a day': `update payout_plan set planned_on = 'infinity' where project_id = 1`,
  'a report at the end of time': `update progress_report set published_at = 'infinity', updated_at = 'infinity' where id = 1`,
  'a report before Christ': `update progress_report set published_at = '0044-03-15 BC', updated_at = '0044-03-15 BC' where id = 1`,
  'a report with letters that XML cannot have': `update progress_report set title = E'\\u0001', content_html = E'\\uFFFF' where id = 1`,
  'an organization with such letters': `update organisation set name = E'Tara\\u0002', ein = E'\\u0001' where id = 7`,
  'an organization whose address is a script': `update organisation set url = 'javascript:x', logo_url = 'javascript:x' where id = 7`,
  'a share that is no number': `update project_country set share = 'NaN' where project_id = 1`,
  'an option that is no number': `update donation_option set amount = 'NaN' where project_id = 1`,
}

describe('one row with values that the rules of the database refuse, in a store without these rules:', async () => {
  const { store } = await testDatabase()
  let publisher: Publisher
  let api: TestApi
  let copies: readonly string[] = []

  beforeAll(async () => {
    for (const statement of rows) await store.db.query(statement)
    await store.db.query(`update organisation set org_ref = 'GB-CHC-202919' where id = 8`)
    const { rows: rules } = await store.db.query<{ table: string; name: string }>(
      `select conrelid::regclass::text as "table", conname as name from pg_constraint
        where contype = 'c' and conrelid <> 0 and connamespace = current_schema()::regnamespace`,
    )
    for (const { table, name } of rules) await store.db.query(`alter table ${table} drop constraint ${name}`)
    copies = [...new Set(Object.values(hostileRows).map((one) => one.split(' ')[1] ?? ''))]
    for (const table of copies) await store.db.query(`create table copy_of_${table} as select * from ${table}`)
    publisher = await testPublisher(store)
    api = await testApi(store, {
      releases: createReleaseReader(publisher.feedsDir),
      bulk: createBulkReader(publisher.feedsDir),
    })
    expect(await publisher.publish()).toMatchObject({ state: 'published', held: 0 })
  })

  /** What of project 2, its organisation and its report is nowhere to be found, by the door that should have it. */
  const missing = async (): Promise<string[]> => {
    const { manifest } = await publisher.live()
    const [key, found] = [`api_key=${api.apiKey}`, [] as string[]]
    const expectIn = (door: string, text: string, wanted: string) => {
      if (!text.includes(wanted)) found.push(`${door}: ${text.slice(0, 200)}`)
    }
    for (const form of ['json', 'xml']) {
      for (const list of [
        'all/projects',
        'featured/projects',
        'all/projects/summary',
        'countries/SL/projects',
        'themes/water/projects',
      ]) {
        const address = `/api/public/projectservice/${list}.${form}?${key}`
        expectIn(address, (await api.app.inject(address)).body, 'Wells 2')
      }
      const address = `/api/public/orgservice/all/organizations.${form}?${key}`
      expectIn(address, (await api.app.inject(address)).body, 'Lakes')
    }
    for (const [list, wanted] of [
      ['projectservice/all/projects', 'Wells 2'],
      ['orgservice/all/organizations', 'Lakes'],
    ] as const) {
      const address = `/api/public/${list}/download.xml?${key}`
      const { body } = await api.app.inject(address)
      const [, file = ''] = />https?:\/\/[^/]+(\/[^<]+)</.exec(body) ?? []
      expectIn(address, file === '' ? body : (await api.app.inject(file.replaceAll('&amp;', '&'))).body, wanted)
    }
    for (const page of ['/', '/projects', '/projects/2', '/countries/SL', '/themes/water', '/quality', '/changes']) {
      const { statusCode, body } = await api.app.inject(page)
      if (statusCode >= 500) found.push(`${page}: ${statusCode}`)
      if (/projects|countries|themes/.test(page)) expectIn(page, body, 'Wells 2')
    }
    for (const [file, wanted] of [
      ['/iati/activities.xml', 'Wells 2'],
      ['/iati/organisations.xml', 'GB-CHC-202919'],
      ['/feeds/reports.atom', 'reports/2'],
      ['/data/activities.csv', 'Wells 2'],
    ] as const) {
      const path = manifest.files.find((one) => one.path.replace(/-\d+(?=\.)/, '') === file)?.path ?? file
      expectIn(file, await publisher.read(path).catch(String), wanted)
    }
    const duck = await openTables()
    try {
      const { parquet } = await filesOf(publisher, 'activities')
      const titles = await rowsOf(duck, `select * from ${parquet}`)
      expectIn('activities.parquet', JSON.stringify(titles), 'Wells 2')
    } finally {
      duck.closeSync()
    }
    return found
  }

  it('is not there: every door has project 2', async () => {
    expect(await missing()).toEqual([])
  })

  it.each(Object.entries(hostileRows))('%s', async (_, statement) => {
    await store.db.query(statement)
    try {
      const run = await publisher.publish({ force: true })
      expect(run, JSON.stringify(run.error)).toMatchObject({
        state: expect.stringMatching(/^(?:published|unchanged)$/),
      })
      expect(await missing()).toEqual([])
      const { rows: others } = await store.db.query(
        `select project_id from rendering where verdict = 'held' and project_id <> 1`,
      )
      expect(others).toEqual([])
      const texts = [await publisher.read('/iati/activities.xml'), await publisher.read('/iati/organisations.xml')]
      expect(texts.filter((text) => /NaN|nfinity|javascript:/.test(text))).toEqual([])
    } finally {
      const table = statement.split(' ')[1] ?? ''
      const { rows: columns } = await store.db.query<{ name: string }>(
        `select column_name as name from information_schema.columns
          where table_schema = current_schema() and table_name = $1 and is_generated = 'NEVER' and is_identity = 'NO'`,
        [table],
      )
      const changed = columns
        .map(({ name }) => name)
        .filter((name) => statement.includes(`${name} =`) && !/^(?:id|project_id)$/.test(name))
      const key = /(\w+ = \d+)$/.exec(statement)?.[1] ?? ''
      await store.db.query(
        `update ${table} set ${changed.map((name) => `${name} = (select ${name} from copy_of_${table} where ${key})`).join(', ')} where ${key}`,
      )
    }
  })
})

describe('a deadline that stands for no end, in one row of a file', () => {
  it('is no deadline, with a notice, and nothing is held', async () => {
    const { store, url } = await testDatabase()
    const folder = await temporaryFolder()
    const file = path.join(folder, 'projects.csv')
    const lines = ['id,title,status,goal,approvedDate,deadline', '1,Wells 1,active,100,2026-01-05,9999-12-31']
    await writeFile(file, `${[...lines, '2,Wells 2,active,100,2026-01-05,2027-06-30'].join('\n')}\n`)
    const environment = { DATABASE_URL: url, GIVING_DATA_DIR: folder, LOG_LEVEL: 'silent' }
    expect((await runCommandLine(['import', file], environment)).code).toBe(0)
    const publisher = await testPublisher(store)
    expect(await publisher.publish()).toMatchObject({ state: 'published', held: 0 })
    const published = await publisher.read('/iati/activities.xml')
    expect(published.match(/<budget /g)).toHaveLength(3)
    expect(published).not.toContain('9999')
    const { rows: told } = await store.db.query(
      `select project_id from rendering where notice_counts ? 'deadline-unusable'`,
    )
    expect(told).toEqual([{ project_id: 1 }])
  })
})
