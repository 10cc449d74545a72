import { readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { listDifferences } from '../../../src/money/sql/books-check.js'
import type { Store } from '../../../src/platform/database/store.js'
import { pruneDatabase } from '../../../src/release/sql/pruning.js'
import { exported } from '../../support/catalogue/import-undo.js'
import { printed, runCommandLine } from '../../support/commands/command-line.js'
import { testPublisher } from '../../support/release/publishing.js'
import { testDatabase } from '../../support/store/database.js'
import { temporaryFolder } from '../../support/values/temporary-folder.js'

const folder = await temporaryFolder()

describe('giving imports', async () => {
  const { store, url } = await testDatabase()
  const environment = { DATABASE_URL: url, GIVING_DATA_DIR: folder, LOG_LEVEL: 'silent' }

  const giving = (line: string, code = 0) => printed(line, environment, code)

  async function importing(name: string, text: string, code = 0): Promise<number> {
    const file = path.join(folder, name)
    await writeFile(file, text)
    return Number((await giving(`import ${file}`, code)).import)
  }

  it('say who imported what, with its problems', async () => {
    const id = await importing('projects.csv', 'id,title,status\n1,Wells,active\n2,,active\n', 1)
    const entered = { id, state: 'done', actor: expect.stringMatching(/^operator /), created: 1, refused: 1 }
    expect((await giving('imports list')).imports).toContainEqual(expect.objectContaining(entered))
    expect(await giving(`imports show ${id}`)).toMatchObject({
      files: [
        { kind: 'projects', sha256: expect.stringMatching(/^[0-9a-f]{64}$/), records: 2, created: 1, refused: 1 },
      ],
      problems: [{ line: 3, field: 'title' }],
      problemCount: 1,
    })
    const text = await runCommandLine(['imports', 'show', `${id}`], environment)
    expect(text.stdout).toMatch(/^by: +operator .* from .*projects.csv: projects, 2 records: 1 created/ms)
    expect((await runCommandLine(['audit'], environment)).stdout).toMatch(
      new RegExp(`records-imported .*import ${id}, files 1`),
    )
    expect(await runCommandLine(['imports', 'show', '999'], environment)).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/there is no import 999/),
    })
  })

  it('are shown by a dry run, and taken back once', async () => {
    const id = await importing('organizations.csv', 'id,name\n50,Tara Trust\n')
    const dry = await giving(`imports undo ${id} --dry-run`)
    expect(dry).toMatchObject({ dryRun: true, removed: { organisation: 1 } })
    expect((await store.db.query('select from organisation where id = 50')).rowCount).toBe(1)
    expect(await giving(`imports undo ${id}`)).toMatchObject({ removed: { organisation: 1 }, closed: [] })
    expect((await store.db.query('select from organisation where id = 50')).rowCount).toBe(0)
    expect(await runCommandLine(['imports', 'undo', `${id}`], environment)).toMatchObject({
      stderr: expect.stringMatching(/taken back before/),
    })
    expect(await giving('imports list --limit 1')).toMatchObject({ imports: [{ id, state: 'undone' }] })
  })

  it('can be taken back for 90 days, and stay in the list', async () => {
    const id = await importing('themes.csv', 'id,name,sector\ncanals,Canals,14031\n')
    const { rows } = await store.db.query<{ at: Date }>('select started_at as at from import where id = $1', [id])
    const daysLater = (days: number) => new Date((rows[0]?.at.getTime() ?? 0) + days * 86_400_000)
    const rules = { keepReleases: 3, donorRetentionDays: undefined }
    await pruneDatabase(store.db, daysLater(90), rules)
    expect(await giving(`imports undo ${id} --dry-run`)).toMatchObject({ removed: { theme: 1 } })
    await pruneDatabase(store.db, daysLater(90.001), rules)
    expect(await runCommandLine(['imports', 'undo', `${id}`], environment)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining(`what import ${id} changed is no longer remembered`),
    })
    expect((await giving('imports list')).imports).toContainEqual(expect.objectContaining({ id, state: 'done' }))
  })

  it('of IATI files are taken back with what they keep', async () => {
    const file = (day: string) => `<iati-activities version="2.03"><iati-activity xml:lang="en" default-currency="USD">
      <iati-identifier>XE-EXAMPLE-INVENTED-MOVED</iati-identifier><reporting-org ref="XE-EXAMPLE-INVENTED" type="22"/>
      <title><narrative>Moved</narrative></title><activity-status code="2"/><activity-date type="2" iso-date="2020-01-01"/>
      <budget><period-start iso-date="2020-01-01"/><period-end iso-date="2020-12-31"/><value value-date="${day}">9</value></budget>
      </iati-activity></iati-activities>`
    const kept = async () => (await store.db.query<{ text: string }>('select text from kept_activity')).rows
    const first = await importing('moved.xml', file('2020-01-01'))
    const before = await kept()
    const second = await importing('moved.xml', file('2020-02-02'))
    expect(await kept()).not.toEqual(before)
    await giving(`imports undo ${second}`)
    expect(await kept()).toEqual(before)
    expect(await giving(`imports undo ${first}`)).toMatchObject({ removed: { project: 1, kept_activity: 1 } })
    expect(await kept()).toEqual([])
  })

  it('stay while something later depends on them, and say what', async () => {
    const owners = await importing('organizations.csv', 'id,name\n60,Gulu Schools\n')
    const ids = await importing('projects.csv', 'id,title,status,organization\n61,Desks,active,60\n')
    const gifts = await importing('gifts.csv', 'project,date,amount,currency,reference\n61,2025-03-05,25.00,USD,G-1\n')
    const retitled = await importing('projects.csv', 'id,title,status,organization\n61,Chairs,active,60\n')
    const stands = async (id: number) => (await giving(`imports undo ${id}`, 1)).obstacles
    expect(await stands(owners)).toMatchObject([
      { what: 'organisation', key: { id: 60 }, needs: { what: 'project', key: { id: 61 } }, byImport: retitled },
    ])
    expect(await stands(ids)).toMatchObject([{ what: 'project', key: { id: 61 }, byImport: retitled }])
    await giving(`imports undo ${retitled}`)
    expect(await stands(ids)).toMatchObject([
      { what: 'project', key: { id: 61 }, needs: { what: 'donation_month' }, byImport: gifts },
    ])
    await store.db.query(`update project set title = 'Ours' where id = 61`)
    expect(await stands(ids)).toEqual([{ what: 'project', key: { id: 61 } }])
    await store.db.query(`update project set title = 'Desks' where id = 61`)
    for (const id of [gifts, ids, owners]) await giving(`imports undo ${id}`)
    expect((await store.db.query('select from project where id = 61')).rowCount).toBe(0)
  })

  it('stay while taking a later one back would need what they brought', async () => {
    const themes = await importing('themes.csv', 'id,name,sector\nnets,Nets,14031\n')
    await importing('projects.csv', 'id,title,status,themes\n65,Nets,active,nets\n')
    const cleared = await importing('projects.ndjson', '{"id":65,"title":"Nets","status":"active","themes":[]}\n')
    expect((await giving(`imports undo ${themes}`, 1)).obstacles).toEqual([
      {
        what: 'theme',
        key: { id: 'nets' },
        byImport: cleared,
        needs: expect.objectContaining({ what: 'project_theme' }),
      },
    ])
    for (let id = cleared; id >= themes; id--) await giving(`imports undo ${id}`)
  })

  it('stay while another row has what they would bring back, and say which', async () => {
    await importing('projects.csv', 'id,title,status\n66,Nets,active\n')
    const report = (id: number) =>
      `id,externalId,url,project,title,published,html\n${id},R-1,https://p.example/${id},66,Nets,2025-03-05,<p>Nets.</p>\n`
    await importing('reports.csv', report(661))
    const { import: removed } = await giving('reports remove 661')
    const second = await importing('reports.csv', report(662))
    const refused = 'Key (external_id)=(R-1) already exists.'
    expect((await giving(`imports undo ${removed}`, 1)).obstacles).toEqual([
      { what: 'progress_report', key: { id: 662 }, byImport: second, refused },
    ])
    const told = await runCommandLine(['imports', 'undo', String(removed)], environment)
    expect(told.stdout).toContain(
      `progress_report 662 (of import ${second}: take that back first) stands in the way of what it would bring back: ${refused}`,
    )
    await giving(`imports undo ${second}`)
    await giving(`imports undo ${removed}`)
    const { rows } = await store.db.query(`select id from progress_report where external_id = 'R-1'`)
    expect(rows).toEqual([{ id: 661 }])
  })

  it('give back totals that a donation has moved since', async () => {
    await importing('projects.csv', 'id,title,status,goal\n71,Hives,active,1000\n')
    const gifts = await importing('gifts.csv', 'project,date,amount,currency,reference\n71,2025-03-05,25.00,USD,G-71\n')
    // As a settled donation does.
    await store.db.query(`insert into donation_month (project_id, month, currency, kind, source, amount, count, last_on)
      values (71, '2025-04-01', 'USD', 'gift', 'local', 10, 1, '2025-04-02')`)
    await store.db.query(
      'update project set funding = 35, number_of_donations = 2, remaining = 965, totals_changed_at = now() where id = 71',
    )
    await giving(`imports undo ${gifts}`)
    const { rows } = await store.db.query(
      'select funding, number_of_donations as donations, remaining from project where id = 71',
    )
    expect(rows).toEqual([{ funding: '10.000', donations: 1, remaining: '990.000' }])
    expect(await store.snapshot((db) => listDifferences(db, 3))).toEqual([])
  })

  it('are organisations that became one, too', async () => {
    await importing(
      'organizations.ndjson',
      '{"id":90,"name":"Lake"}\n{"id":91,"externalId":"lake","name":"Lake Trust","orgRef":"GB-CHC-1","countries":["KE"]}\n',
    )
    await importing('projects.csv', 'id,title,status,organization\n92,Boats,active,91\n')
    await importing(
      'gifts.csv',
      'project,date,amount,currency,reference,funder\n92,2025-03-05,25.00,USD,M-1,90\n92,2025-03-09,5.00,USD,M-2,91\n92,2025-04-09,6.00,USD,M-3,91\n',
    )
    await importing(
      'disbursements.csv',
      'project,date,amount,currency,reference,receiver\n92,2025-05-01,10.00,USD,M-1,91\n',
    )
    const before = await exported(store)
    expect(await giving('organizations merge 90 91 --dry-run')).toMatchObject({ dryRun: true, projects: 1, months: 2 })
    expect(await exported(store)).toEqual(before)
    const { import: id, ...merged } = await giving('organizations merge 90 91')
    expect(merged).toEqual({ kept: 90, gone: 91, projects: 1, months: 2, gifts: 2, payouts: 1 })
    const rows = async (sql: string) => (await store.db.query(sql)).rows
    expect(
      await rows('select month, funder_id, amount, count from donation_month where project_id = 92 order by 1'),
    ).toEqual([
      { month: '2025-03-01', funderId: 90, amount: '30.000', count: 2 },
      { month: '2025-04-01', funderId: 90, amount: '6.000', count: 1 },
    ])
    expect(await rows('select external_id, org_ref, name from organisation where id in (90, 91)')).toEqual([
      { externalId: 'lake', orgRef: 'GB-CHC-1', name: 'Lake' },
    ])
    expect(await store.snapshot((db) => listDifferences(db, 3))).toEqual([])
    await giving(`imports undo ${id}`)
    expect(await exported(store)).toEqual(before)
    for (const [line, message] of [
      ['organizations merge 90 90', 'expected two organisations'],
      ['organizations merge 90 99', 'there is no organisation 99'],
    ] as const) {
      expect((await runCommandLine(line.split(' '), environment)).stderr).toContain(message)
    }
    await importing('sum.csv', 'project,date,amount,currency,count,funder\n92,2025-06-30,9.00,USD,2,90\n')
    await importing('gifts.csv', 'project,date,amount,currency,reference,funder\n92,2025-06-09,6.00,USD,M-4,91\n')
    expect((await runCommandLine(['organizations', 'merge', '90', '91'], environment)).stderr).toMatch(
      /project 92 in 2025-06/,
    )
  })

  it('close projects that are published, and open them again', async () => {
    const id = await importing('page.json', JSON.stringify(page))
    const publisher = await testPublisher(store)
    await publisher.publish()
    expect(await giving(`imports undo ${id}`)).toMatchObject({ closed: [81], removed: {} })
    await publisher.publish()
    const text = await publisher.read('/iati/activities.xml')
    expect(text).toMatch(/<iati-identifier>[^<]*-81<\/iati-identifier>[\s\S]*?<activity-status code="4"\/>/)
    await importing('page.json', JSON.stringify(page))
    const files = ['oars.csv', 'gifts-of-oars.csv'].map((name) => path.join(folder, name))
    await writeFile(files[0] ?? '', 'id,title,status\n83,Oars,active\n')
    const gift = (project: number) => `${project},2025-03-05,25.00,USD,G-${project}\n`
    await writeFile(files[1] ?? '', `project,date,amount,currency,reference\n${gift(83)}${gift(71)}`)
    const { import: oars } = await giving(`import ${files.join(' ')}`)
    await publisher.publish()
    expect(await publisher.read('/iati/activities.xml')).toMatch(
      /-81<\/iati-identifier>[\s\S]*?<activity-status code="2"\/>/,
    )
    expect(await giving(`imports undo ${oars}`)).toMatchObject({ closed: [83], removed: { imported_gift: 1 } })
    const { rows } = await store.db.query('select project_id as id from imported_gift where import_id = $1', [oars])
    expect(rows).toEqual([{ id: 83 }])
  })
})

const page = {
  projects: {
    project: [
      {
        ...{ id: 81, active: true, status: 'active', title: 'Nets', funding: '5.00', numberOfDonations: 1 },
        ...{ summary: 'Nets for boats', themeName: 'Boats', approvedDate: '2025-01-05T00:00:00Z' },
        organization: { id: 82, name: 'Lake Trust', themes: {}, countries: {} },
      },
    ],
  },
}

describe('what was changed by SQL', () => {
  let store: Store
  let environment: Readonly<Record<string, string>>
  beforeAll(async () => {
    const database = await testDatabase()
    store = database.store
    environment = { DATABASE_URL: database.url, GIVING_DATA_DIR: folder, LOG_LEVEL: 'silent' }
    await writeFile(
      path.join(folder, 'projects.csv'),
      'id,title,status,themes,goal\n1,Wells,active,water,500\n2,Desks,active,,900\n',
    )
    await writeFile(
      path.join(folder, 'gifts.csv'),
      lines('1,2025-03-05,25.00,USD,G-1', '1,2025-03-20,5.00,USD,G-2', '2,2025-04-01,7.00,USD,G-3'),
    )
    for (const name of ['projects', 'gifts']) await giving(`import ${folder}/${name}.csv`)
  })

  const lines = (...rows: readonly string[]) => ['project,date,amount,currency,reference', ...rows, ''].join('\n')
  const giving = (line: string) => printed(line, environment)
  const months = async () =>
    (await store.db.query('select project_id, month, amount, count, last_on from donation_month order by 1, 2')).rows

  it('is counted by an import, and written by --repair', async () => {
    await store.db.query(`update project set title = 'Pumps' where id = 1`)
    await store.db.query('delete from project_theme where project_id = 1')
    const again = await runCommandLine(['import', path.join(folder, 'projects.csv')], environment)
    expect(again.stdout).toMatch(/0 changed, 2 unchanged, 0 refused, 1 differ from the store/)
    expect(await giving(`import ${folder}/projects.csv --repair --dry-run`)).toMatchObject({ changed: 1, unchanged: 1 })
    const { import: id } = await giving(`import ${folder}/projects.csv --repair`)
    const { rows } = await store.db.query(
      'select title, (select theme_id from project_theme where project_id = id) as theme from project where id = 1',
    )
    expect(rows).toEqual([{ title: 'Wells', theme: 'water' }])
    await giving(`imports undo ${id}`)
    expect((await store.db.query('select title from project where id = 1')).rows).toEqual([{ title: 'Pumps' }])
  })

  it('comes back as months of gifts', async () => {
    const before = await months()
    await store.db.query('delete from donation_month where project_id = 1')
    expect(await giving(`import ${folder}/gifts.csv`)).toMatchObject({ changed: 0, unchanged: 3, differing: 2 })
    expect(await giving(`import ${folder}/gifts.csv --repair`)).toMatchObject({ changed: 2, unchanged: 1 })
    expect(await months()).toEqual(before)
    // Of gifts from before their values were kept, the file has them.
    await store.db.query('update imported_gift set given_on = null, kind = null, amount = null, count = null')
    await store.db.query('update donation_month set amount = 1 where project_id = 1')
    expect(await giving(`import ${folder}/gifts.csv --repair`)).toMatchObject({ changed: 2, unchanged: 1 })
    expect(await months()).toEqual(before)
  })

  it('is counted where months of gifts have other sums', async () => {
    await store.db.query('update donation_month set amount = amount + 1 where project_id = 1')
    expect(await giving(`import ${folder}/gifts.csv`)).toMatchObject({ changed: 0, unchanged: 3, differing: 2 })
    expect(await giving(`import ${folder}/gifts.csv --repair`)).toMatchObject({ changed: 2, unchanged: 1 })
    expect(await giving(`import ${folder}/gifts.csv`)).toMatchObject({ unchanged: 3, differing: 0 })
  })

  it('gives a reference other values with --correct, and back', async () => {
    const before = await months()
    const file = path.join(folder, 'corrected-gifts.csv')
    await writeFile(file, lines('1,2025-03-05,25.00,USD,G-1', '2,2025-04-11,6.00,USD,G-2'))
    const refused = await runCommandLine(['import', file, '--kind', 'gifts'], environment)
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringMatching(/reference: expected a new one/) })
    const { import: id } = await giving(`import ${file} --kind gifts --correct`)
    expect(await months()).toEqual([
      { projectId: 1, month: '2025-03-01', amount: '25.000', count: 1, lastOn: '2025-03-05' },
      { projectId: 2, month: '2025-04-01', amount: '13.000', count: 2, lastOn: '2025-04-11' },
    ])
    expect((await store.db.query('select id, funding from project order by id')).rows).toEqual([
      { id: 1, funding: '25.000' },
      { id: 2, funding: '13.000' },
    ])
    expect(await store.snapshot((db) => listDifferences(db, 3))).toEqual([])
    await giving(`imports undo ${id}`)
    expect(await months()).toEqual(before)
    expect(await store.snapshot((db) => listDifferences(db, 3))).toEqual([])
  })

  it('is one gift or payout by its reference, and taken back as an import', async () => {
    const before = await months()
    expect(await giving('gifts show G-2')).toMatchObject({ project: 1, date: '2025-03-20', amount: '5.000' })
    expect(await giving('gifts correct G-2 --amount 6.50 --date 2025-05-02')).toMatchObject({ amount: '6.500' })
    expect(await months()).toMatchObject([
      { projectId: 1, month: '2025-03-01', amount: '25.000', count: 1, lastOn: '2025-03-05' },
      { projectId: 1, month: '2025-05-01', amount: '6.500', lastOn: '2025-05-02' },
      { projectId: 2 },
    ])
    const { import: id } = await giving('gifts remove G-2')
    expect(await months()).toMatchObject([{ month: '2025-03-01' }, { projectId: 2 }])
    expect(await store.snapshot((db) => listDifferences(db, 3))).toEqual([])
    await giving(`imports undo ${id}`)
    await giving(`imports undo ${Number(id) - 1}`)
    expect(await months()).toEqual(before)

    for (const [line, message] of [
      ['gifts show G-9', 'no gift was imported with the reference G-9'],
      ['gifts correct G-2 --date 2030-01-01', '--date: expected a day that is not in the future'],
      ['gifts correct G-2 --amount 1.234', '--amount: expected at most 2 decimals'],
      ['gifts correct G-2 --amount -5', 'expected an amount above 0'],
      ['disbursements remove P-9', 'there is no payout P-9'],
    ] as const) {
      const { code, stderr } = await runCommandLine(line.split(' '), environment)
      expect({ code, stderr }, line).toEqual({ code: 2, stderr: expect.stringContaining(message) })
    }
    expect(await months()).toEqual(before)
  })

  it('is one report by its number or its id of the platform', async () => {
    const file = path.join(folder, 'reports.ndjson')
    const report = {
      url: 'https://platform.example/r/1',
      externalId: 'R-1',
      project: 1,
      title: 'Pumps',
      html: '<p>Run.</p>',
    }
    await writeFile(
      file,
      JSON.stringify({ ...report, published: '2025-03-01', images: [{ url: 'https://platform.example/1.jpg' }] }),
    )
    await giving(`import ${file}`)
    const before = await giving('reports show R-1')
    expect(before).toMatchObject({ project: 1, title: 'Pumps', published: '2025-03-01T00:00:00Z', source: 'import' })
    expect(await giving(`reports correct ${before.id} --title Wells --published 2025-04-02`)).toEqual({
      ...before,
      ...{ title: 'Wells', published: '2025-04-02T00:00:00Z', updated: '2025-04-02T00:00:00Z' },
    })
    const { import: id } = await giving('reports remove R-1')
    expect(await runCommandLine(['reports', 'show', 'R-1'], environment)).toMatchObject({ code: 2 })
    await giving(`imports undo ${id}`)
    expect((await store.db.query('select from report_image')).rowCount).toBe(1)
    await giving(`imports undo ${Number(id) - 1}`)
    expect(await giving('reports show R-1')).toEqual(before)
    await store.db.query(`update progress_report set source = 'upstream'`)
    expect(await runCommandLine(['reports', 'remove', 'R-1'], environment)).toMatchObject({
      stderr: expect.stringContaining('is upstream'),
    })
  })

  it('gives a payout other values with --correct', async () => {
    const file = path.join(folder, 'disbursements.csv')
    await writeFile(file, lines('1,2025-05-01,10.00,USD,P-1'))
    await giving(`import ${file}`)
    await writeFile(file, lines('1,2025-05-02,12.00,USD,P-1'))
    expect(await runCommandLine(['import', file], environment)).toMatchObject({ code: 2 })
    expect(await giving(`import ${file} --correct`)).toMatchObject({ changed: 1 })
    expect((await store.db.query('select disbursed_on, amount from disbursement')).rows).toEqual([
      { disbursedOn: '2025-05-02', amount: '12.000' },
    ])
    expect(await giving('disbursements correct P-1 --amount 13')).toMatchObject({ amount: '13.000', on: '2025-05-02' })
    const { import: id } = await giving('disbursements remove P-1')
    expect((await store.db.query('select from disbursement')).rowCount).toBe(0)
    await giving(`imports undo ${id}`)
    expect(await giving('disbursements show P-1')).toMatchObject({ amount: '13.000' })
  })
})

describe('gifts and payouts in another currency', () => {
  let environment: Readonly<Record<string, string>>
  let store: Store
  beforeAll(async () => {
    const database = await testDatabase()
    store = database.store
    environment = { DATABASE_URL: database.url, GIVING_DATA_DIR: folder, LOG_LEVEL: 'silent' }
    await importing('projects', 'id,title,status', '101,Wells,active')
  })
  const importing = async (kind: string, ...lines: string[]) => {
    const file = path.join(folder, `${kind}.csv`)
    await writeFile(file, `${lines.join('\n')}\n`)
    const { stdout } = await runCommandLine(['import', file, '--kind', kind, '--json'], environment)
    const { created, unchanged, refused, problems } = JSON.parse(stdout)
    return {
      created,
      unchanged,
      refused,
      problems: problems.map(
        (one: { line: number; field: string; expected: string }) => `${one.line} ${one.field}: ${one.expected}`,
      ),
    }
  }

  it('count with what was settled, and are refused by line without it', async () => {
    const gifts = [
      'project,date,amount,currency,settledAmount,reference',
      '101,2026-01-05,100.00,EUR,110.25,G-1',
      '101,2026-01-06,5000,JPY,32.50,G-2',
      '101,2026-01-07,10.00,USD,,G-3',
      '101,2026-01-08,100.00,EUR,,G-4',
      '101,2026-01-09,100.00,EUR,-110.00,G-5',
      '101,2026-01-10,5.5,JPY,0.04,G-6',
      '101,2026-01-11,10.00,USD,11.00,G-7',
    ]
    const refused = [
      '5 settledAmount: what was settled in USD for an amount in EUR',
      '6 settledAmount: the sign of the amount',
      '7 amount: at most 0 decimals',
      '8 settledAmount: nothing beside an amount in USD',
    ]
    expect(await importing('gifts', ...gifts)).toEqual({ created: 3, unchanged: 0, refused: 4, problems: refused })
    expect(await importing('gifts', ...gifts)).toMatchObject({ created: 0, unchanged: 3 })
    const { rows } = await store.db.query('select funding, number_of_donations as n from project')
    expect(rows).toEqual([{ funding: '152.750', n: 3 }])
    const payouts = [
      'project,date,amount,currency,settledAmount,reference',
      '101,2026-02-01,3500,KES,25.00,P-1',
      '101,2026-02-02,10.00,USD,,P-2',
      '101,2026-02-03,3500,KES,,P-3',
    ]
    const expected = ['4 settledAmount: what was settled in USD for an amount in KES']
    expect(await importing('disbursements', ...payouts)).toMatchObject({ created: 2, refused: 1, problems: expected })
    expect(await importing('disbursements', ...payouts)).toMatchObject({ created: 0, unchanged: 2 })
    const { stdout } = await runCommandLine(['disbursements', 'show', 'P-1'], environment)
    expect(stdout).toBe('P-1  project 101  2026-02-01  25.000 USD (3500.000 KES)  import\n')
    // Other words of the same payout.
    payouts[1] = '101,2026-02-01,3600,KES,25.00,P-1'
    expect(await importing('disbursements', ...payouts)).toMatchObject({ refused: 2 })
  })
})

describe('a CSV file that was not made for this program', () => {
  let environment: Readonly<Record<string, string>>
  beforeAll(async () => {
    environment = { DATABASE_URL: (await testDatabase()).url, GIVING_DATA_DIR: folder, LOG_LEVEL: 'silent' }
    await importing(['projects.csv'], 'id,title,status\n1,Wells,active\n')
  })

  async function importing(args: readonly string[], content: string | Buffer) {
    const [name = '', ...options] = args
    await writeFile(path.join(folder, name), content)
    return await runCommandLine(['import', path.join(folder, name), ...options], environment)
  }
  const ofGermany = [
    ...['messy.csv', '--kind', 'gifts', '--encoding', 'windows-1252', '--decimal', 'comma', '--date', 'dd.mm.yyyy'],
    ...['--map', 'projekt nr=project,Betrag=amount,Währung=currency,Tag=date,Notiz=,Beleg=reference'],
  ]
  const head = 'Projekt Nr;Betrag;Währung;Tag;Notiz;Beleg'
  const messy = (...rows: readonly string[]) => Buffer.from(`${[head, ...rows].join('\r\n')}\r\n`, 'latin1')

  it('is read with a mapping of its columns, its encoding, its amounts and its days', async () => {
    const { code, stdout } = await importing(ofGermany, messy('1;1.234,50;USD;5.3.2025;Grüße;R-ü1'))
    expect({ code, stdout }).toEqual({ code: 0, stdout: '1 records: 1 created, 0 changed, 0 unchanged, 0 refused\n' })
    expect((await runCommandLine(['gifts', 'show', 'R-ü1', '--json'], environment)).stdout).toBe(
      '{"reference":"R-ü1","project":1,"date":"2025-03-05","kind":"gift","amount":"1234.500","count":1}\n',
    )
  })

  it('is refused in its rows by what was said of it, and fixed as it came', async () => {
    const bad = path.join(folder, 'bad.csv')
    const args = [...ofGermany, '--problems', bad]
    const { code, stderr } = await importing(args, messy('1;5,00;USD;32.03.2025;;R-2', '1;5,00;USD;03/04/2025;;R-3'))
    expect(code).toBe(2)
    expect(stderr).toMatch(/line 2, .*date: expected a day such as dd.mm.yyyy, got "32.03.2025"/)
    const fixed = (await readFile(bad, 'utf8')).replace('5;USD;32.', '5;USD;30.').replace(';32.03.', ';30.03.')
    const again = await importing(['bad.csv', ...args.slice(1)], fixed.replace(';03/04/2025', ';03.04.2025'))
    expect(again).toMatchObject({ code: 0, stdout: expect.stringMatching(/^2 records: 2 created/) })
  })

  it('is told what its options lack', async () => {
    for (const [args, message] of [
      [
        ['messy.csv', '--kind', 'gifts', '--encoding', 'latin1', '--map', 'Nix=project'],
        'a first line without \\"Nix\\", which --map names',
      ],
      [['messy.csv', '--kind', 'gifts'], 'text that is not UTF-8: save it as \\"CSV UTF-8\\", or name its --encoding'],
      [['messy.csv', '--date', 'yy-mm'], 'expected dd, mm (or mmm for a name) and yyyy'],
      [['messy.csv', '--encoding', 'morse'], 'expected an encoding such as windows-1252'],
      [['messy.csv', '--map', 'Betrag'], 'expected COLUMN=field'],
    ] as const) {
      const { code, stderr } = await importing([...args], messy('1;5,00;USD;05.03.2025;Grüße;R-4'))
      expect(code, args.join(' ')).not.toBe(0)
      expect(stderr).toContain(message)
    }
  })
})
