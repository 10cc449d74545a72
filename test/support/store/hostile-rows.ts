import pg from 'pg'
import { expect } from 'vitest'
import { defaultWriterRole, grantWriterRole } from '../../../src/platform/database/writer-role.js'
import { createReleaseReader } from '../../../src/release/read/release-reader.js'
import { type TestApi, testApi } from '../api/api.js'
import { type Publisher, testPublisher } from '../release/publishing.js'
import { filesOf, openTables, rowsOf } from '../release/table-reader.js'
import { type TestDatabase, testDatabase } from './database.js'

/** Rows of every table that the role may write: those of project 1 are changed, project 2 is the other one. */
export const rowsOfEveryTable = [
  `insert into region values ('Africa')`,
  `insert into country (code, name, region_name) values ('SL', 'Sierra Leone', 'Africa')`,
  `insert into theme (id, name, sector_code) values ('water', 'Clean Water', '14031')`,
  `insert into theme_alias (name, theme_id) values ('Water', 'water')`,
  `insert into organisation (id, name, org_ref, url, country_code, country_name) values
    (7, 'Tara Water Trust', 'GB-CHC-202918', 'https://tara.example', 'SL', 'Sierra Leone'), (8, 'Lakes', 'GB-CHC-202919', null, null, null)`,
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
export const rowOf: Readonly<Record<string, string>> = {
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

/** Values for columns of texts. */
export const hostileTexts: Readonly<Record<string, string>> = {
  NUL: 'a\0b',
  'a script with a lone surrogate': 'java\tscript:alert(1)\ud800',
}

/** A value as SQL has it; what is long and of one letter is made by the server. */
function inSql(value: string): string {
  return value.length > 100_000 ? `repeat('${value[0]}', ${value.length})` : pg.escapeLiteral(value)
}

/** Whether a row is known by this column. */
function isKey(row: string, { column }: { readonly column: string }): boolean {
  return row.startsWith(`${column} =`)
}

/** What is served or published at a place that has project 2, its organisation or its report, and how one knows that it has. */
type Outlet = { readonly name: string; readonly text: string; readonly wanted: string }

async function outletsOf({ publisher, api }: Outputs): Promise<Outlet[]> {
  const { manifest } = await publisher.live()
  const key = `api_key=${api.apiKey}`
  const outlets: Outlet[] = []
  const ask = async (address: string) => {
    const { statusCode, body } = await api.app.inject(address)
    return statusCode < 500 ? body : `${statusCode}`
  }
  for (const form of ['json', 'xml']) {
    for (const list of [
      'all/projects',
      'featured/projects',
      'all/projects/summary',
      'countries/SL/projects',
      'themes/water/projects',
    ]) {
      const name = `/api/public/projectservice/${list}.${form}?${key}`
      outlets.push({ name, text: await ask(name), wanted: 'Wells 2' })
    }
    const name = `/api/public/orgservice/all/organizations.${form}?${key}`
    outlets.push({ name, text: await ask(name), wanted: 'Lakes' })
  }
  for (const [list, wanted] of [
    ['projectservice/all/projects', 'Wells 2'],
    ['orgservice/all/organizations', 'Lakes'],
  ] as const) {
    const name = `/api/public/${list}/download.xml?${key}`
    const body = await ask(name)
    const [, file = ''] = />https?:\/\/[^/]+(\/[^<]+)</.exec(body) ?? []
    outlets.push({ name, text: file === '' ? body : await ask(file.replaceAll('&amp;', '&')), wanted })
  }
  for (const name of ['/', '/projects', '/projects/2', '/countries/SL', '/themes/water', '/quality', '/changes']) {
    outlets.push({ name, text: await ask(name), wanted: /projects|countries|themes/.test(name) ? 'Wells 2' : '<main' })
  }
  for (const [file, wanted] of [
    ['/iati/activities.xml', 'Wells 2'],
    ['/iati/organisations.xml', 'GB-CHC-202919'],
    ['/iati/index.json', 'Wells 2'],
    ['/feeds/reports.atom', 'reports/2'],
    ['/feeds/opml.xml', 'Wells 2'],
    ['/data/activities.csv', 'Wells 2'],
  ] as const) {
    const name = manifest.files.find((one) => one.path.replace(/-\d+(?=\.)/, '') === file)?.path ?? file
    outlets.push({ name, text: await publisher.read(name).catch(String), wanted })
  }
  const duck = await openTables()
  try {
    const { parquet } = await filesOf(publisher, 'activities')
    const text = JSON.stringify(await rowsOf(duck, `select * from ${parquet}`))
    outlets.push({ name: 'activities.parquet', text, wanted: 'Wells 2' })
  } finally {
    duck.closeSync()
  }
  return outlets
}

type Outputs = { readonly publisher: Publisher; readonly api: TestApi }

/** The outlets that lack what they should have of project 2. */
export async function missingFrom(outputs: Outputs): Promise<string[]> {
  return missingAt(await outletsOf(outputs))
}

function missingAt(outlets: readonly Outlet[]): string[] {
  return outlets
    .filter(({ text, wanted }) => !text.includes(wanted))
    .map(({ name, text }) => `${name}: ${text.slice(0, 200)}`)
}

/** The role that writes with plain SQL, beside a publisher and an API over its rows. */
type HostileWriter = {
  readonly database: TestDatabase
  readonly platform: pg.Client
  readonly publisher: Publisher
  /** The columns that the role may write, by table. */
  readonly tables: ReadonlyMap<string, readonly { readonly column: string; readonly isText: boolean }[]>
  /** Writes a value into a column of the rows of project 1; undefined when it was taken, else the refusal. */
  write(table: string, column: string, value: string, place: string): Promise<string | undefined>
  /** The outlets that lack what they should have of project 2. */
  missing(): Promise<string[]>
  /** Writes a text into every column of texts: refused with a message, or every outlet still has all but this project. */
  expectHarmless(text: string): Promise<void>
}

/** Makes a store with rows in every table of the role. */
export async function hostileWriter(): Promise<HostileWriter> {
  const database = await testDatabase()
  const { store } = database
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
  const platform = new pg.Client({ connectionString: database.url })
  await platform.connect()
  await platform.query(`set role ${defaultWriterRole}`)
  for (const statement of rowsOfEveryTable) await platform.query(statement)
  const publisher = await testPublisher(store)
  const api = await testApi(store, {
    releases: createReleaseReader(publisher.feedsDir),
    feedsDir: publisher.feedsDir,
  })
  expect(await publisher.publish()).toMatchObject({ state: 'published', held: 0 })

  const write: HostileWriter['write'] = async (table, column, value, place) =>
    await platform.query(`update ${table} set ${column} = ${inSql(value)} where ${place}`).then(
      ({ rowCount }) => void expect(rowCount, `${table}.${column}`).toBe(1),
      (error: Error) => error.message,
    )
  const missing = () => missingFrom({ publisher, api })
  /** Writes the text into every column of texts that takes it. */
  const writeEverywhere = async (value: string) => {
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
          expect(refusal, `${what}: ${value.slice(0, 40)}`).toMatch(/\w+ \w+ \w+/)
          continue
        }
        const place = isKey(row, { column }) ? `${column} = ${pg.escapeLiteral(Buffer.from(hostile).toString())}` : row
        const values = before.map((one) => (one as { value: unknown }).value)
        taken.push({
          column: what,
          putBack: () => platform.query(`update ${table} set ${column} = $1 where ${place}`, values),
        })
      }
    }
    return taken
  }
  const expectHarmless = async (value: string) => {
    const taken = await writeEverywhere(value)
    // One publication for all that were taken, which are found by their names.
    expect((await publisher.publish()).state, taken.map(({ column }) => column).join()).toMatch(
      /^(?:published|unchanged)$/,
    )
    const outlets = await outletsOf({ publisher, api })
    expect(missingAt(outlets)).toEqual([])
    for (const { column } of taken.filter((one) => /url|link|documentation/.test(one.column))) {
      const script = new RegExp(`java\\s*script:alert\\(${column}`, 'i')
      expect([column, outlets.filter(({ text }) => script.test(text)).map(({ name }) => name)]).toEqual([column, []])
    }
    const held = await store.db.query(`select project_id from rendering where verdict = 'held' and project_id <> 1`)
    expect(held.rows).toEqual([])
    for (const { putBack } of taken.reverse()) await putBack()
    if (value.includes('script')) expect(taken.length).toBeGreaterThan(10)
    expect(await publisher.publish()).toMatchObject({ held: 0 })
  }
  return { database, platform, publisher, tables, write, missing, expectHarmless }
}
