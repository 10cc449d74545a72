import { execFileSync } from 'node:child_process'
import { createHash, randomUUID } from 'node:crypto'
import { readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { listAudit } from '../../../src/accounts/sql/audit-events.js'
import type { DataPackage } from '../../../src/catalogue/export/data-package.js'
import { exportStore } from '../../../src/catalogue/export/export-store.js'
import { importExport } from '../../../src/catalogue/export/import-export.js'
import type { KindFields } from '../../../src/catalogue/import/fields.js'
import { importFiles } from '../../../src/catalogue/import/import.js'
import { kinds } from '../../../src/catalogue/import/kinds.js'
import { resources } from '../../../src/catalogue/sql/export/resources.js'
import type { TableResource } from '../../../src/catalogue/sql/export/table-resource.js'
import { readDonationRequest } from '../../../src/http/api/operations/donation-request.js'
import { usualLimits } from '../../../src/money/payments.js'
import { refundDonation } from '../../../src/money/refund-donation.js'
import { listDifferences } from '../../../src/money/sql/books-check.js'
import { eraseDonor } from '../../../src/money/sql/donors.js'
import { submitDonation } from '../../../src/money/submit-donation.js'
import type { Store } from '../../../src/platform/database/store.js'
import { everything, fillWithEverySource, publishedTwice } from '../../support/catalogue/export-proof.js'
import { runCommandLine } from '../../support/commands/command-line.js'
import {
  account,
  donationFields,
  insertDonationTargets,
  testDonors,
  testPayments,
} from '../../support/money/donations.js'
import { testPublisher } from '../../support/release/publishing.js'
import { testDatabase } from '../../support/store/database.js'
import { seedProjects } from '../../support/store/seeded.js'
import { mappingConfig, usd } from '../../support/values/builders.js'
import { temporaryFolder } from '../../support/values/temporary-folder.js'

const { ref } = mappingConfig.reportingOrg
const folder = await temporaryFolder()

/** Everything of the tables that an export holds, without what it leaves. */
async function rowsOf(store: Store): Promise<Record<string, string[]>> {
  const contents: Record<string, string[]> = {}
  for (const [table, left] of exportedTables()) {
    const { rows } = await store.db.query<{ row: string }>(
      `select (to_jsonb(t) - $1::text[])::text as row from ${table} t order by 1`,
      [left],
    )
    contents[table] = rows.map(({ row }) => row)
  }
  return contents
}

/** Tables of the resources, with the lists of their records, and the columns that are left of each. */
function exportedTables(): Map<string, string[]> {
  const declared = Object.values(resources).flatMap((resource) => {
    if (!('rows' in resource)) return []
    const { table, lists = {}, left = {} }: TableResource = resource.rows
    return [[table, Object.keys(left)] as const, ...Object.values(lists).map((list) => [list.table, []] as const)]
  })
  return new Map(declared.map(([table, left]) => [table, [...left]]))
}

// Made again from what is exported, or of no use to another store.
const leftBehind = [
  ...[
    'access_token',
    'activity_rows',
    'account_code',
    'asked_mail',
    'attempt_count',
    'audit_event',
    'charge_state',
    'content_change',
    ...['donation_plan', 'donation_plan_charge'],
    'featured_hour',
    'organisation_record',
  ],
  ...['import', 'import_change', 'import_line'],
  // What the service fetches from where is of one installation, as its configuration is.
  // Recipes are kept with `giving recipes show NAME > NAME.json`, beside the files that they read.
  ...['import_recipe', 'import_source', 'import_source_file', 'import_source_reading', 'import_source_record'],
  'organisation_version',
  'taken_lock',
  ...['processor_entry', 'reconciliation', 'reconciliation_difference'],
  ...[
    'project_search',
    'project_version',
    'pruned_run',
    'receipt_mail',
    'donor_mail',
    ...['followed_project', 'subscription', 'subscription_mail'],
    'release',
    'release_event',
    ...['run', 'run_line'],
    'run_shard',
    ...['segment_change', 'segment_summary'],
    'schedule',
    'search_change',
  ],
  ...['schema_migration', 'sign_in_place', 'store_fact', 'sync_notice', 'sync_run', 'upstream_trait', 'wire_record'],
  ...['webhook_event', 'wrong_clock'],
]
// Written by the resource `activities`.
const published = ['published_identifier', 'rendering', 'report_feed']
// In the descriptor.
const described = ['publisher']

async function text(...names: readonly string[]): Promise<string> {
  return await readFile(path.join(folder, ...names), 'utf8')
}

describe('an export that is imported into an empty store', () => {
  it('is published with the same bytes', async () => {
    const { ours, theirs } = await publishedTwice(25, path.join(folder, 'proof'))
    expect(theirs).toEqual(ours)
    expect(theirs.manifest).toMatchObject({ held: { count: 2 } })
    expect(Object.keys(theirs.files)).toEqual(
      expect.arrayContaining(['bulk/projects.xml', expect.stringMatching(/archive/)]),
    )
  })

  it('has every row again, donors and accounts too, and numbers go on', async () => {
    const { store, url } = await testDatabase()
    await fillWithEverySource(store, 30)
    const keyId = await insertDonationTargets(store.db, [7_000_001])
    await store.db.query(`insert into account_grant select id, 'donations', now() from account`)
    await give(store, keyId, { noteToOrganization: 'Well done' })
    const { id } = await give(store, keyId)
    await refundDonation(testPayments(store), { donationId: id, kind: 'refund', amount: undefined })
    const directory = path.join(folder, 'whole')
    const run = (line: string, database: string) =>
      runCommandLine([...line.split(' '), '--json'], { DATABASE_URL: database, LOG_LEVEL: 'silent' })
    // Identifiers that moved here have any form.
    const moved = path.resolve('test/cases/import-iati-of-an-earlier-identifier/in.xml')
    expect(await run(`import ${moved} --kind iati`, url)).toMatchObject({ code: 0 })
    expect(await run(`export ${directory} --with-donors --with-accounts`, url)).toMatchObject({ code: 0, stderr: '' })
    const other = await testDatabase()
    expect(await run(`import ${directory}`, other.url)).toMatchObject({ code: 0, stderr: '' })
    expect(await rowsOf(other.store)).toEqual(await rowsOf(store))
    expect(await other.store.snapshot((db) => listDifferences(db, 10))).toEqual([])
    expect(await listAudit(other.store.db, { since: new Date(0), limit: 9 })).toMatchObject([
      { action: 'store-imported' },
    ])

    expect((await give(other.store, keyId)).id).toBe(id + 1)
    expect((await stat(path.join(directory, 'donations.ndjson'))).mode & 0o777).toBe(0o600)
    const refused = await run(`import ${directory}`, other.url)
    expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining('imported into an empty store') })
  })

  it('knows of every table whether it is exported', async () => {
    const { store } = await testDatabase()
    const { rows } = await store.db.query<{ name: string }>(
      `select relname as name from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace`,
    )
    expect([...exportedTables().keys(), ...leftBehind, ...published, ...described].sort()).toEqual(
      rows.map(({ name }) => name).sort(),
    )
  })
})

describe('the files of an export', { shuffle: false }, async () => {
  const { store } = await testDatabase()
  await seedProjects(store, 30, new Date('2026-11-17T00:00:00Z'))
  const keyId = await insertDonationTargets(store.db, [7_000_001])
  await give(store, keyId, { noteToOrganization: 'Well done' })

  it('are described with their hash, size, rows and fields, and hold no donor and no account', async () => {
    const directory = path.join(folder, 'described')
    await exportStore(store, directory, everything)
    const { resources: files, giving } = JSON.parse(await text('described', 'datapackage.json')) as DataPackage
    expect(giving).toMatchObject({ complete: true, donors: false, accounts: false })
    expect((await readdir(directory)).sort()).toEqual(['datapackage.json', ...files.map((file) => file.path)].sort())
    let all = ''
    for (const file of files) {
      const content = await text('described', file.path)
      all += content
      expect(file).toMatchObject({
        hash: `sha256:${createHash('sha256').update(content).digest('hex')}`,
        bytes: Buffer.byteLength(content),
        rowCount: content.split('\n').length - 1,
      })
      const fields = new Set(file.schema.fields.map(({ name }) => name))
      for (const line of content.split('\n').slice(0, -1)) {
        expect(Object.keys(JSON.parse(line) as object).filter((name) => !fields.has(name))).toEqual([])
      }
    }
    expect(all).not.toMatch(/lina@example.org|Okoro|Well done|key_hash|passwordHash/)
    expect(files.find(({ name }) => name === 'projects')?.schema.fields).toContainEqual({
      ...{ name: 'id', type: 'integer', constraints: { required: true } },
      description: "The platform's number of the project. It never changes.",
    })
  })

  it('are read by giving import one by one, as CSV too', async () => {
    const directory = path.join(folder, 'tables')
    await exportStore(store, directory, { ...everything, format: 'csv' })
    await exportStore(store, path.join(folder, 'lines'), { ...everything, kind: 'payout-plans' })
    const other = (await testDatabase()).store
    const options = { source: 'import', clock: everything.clock, currency: usd } as const
    for (const { name, fields } of kinds as readonly { name: string; fields: KindFields }[]) {
      const columns = (await text('tables', `${name}.csv`)).split('\r\n', 1)[0]?.split(',') ?? []
      const required = Object.keys(fields).filter((field) => fields[field]?.required)
      expect({ name, columns: columns.filter((column) => !(column in fields)) }).toEqual({ name, columns: [] })
      expect(columns).toEqual(expect.arrayContaining(required))
    }
    for (const name of ['themes', 'organizations', 'funders', 'projects', 'images', 'reports', 'disbursements']) {
      const summary = await importFiles(other, [path.join(directory, `${name}.csv`)], options)
      expect({ name, ...summary }).toMatchObject({ name, refused: 0, brokenFiles: 0, problems: [] })
    }
    const plans = await importFiles(other, [path.join(folder, 'lines', 'payout-plans.ndjson')], options)
    expect(plans).toMatchObject({ refused: 0, brokenFiles: 0, problems: [] })
    const titles = 'select id, title, summary, goal from project order by id'
    expect((await other.db.query(titles)).rows).toEqual((await store.db.query(titles)).rows)
  })

  it('are refused when they are not whole, damaged, or of a newer version', async () => {
    const other = (await testDatabase()).store
    const copy = async (name: string, change: (directory: string) => Promise<void>) => {
      const directory = path.join(folder, name)
      await exportStore(store, directory, everything)
      await change(directory)
      return importExport(other, directory, everything)
    }
    const edit = (file: string, from: string | RegExp, to: string) => async (directory: string) => {
      const content = await readFile(path.join(directory, file), 'utf8')
      await writeFile(path.join(directory, file), content.replace(from, to))
    }
    await expect(copy('damaged', edit('projects.ndjson', 'a', 'b'))).rejects.toThrow('its size or hash differs')
    await expect(copy('newer', edit('datapackage.json', /"schema": \d+,/, '"schema": 9999,'))).rejects.toThrow(
      'the export is of schema 9999',
    )
    await expect(copy('gone', (directory) => rm(path.join(directory, 'themes.ndjson')))).rejects.toThrow(
      'cannot be read',
    )
    const pipe = async (directory: string) => {
      await rm(path.join(directory, 'themes.ndjson'))
      execFileSync('mkfifo', [path.join(directory, 'themes.ndjson')])
    }
    await expect(copy('pipe', pipe)).rejects.toThrow('is no regular file')
    const device = async (directory: string) => {
      await rm(path.join(directory, 'datapackage.json'))
      await symlink('/dev/zero', path.join(directory, 'datapackage.json'))
    }
    await expect(copy('device', device)).rejects.toThrow('is no regular file')
    await expect(copy('unfinished', (directory) => rm(path.join(directory, 'datapackage.json')))).rejects.toThrow(
      'cannot be read',
    )
    await expect(importExport(other, path.join(folder, 'lines'), everything)).rejects.toThrow('a part of a store')
    await expect(exportStore(store, path.join(folder, 'lines'), everything)).rejects.toThrow('expected an empty folder')
    expect((await other.db.query('select id from project')).rows).toEqual([])
  })
})

describe('giving export', () => {
  it('of what is published lets a successor publish the same under the same identifiers', async () => {
    const { store, url } = await testDatabase()
    await seedProjects(store, 12, new Date('2026-11-17T00:00:00Z'))
    const dataDir = path.join(folder, 'of-one')
    const feedsDir = path.join(dataDir, 'feeds')
    const giving = (...args: string[]) =>
      runCommandLine(args, { DATABASE_URL: url, GIVING_DATA_DIR: dataDir, LOG_LEVEL: 'silent' })
    const directory = path.join(folder, 'published')
    expect(await giving('export', directory, '--published')).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/nothing is published/),
    })
    const publisher = await testPublisher(store, { feedsDir })
    await publisher.publish()
    await store.db.query('update project set active = false where id = (select max(id) from project)')
    const { code, stdout } = await giving('export', directory, '--published', '--format', 'csv')
    expect({ code, stdout }).toMatchObject({ code: 0, stdout: expect.stringMatching(/^activities\.csv: 12 records/) })
    expect((await readdir(directory)).sort()).toEqual([
      ...['activities.csv', 'activities.xml', 'datapackage.json', 'organisations.xml'],
    ])
    expect(await giving('export', `${directory}-2`, '--published', '--with-donors')).toMatchObject({
      stderr: expect.stringMatching(/cannot be used with/),
    })

    const other = (await testDatabase()).store
    const files = ['activities.xml', 'organisations.xml'].map((name) => path.join(directory, name))
    const options = { source: 'import', clock: everything.clock, currency: usd, publisherRef: ref } as const
    expect(await importFiles(other, files, options)).toMatchObject({ refused: 0, problems: [] })
    const successor = await testPublisher(other)
    await successor.publish()
    for (const name of ['activities', 'organisations']) {
      const identifiersOf = (text: string) => text.match(/<(iati|organisation)-identifier>[^<]*/g)?.sort()
      expect(identifiersOf(await successor.read(`/iati/${name}.xml`))).toEqual(
        identifiersOf(await publisher.read(`/iati/${name}.xml`)),
      )
    }
  })

  it('has what is of a day and later, or has changed since', async () => {
    const { store, url } = await testDatabase()
    await store.db.query(`insert into project (id, active, status, title)
      values (1, true, 'active', 'Old'), (2, true, 'active', 'New')`)
    await store.db.query(`insert into disbursement (project_id, reference, disbursed_on, amount, currency)
      values (1, 'D-1', '2026-01-31', 5, 'USD'), (1, 'D-2', '2026-02-01', 6, 'USD')`)
    await store.db.query(`update project_version set changed_at = '2026-01-31Z' where project_id = 1`)
    await store.db.query(`update project_version set changed_at = '2026-02-01Z' where project_id = 2`)
    const giving = (...args: string[]) =>
      runCommandLine(['export', ...args], { DATABASE_URL: url, LOG_LEVEL: 'silent' })
    expect(await giving(path.join(folder, 'since'), '--since', '2026-02-01')).toMatchObject({ code: 0 })
    expect(await text('since', 'projects.ndjson')).toMatch(/^\{"id":2,[^\n]*\n$/)
    expect(await text('since', 'disbursements.ndjson')).toMatch(/^[^\n]*"D-2"[^\n]*\n$/)
    expect(JSON.parse(await text('since', 'datapackage.json'))).toMatchObject({ giving: { complete: false } })
    const one = path.join(folder, 'since-kind')
    await giving(one, '--since', '2026-01-31', '--kind', 'disbursements', '--format', 'csv')
    expect((await readdir(one)).sort()).toEqual(['datapackage.json', 'disbursements.csv'])
    expect((await text('since-kind', 'disbursements.csv')).match(/D-\d/g)).toEqual(['D-1', 'D-2'])
  })
})

describe('giving export donations', () => {
  it('passes on notes, and names of those who signed up; a spreadsheet takes none for a formula', async () => {
    const { store, url } = await testDatabase()
    const keyId = await insertDonationTargets(store.db, [7_000_001, 7_000_002])
    const quiet = { signupForCharityNewsletter: false }
    const first = await give(store, keyId, { noteToOrganization: '=HYPERLINK("http://evil.example")\nsecond line' })
    await give(store, keyId, { ...quiet, noteToOrganization: '＝cmd' })
    await give(store, keyId, quiet)
    await give(store, keyId, {}, { firstname: '+Ann' })
    await give(store, keyId, { noteToOrganization: 'of another project', project: { id: 7_000_002 } })
    const refunded = await give(store, keyId, { noteToOrganization: 'given back' })
    await refundDonation(testPayments(store), { donationId: refunded.id, kind: 'refund', amount: undefined })
    await give(store, keyId, { noteToOrganization: 'erased', email: 'gone@example.org' })
    await eraseDonor(store.db, { hashes: testDonors.lookupHashes('gone@example.org'), email: 'gone@example.org' })

    const run = (...args: string[]) =>
      runCommandLine(['export', 'donations', '--project', '7000001', ...args], {
        DATABASE_URL: url,
        LOG_LEVEL: 'silent',
        DONOR_KEYS: `test:${Buffer.alloc(32, 7).toString('base64')}`,
      })
    const { code, stdout, stderr } = await run('--since', '2026-11-01')
    expect(stderr).toBe('')
    expect(code).toBe(0)
    expect(stdout.split('\r\n')).toEqual([
      'donation,date,name,note',
      `${first.id},2026-11-21,Lina Okoro,"'=HYPERLINK(""http://evil.example"") second line"`,
      `${first.id + 1},2026-11-21,,'＝cmd`,
      `${first.id + 3},2026-11-21,'+Ann Okoro,`,
      '',
    ])
    expect((await run('--since', '2026-11-22')).stdout).toBe('donation,date,name,note\r\n')
    const { donations } = JSON.parse((await run('--since', '2026-11-01', '--json')).stdout) as { donations: object[] }
    expect(donations[1]).toEqual({ donation: first.id + 1, date: '2026-11-21', note: '＝cmd' })
    expect(await listAudit(store.db, { since: new Date(0), limit: 9 })).toMatchObject(
      Array(3).fill({ action: 'donations-exported', subject: 'project 7000001' }),
    )
  })
})

/** A donation as a client with the grant for notes makes it. */
async function give(
  store: Store,
  keyId: number,
  changes: object = {},
  payment: Record<string, unknown> = {},
): Promise<{ id: number }> {
  const fields = donationFields({ project: { id: 7_000_001 }, ...changes }, payment)
  const rules = {
    version: 2,
    currency: usd,
    limits: { USD: usualLimits },
    gateways: ['braintree'],
    mayNote: true,
    mayNamePartner: false,
  } as const
  await submitDonation(
    testPayments(store),
    { account, keyId, requestId: randomUUID() },
    readDonationRequest(fields, rules),
  )
  const { rows } = await store.db.query<{ id: number }>('select max(id) as id from donation')
  return { id: rows[0]?.id ?? 0 }
}
