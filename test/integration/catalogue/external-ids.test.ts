import { readdir, readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import pg from 'pg'
import { describe, expect, it } from 'vitest'
import { type ImportOptions, importFiles } from '../../../src/catalogue/import/import.js'
import type { CurrencyCode } from '../../../src/kernel/money.js'
import { runCommandLine } from '../../support/commands/command-line.js'
import { afterFile } from '../../support/runner/after-file.js'
import { testDatabase } from '../../support/store/database.js'
import { temporaryFolder } from '../../support/values/temporary-folder.js'

const { store, url } = await testDatabase()
const folder = await temporaryFolder()

const options = {
  source: 'import',
  clock: () => new Date('2026-11-21T08:00:00Z'),
  currency: 'USD' as CurrencyCode,
} as const

async function write(name: string, ...lines: string[]): Promise<string> {
  const file = path.join(folder, name)
  await writeFile(file, `${lines.join('\n')}\n`)
  return file
}

async function importing(files: readonly string[], more: Partial<ImportOptions> = {}) {
  return await importFiles(store, files, { ...options, ...more })
}

/** The contents of an export's files but its descriptor, which has the time. */
async function readAll(directory: string): Promise<Record<string, string>> {
  const names = (await readdir(directory)).filter((name) => name.endsWith('.ndjson')).sort()
  return Object.fromEntries(
    await Promise.all(names.map(async (name) => [name, await readFile(path.join(directory, name), 'utf8')] as const)),
  )
}

const rows = async (sql: string) => (await store.db.query<object>(sql)).rows
const uuid = (n: number) => `3f2b8c1e-0000-4000-8000-${String(n).padStart(12, '0')}`
/** What each row is, without the numbers that the store gave. */
const catalogue = () =>
  rows(`select p.external_id as project, p.title, o.external_id as partner, r.external_id as report,
      i.original_url as image, m.amount as gifts, f.external_id as funder, d.amount as paid, v.external_id as receiver,
      l.amount as planned
    from project p left join organisation o on o.id = p.organisation_id left join progress_report r on r.project_id = p.id
      left join photo i on i.project_id = p.id left join donation_month m on m.project_id = p.id
      left join organisation f on f.id = m.funder_id left join disbursement d on d.project_id = p.id
      left join organisation v on v.id = d.receiver_id left join payout_plan l on l.project_id = p.id order by p.title`)

describe('ids of a platform', { shuffle: false }, () => {
  it('ids of a platform stand in every kind of file, in any order of files and again', async () => {
    const files = [
      await write(
        'gifts.csv',
        'project,date,amount,currency,reference,funder',
        `${uuid(1)},2025-03-05,25.00,USD,G-1,fund:lakes`,
      ),
      await write('images.csv', 'project,position,original', `${uuid(1)},0,https://platform.example/1.jpg`),
      await write(
        'reports.ndjson',
        JSON.stringify({
          ...{ externalId: 'R-1', project: uuid(1), url: 'https://platform.example/r', title: 'Runs' },
          ...{ published: '2025-06-01', html: '<p>Water.</p>' },
        }),
      ),
      await write('payout-plans.csv', 'project,date,amount,currency,reference', `${uuid(1)},2027-03-31,10,USD,P-2`),
      await write(
        'disbursements.csv',
        'project,date,amount,currency,reference,receiver',
        `${uuid(1)},2025-06-30,9.00,USD,P-1,${uuid(9)}`,
      ),
      await write('projects.csv', 'externalId,title,status,organization', `${uuid(1)},Wells,active,${uuid(7)}`),
      await write('funders.csv', 'externalId,name', 'fund:lakes,Fund of Lakes'),
      await write('organizations.csv', 'externalId,name', `${uuid(7)},Tara Water Trust`, `${uuid(9)},Mason`),
    ]
    const first = await importing(files)
    expect(first).toMatchObject({ created: 9, refused: 0, problems: [] })
    const expected = {
      ...{ project: uuid(1), title: 'Wells', partner: uuid(7), report: 'R-1', image: 'https://platform.example/1.jpg' },
      ...{ gifts: '25.000', funder: 'fund:lakes', paid: '9.000', receiver: uuid(9), planned: '10.000' },
    }
    expect(await catalogue()).toEqual([expected])
    const numbers = await rows('select id, external_id from project union all select id, external_id from organisation')
    expect(await importing(files)).toMatchObject({ created: 0, changed: 0, unchanged: 9, refused: 0 })
    expect(
      await rows('select id, external_id from project union all select id, external_id from organisation'),
    ).toEqual(numbers)
    expect(numbers).toContainEqual({ id: expect.toSatisfy((id: number) => id > 10_000_000), externalId: uuid(1) })
  })

  it('pages of the wire format have them for projects and their organizations, in XML and JSON', async () => {
    const page = (id: string, title: string) =>
      `<projects><project><externalId>${id}</externalId><active>true</active><status>active</status><title>${title}</title>
      <funding>0</funding><organization><externalId>${uuid(7)}</externalId><name>Tara Water Trust</name></organization></project></projects>`
    const xml = await write('pages.xml', page(uuid(2), 'Xml'))
    const json = await write(
      'pages.json',
      JSON.stringify({
        projects: {
          project: [
            {
              ...{ externalId: uuid(3), active: true, status: 'active', title: 'Yson', funding: '0' },
              organization: { externalId: uuid(10), name: 'New' },
            },
          ],
        },
      }),
    )
    expect(await importing([xml, json])).toMatchObject({ created: 2, refused: 0, problems: [] })
    expect(await importing([xml, json])).toMatchObject({ created: 0, changed: 0, unchanged: 2 })
    expect(await catalogue()).toMatchObject([
      { project: uuid(1) },
      { project: uuid(2), partner: uuid(7) },
      { project: uuid(3), partner: uuid(10) },
    ])
    const partners = await write(
      'partners.xml',
      `<organizations><organization><externalId>${uuid(11)}</externalId><name>B</name></organization></organizations>`,
    )
    expect(await importing([partners])).toMatchObject({ created: 1, refused: 0 })
    expect(await importing([partners])).toMatchObject({ created: 0, changed: 0, unchanged: 1 })
  })

  it('an Atom feed is of the project that --project names by its id', async () => {
    const feed = await write(
      'feed.atom',
      `<feed xmlns="http://www.w3.org/2005/Atom"><id>urn:x</id><title>F</title><updated>2025-01-01T00:00:00Z</updated>
      <entry><id>https://platform.example/atom/1</id><title>E</title><published>2025-01-01T00:00:00Z</published>
      <updated>2025-01-01T00:00:00Z</updated><content type="html">text</content></entry></feed>`,
    )
    const environment = { DATABASE_URL: url, GIVING_DATA_DIR: folder, DEFAULT_CURRENCY: 'USD' }
    const { code, stderr } = await runCommandLine(['import', feed, '--project', uuid(2)], environment)
    expect(code, stderr).toBe(0)
    expect(await catalogue()).toContainEqual(
      expect.objectContaining({ project: uuid(2), title: 'Xml', image: undefined }),
    )
    expect(
      await rows(
        `select p.external_id from progress_report r join project p on p.id = r.project_id where r.title = 'E'`,
      ),
    ).toEqual([{ externalId: uuid(2) }])
    const wrong = await runCommandLine(['import', feed, '--project', 'nobody'], environment)
    expect([wrong.code, wrong.stderr]).toEqual([
      2,
      expect.stringContaining('--project: expected the number or externalId'),
    ])
  })

  it('every command takes them, and lists show them', async () => {
    const giving = async (...args: string[]) => {
      const { code, stdout, stderr } = await runCommandLine(args, { DATABASE_URL: url, GIVING_DATA_DIR: folder })
      return { code, said: stderr, stdout }
    }
    const json = async (...args: string[]) => JSON.parse((await giving(...args, '--json')).stdout) as object
    const project = { externalId: uuid(2), title: 'Xml' }
    expect((await giving('projects', 'list')).stdout).toContain(`Xml (externalId ${uuid(2)})`)
    expect((await giving('organizations', 'list')).stdout).toContain(
      `Fund of Lakes (0 of 0 projects active, externalId fund:lakes)`,
    )
    expect(await json('projects', 'show', uuid(2))).toMatchObject(project)
    expect(await json('projects', 'set', uuid(2), '--state', 'inactive')).toMatchObject({
      ...project,
      state: 'inactive',
    })
    expect(await json('projects', 'set', uuid(2), '--state', 'stated')).toMatchObject({ ...project, decided: false })
    expect(await json('projects', 'list', '--organization', uuid(10))).toMatchObject({
      projects: [{ externalId: uuid(3) }],
    })
    expect(await json('organizations', 'show', 'fund:lakes')).toMatchObject({ name: 'Fund of Lakes' })
    expect(await json('organizations', 'set', 'fund:lakes', '--vetted', 'no')).toMatchObject({ vetted: false })
    expect(await json('organizations', 'merge', uuid(7), 'fund:lakes', '--dry-run')).toMatchObject({ months: 1 })
    expect(await json('donations', 'list', '--project', uuid(2))).toEqual([])
    expect((await giving('export', 'donations', '--project', uuid(2), '--since', '2026-01-01')).stdout).toMatch(
      /^donation,/,
    )
    expect((await giving('held', uuid(2))).said).toMatch(/project \d+ is not held/)
    expect(await giving('projects', 'show', 'nobody')).toMatchObject({
      ...{ code: 2, said: 'giving: there is no project nobody: expected its number or externalId\n' },
    })
  })

  it('what is wrong is named: unknown ids, an id of another record, a number, no id at all', async () => {
    const gifts = await write(
      'gifts-2.csv',
      'project,date,amount,currency,reference',
      'nobody,2025-03-05,25.00,USD,G-9',
    )
    expect((await importing([gifts])).problems).toMatchObject([
      { field: 'project', expected: 'the number or externalId of a project of this platform', got: 'nobody' },
    ])
    const projects = await write(
      'projects-2.csv',
      'id,externalId,title,status',
      `55,${uuid(1)},Taken,active`,
      ',77,Number,active',
      ',,Nothing,active',
      `56,also-56,Both,active`,
    )
    const summary = await importing([projects])
    expect(summary).toMatchObject({ created: 1, refused: 3 })
    expect(summary.problems).toMatchObject([
      { line: 3, field: 'externalId', expected: expect.stringContaining('no whole number') },
      { line: 4, field: 'id' },
      {
        line: 2,
        field: 'externalId',
        expected: 'an id that no other record has',
        got: expect.stringContaining(uuid(1)),
      },
    ])
    const none = await importing([await write('projects-3.csv', 'title,status', 'A,active')])
    expect(none.problems).toMatchObject([{ field: 'file', got: expect.stringContaining('no column id or externalId') }])
    // The number that a project has may get an id later, and its files may then use it.
    expect(await rows(`select id from project where external_id = 'also-56'`)).toEqual([{ id: 56 }])
    const later = await write('projects-4.csv', 'id,externalId,title,status', '56,now-56,Both,active')
    expect(await importing([later])).toMatchObject({ changed: 1 })
  })

  it('plain SQL leaves the number out; it gets one that no file has taken', async () => {
    await store.db.query(
      `insert into project (id, active, status, title, source) select last_value + 1, true, 'active', 'Ahead', 'import' from given_number_seq`,
    )
    const made = await runCommandLine(['migrate', '--writer-role', '--json'], {
      DATABASE_URL: url,
      GIVING_DATA_DIR: folder,
    })
    expect(made.code, made.stderr).toBe(0)
    await store.db.query(
      `do $$ begin create role test_uuids login password 'test'; exception when duplicate_object then null; end $$`,
    )
    await store.db.query('grant giving_writer to test_uuids')
    const asPlatform = new URL(url)
    asPlatform.username = 'test_uuids'
    asPlatform.password = 'test'
    const platform = new pg.Client({ connectionString: asPlatform.href })
    await platform.connect()
    afterFile(() => platform.end())
    await platform.query(`insert into organisation (external_id, name) values ('sql-org', 'By SQL')`)
    await platform.query(`insert into project (external_id, organisation_id, active, status, title)
    select 'sql-project', id, true, 'active', 'Zzz' from organisation where external_id = 'sql-org'`)
    await platform.query(`insert into progress_report (external_id, project_id, title, published_at, updated_at, content_html, url)
    select 'sql-report', id, 'R', '2025-01-01', '2025-01-01', 'x', 'https://platform.example/sql' from project where external_id = 'sql-project'`)
    await expect(
      platform.query(`insert into organisation (external_id, name) values ('12', 'Number')`),
    ).rejects.toThrow('organisation.external_id: expected a text of 1 to 200 characters that is no whole number')
    expect(await catalogue()).toContainEqual(
      expect.objectContaining({ project: 'sql-project', partner: 'sql-org', report: 'sql-report' }),
    )
    const gifts = await write(
      'gifts-3.csv',
      'project,date,amount,currency,reference',
      'sql-project,2025-03-05,2.00,USD,G-8',
    )
    expect(await importing([gifts])).toMatchObject({ created: 1, refused: 0 })
  })

  it('an export has them, and an import of it, whole or as CSV, makes the same export again', async () => {
    const other = await testDatabase()
    const run = (url: string, ...args: string[]) =>
      runCommandLine(args, { DATABASE_URL: url, GIVING_DATA_DIR: folder, DEFAULT_CURRENCY: 'USD' })
    const [first, second] = [path.join(folder, 'first'), path.join(folder, 'second')]
    expect((await run(url, 'export', first)).code).toBe(0)
    expect((await run(other.url, 'import', first)).code).toBe(0)
    expect((await run(other.url, 'export', second)).code).toBe(0)
    const [one, two] = [await readAll(first), await readAll(second)]
    expect(two).toEqual(one)
    expect(one['projects.ndjson']).toContain(`"externalId":"${uuid(1)}"`)
    const table = path.join(folder, 'table')
    expect((await run(url, 'export', table, '--format', 'csv', '--kind', 'projects')).code).toBe(0)
    expect((await importing([path.join(table, 'projects.csv')])).problems).toEqual([
      expect.objectContaining({ field: 'id', got: expect.stringContaining('which is local') }),
    ])
  })
})
