import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { parse } from 'csv-parse/sync'
import { afterAll, describe, expect, it } from 'vitest'
import { importFiles } from '../../../src/catalogue/import/import.js'
import { seedDemo } from '../../../src/demo/sql/demo.js'
import { seed } from '../../../src/demo/sql/seed.js'
import { type Decimal, fromMinorUnits, toMinorUnits } from '../../../src/kernel/money.js'
import { createReleaseReader } from '../../../src/release/read/release-reader.js'
import { listen, testApi } from '../../support/api/api.js'
import { readProjectFile } from '../../support/documents/markdown-table.js'
import { testPublisher } from '../../support/release/publishing.js'
import { filesOf, openTables, rowsOf, selectAll } from '../../support/release/table-reader.js'
import { rowPaths, tableDifferences } from '../../support/release/table-recount.js'
import { testDatabase } from '../../support/store/database.js'
import { realRecords } from '../../support/values/borrowed-files.js'
import { day, mappingConfig } from '../../support/values/builders.js'
import { temporaryFolder } from '../../support/values/temporary-folder.js'

const samples = realRecords('the tables of real records')

const hostile = `=cmd|' /C calc'!A1, "quoted"\r\nsecond line`
const { store } = await testDatabase()
// More files of activities than any table had in its first part once.
const publisher = await testPublisher(store, { segmentBytes: 15_000 })
const { currency, baseUrl } = mappingConfig
const today = day('2026-11-20')
await seedDemo(store, { today, currency, baseUrl })
await seed(store, { projects: 60, source: 'local', firstId: 1, today, currency, baseUrl })
if (samples) await importFiles(store, [samples], { source: 'import', clock: () => publisher.now, currency })
await store.db.query('update project set title = $1 where id = 7', [hostile])
expect((await publisher.publish()).state).toBe('published')
const duck = await openTables()

afterAll(() => duck.closeSync())

/** Sums of exact decimals by key. */
function sumsOf(rows: readonly (readonly [key: string, amount: string])[]): Record<string, string> {
  const sums = new Map<string, bigint>()
  for (const [key, amount] of rows) sums.set(key, (sums.get(key) ?? 0n) + toMinorUnits(amount as Decimal, 4))
  return Object.fromEntries([...sums].sort(([a], [b]) => (a < b ? -1 : 1)).map(([k, v]) => [k, fromMinorUnits(v, 4)]))
}

/** A file read as readers of Parquet do: its end first, then the rest. */
async function inRanges(url: string): Promise<Buffer> {
  const end = await fetch(url, { headers: { range: 'bytes=-8' } })
  const [, start = '0'] = /^bytes (\d+)-/.exec(end.headers.get('content-range') ?? '') ?? []
  const etag = end.headers.get('etag') ?? ''
  const rest = await fetch(url, { headers: { range: `bytes=0-${Number(start) - 1}`, 'if-range': etag } })
  expect([end.status, rest.status]).toEqual([206, 206])
  return Buffer.concat([Buffer.from(await rest.arrayBuffer()), Buffer.from(await end.arrayBuffer())])
}

describe('the tables of a release', () => {
  it('have the rows, values and sums that an XML parser finds in the files, in CSV and in Parquet', async () => {
    expect(await tableDifferences(publisher, duck)).toEqual([])
    const { files } = await publisher.manifest()
    const empty = files.filter(
      ({ path, records }) => path.startsWith('/data/') && path.endsWith('.csv') && records === 0,
    )
    // No project here is without a country, nor moved here from another publisher.
    expect(empty.map(({ path }) => path)).toEqual(['/data/recipient_regions.csv', '/data/related_activities.csv'])
  })

  it('are whole at their one address, in CSV, its twin and Parquet, however many files of activities there are', async () => {
    const { files } = await publisher.manifest()
    expect(files.filter(({ path }) => path.startsWith('/iati/activities')).length).toBeGreaterThan(16)
    const { app } = await testApi(store, { store, releases: createReleaseReader(publisher.feedsDir) })
    const origin = await listen(app)
    const folder = await temporaryFolder()
    for (const name of ['transactions', 'recipient_countries', 'activities']) {
      const csv = path.join(folder, `${name}.csv`)
      const twin = await fetch(`${origin}/data/${name}.csv`, { headers: { 'accept-encoding': 'gzip' } })
      expect(twin.headers.get('content-encoding')).toBe('gzip')
      await writeFile(csv, Buffer.from(await twin.arrayBuffer()))
      const parquet = path.join(folder, `${name}.parquet`)
      await writeFile(parquet, await inRanges(`${origin}/data/${name}.parquet`))
      const elements = await selectAll(publisher, rowPaths[name as keyof typeof rowPaths], () => 1)
      const count = async (file: string) => (await rowsOf(duck, `select count(*)::int as rows from '${file}'`))[0]?.rows
      expect([name, await count(csv), await count(parquet)]).toEqual([name, elements.length, elements.length])
    }
    const later = await fetch(`${origin}/data/transactions-2.csv`)
    expect(later.status).toBe(404)
  })

  it('give the sums by month that the example of docs/how-to/read-the-data.md asks for', async () => {
    const [, example = ''] = /```sql\n([\s\S]*?)```/.exec(readProjectFile('docs/how-to/read-the-data.md')) ?? []
    const { parquet } = await filesOf(publisher, 'transactions')
    const rows = await rowsOf(duck, example.replace(/read_parquet\(.*\)/, parquet))
    const expected = sumsOf(
      await selectAll(publisher, `${rowPaths.transactions}[transaction-type/@code='1']`, (find) => [
        `${find('transaction-date/@iso-date').slice(0, 7)} ${find('value/@currency')}`,
        find('value'),
      ]),
    )
    expect(Object.fromEntries(rows.map((row) => [`${row.month} ${row.value_currency}`, row.incoming]))).toEqual(
      expected,
    )
  })

  it('split what partners were paid by country, sector and year, as the second example does, and lose nothing', async () => {
    const examples = [...readProjectFile('docs/how-to/read-the-data.md').matchAll(/```sql\n([\s\S]*?);\n```/g)]
    let sql = examples[1]?.[1] ?? ''
    for (const [call = '', name = ''] of sql.matchAll(/read_parquet\('[^']*\/(\w+)\.parquet'\)/g)) {
      sql = sql.replace(call, (await filesOf(publisher, name)).parquet)
    }
    const totals = async (query: string) =>
      await rowsOf(duck, `select value_currency, round(sum(paid), 0) as paid from (${query}) group by 1 order by 1`)
    const { parquet } = await filesOf(publisher, 'transactions')
    const whole = `select value_currency, value::double as paid from ${parquet} where transactiontype_code = '3'`
    expect(await totals(sql)).toEqual(await totals(whole))
    expect((await rowsOf(duck, sql)).length).toBeGreaterThan(50)
  })

  it('have the English name beside each code', async () => {
    const { parquet } = await filesOf(publisher, 'transactions')
    expect(
      await rowsOf(
        duck,
        `select distinct transactiontype_code as code, transactiontype_codename as name from ${parquet} order by 1`,
      ),
    ).toEqual([
      { code: '1', name: 'Incoming Funds' },
      { code: '3', name: 'Disbursement' },
      { code: '4', name: 'Expenditure' },
    ])
  })

  it('cannot be taken for formulas by a spreadsheet, and are CSV for any reader', async () => {
    const text = await publisher.read('/data/activities.csv')
    const rows: Record<string, string>[] = parse(text, { columns: true, record_delimiter: '\r\n' })
    const [row] = rows.filter(({ iatiidentifier }) => iatiidentifier?.endsWith('-7'))
    expect(row?.title_narrative).toMatch(/^'=cmd\|' \/C calc'!A1, "quoted"/)
    expect(rows.flatMap((one) => Object.values(one)).filter((cell) => /^[=+@\t\r]/.test(cell))).toEqual([])
  })
})

describe('the descriptions of a release', () => {
  it('name keys that hold: each row has its own, and each activity of a row is in its part', async () => {
    const { resources } = JSON.parse(await publisher.read('/data/datapackage.json')) as {
      resources: { name: string; format: string; schema: { fields: { name: string }[]; primaryKey: string[] } }[]
    }
    const activities = (await filesOf(publisher, 'activities')).parquet
    const described = resources.filter(({ format }) => format === 'csv')
    expect(described.map(({ name }) => name)).toEqual(Object.keys(rowPaths))
    for (const { name, schema } of described) {
      const text = await publisher.read(`/data/${name}.csv`)
      expect(schema.fields.map((field) => field.name).join(',')).toBe(text.split('\r\n')[0])
      const { parquet } = await filesOf(publisher, name)
      const [row] = await rowsOf(
        duck,
        `select (select count(*) from (select distinct ${schema.primaryKey} from ${parquet})) = (select count(*) from ${parquet}) as "unique",
          (select count(*) from ${parquet} where iatiidentifier not in (select iatiidentifier from ${activities})) as lost`,
      )
      expect([name, row]).toEqual([name, { unique: true, lost: '0' }])
    }
  })

  it('lead from every file to the manifest, which names every file', async () => {
    const { app } = await testApi(store, { store, releases: createReleaseReader(publisher.feedsDir) })
    const { files, release } = await publisher.manifest()
    expect(files.map(({ path }) => path)).toEqual(expect.arrayContaining(['/llms.txt', '/data/catalog.ttl']))
    for (const { path, immutablePath } of files) {
      for (const address of [path, immutablePath]) {
        const answer = await app.inject({ method: 'HEAD', url: address })
        expect([address, answer.statusCode]).toEqual([address, 200])
        const [, describing = ''] =
          /^<([^>]+manifest\.json)>; rel="describedby"; type="application\/json"/.exec(String(answer.headers.link)) ??
          []
        expect((await app.inject(describing)).json().release).toBe(release)
      }
    }
    const columns = await app.inject({ method: 'HEAD', url: '/data/budgets.csv' })
    expect(columns.headers.link).toContain('</data/datapackage.json>; rel="describedby"')
    const tail = await app.inject({ url: '/data/budgets.parquet', headers: { range: 'bytes=-4' } })
    expect([tail.statusCode, tail.body]).toEqual([206, 'PAR1'])
  })

  it('are linked by no file and no page of a release that has none', async () => {
    const { store } = await testDatabase()
    await seed(store, { projects: 1, source: 'local', firstId: 1, today, currency, baseUrl })
    const bare = await testPublisher(store, { addFiles: [] })
    expect((await bare.publish()).state).toBe('published')
    const { app } = await testApi(store, { store, releases: createReleaseReader(bare.feedsDir) })
    const { headers } = await app.inject({ method: 'HEAD', url: '/data/budgets.csv' })
    expect(headers.link).toBe('</feeds/manifest.json>; rel="describedby"; type="application/json"')
    const pages = await Promise.all(['/en', '/en/data', '/en/developers'].map((url) => app.inject(url)))
    for (const { statusCode, body } of pages) {
      expect(statusCode).toBe(200)
      expect(body).not.toMatch(/datapackage|catalog\.|llms/)
    }
    expect((await app.inject('/llms.txt')).statusCode).toBe(404)
  })
})

describe('a later release', () => {
  it('is not made when nothing changed, and carries over the tables that hold nothing that changed', async () => {
    publisher.now = new Date('2026-11-21T03:00:00Z')
    expect((await publisher.publish({ force: true })).state).toBe('unchanged')
    const before = await publisher.manifest()
    await store.db.query(`update project set summary = 'Another summary.' where id = 7`)
    expect((await publisher.publish()).state).toBe('published')
    const after = await publisher.manifest()
    const changed = after.files.filter(
      ({ path, lastModified }) => before.files.find((file) => file.path === path)?.lastModified !== lastModified,
    )
    expect(changed.map(({ path }) => path)).toEqual([
      ...[
        expect.stringMatching(/^\/iati\/activities-\d+\.xml$/),
        '/iati/bulk/activities.xml',
        '/iati/index.json',
        '/data/activities.csv',
        '/data/activities.parquet',
      ],
    ])
  })

  it('makes rows that are missing or of another content from the published texts, byte for byte', async () => {
    const rows = async () =>
      (
        await store.db.query(`select project_id, version, content_hash, counts, hashes, md5(csv), md5(parquet), md5(entry)
        from activity_rows where project_id <> 7 order by 1`)
      ).rows
    const before = await rows()
    await store.db.query(`delete from activity_rows where project_id % 2 = 0`)
    await store.db.query(`update activity_rows set csv = '', version = 0 where project_id % 3 = 0`)
    await store.db.query(`update activity_rows set parquet = '', content_hash = 'older' where project_id % 5 = 0`)
    await store.db.query(`update project set summary = 'A third summary.' where id = 7`)
    publisher.now = new Date('2026-11-21T04:00:00Z')
    expect((await publisher.publish()).state).toBe('published')
    expect(await rows()).toEqual(before)
  })
})

describe('a file of a table', () => {
  it('begins with the names of its columns, and its twin decompresses to it', async () => {
    const file = await (await publisher.live()).find('/data/budgets.csv')
    expect((await file?.identity.text())?.split('\r\n')[0]).toBe(
      'iatiidentifier,number,type,typename,status,statusname,periodstart_isodate,periodend_isodate,value,value_currency,value_currencyname,value_valuedate',
    )
    expect(file?.gzip?.length).toBeGreaterThan(0)
    expect((await (await publisher.live()).find('/data/budgets.parquet'))?.gzip).toBeUndefined()
  })
})
