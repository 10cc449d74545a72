import { cp, lstat, mkdir, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { gunzipSync, gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { exportStore } from '../../../src/catalogue/export/export-store.js'
import { listDifferences } from '../../../src/money/sql/books-check.js'
import { submitDonation } from '../../../src/money/submit-donation.js'
import { writeBackup } from '../../../src/platform/database/backup.js'
import { migrate } from '../../../src/platform/database/migrate.js'
import { restoreBackup } from '../../../src/platform/database/restore.js'
import { backUpIfDue, backupState, tryLastIfDue } from '../../../src/platform/database/scheduled-backup.js'
import type { Store } from '../../../src/platform/database/store.js'
import { tryBackup } from '../../../src/platform/try-backup.js'
import { everything, fillWithEverySource } from '../../support/catalogue/export-proof.js'
import { runCommandLine } from '../../support/commands/command-line.js'
import { account, donationRequest, insertDonationTargets, testPayments } from '../../support/money/donations.js'
import { publishedBytes } from '../../support/release/published-bytes.js'
import { testPublisher } from '../../support/release/publishing.js'
import { emptyDatabase, testDatabase } from '../../support/store/database.js'
import { temporaryFolder } from '../../support/values/temporary-folder.js'

const folder = await temporaryFolder()
const database = await testDatabase()
const store = database.store

const signal = new AbortController().signal
const clock = () => new Date('2026-11-21T08:00:00Z')
const nothing = async () => undefined

const command = (url: string, ...args: string[]) =>
  runCommandLine(args, { DATABASE_URL: url, GIVING_DATA_DIR: folder, LOG_LEVEL: 'silent' })

async function exported(from: Store, name: string): Promise<Record<string, string>> {
  const directory = path.join(folder, name)
  const options = { ...everything, donors: true, accounts: true }
  await exportStore(from, directory, options)
  const files = await readdir(directory)
  return Object.fromEntries(
    await Promise.all(files.map(async (file) => [file, await readFile(path.join(directory, file), 'utf8')] as const)),
  )
}

describe('giving backup and giving restore', { shuffle: false }, () => {
  it('a backup is one snapshot, while donations and a publication go on', async () => {
    await fillWithEverySource(store, 30)
    const targets = [9_001, 9_002]
    const keyId = await insertDonationTargets(store.db, targets)
    const payments = testPayments(store, { timeoutMs: 60_000 })
    const give = async (number: number) => {
      const request = donationRequest({ transactionId: `tx-${number}`, project: { id: targets[number % 2] } })
      await submitDonation(payments, { account, keyId, requestId: `rq-${number}` }, request)
    }
    const publisher = await testPublisher(store)
    await give(0)
    const giving = (async () => {
      for (let number = 1; number <= 30; number++) await give(number)
    })()
    const file = path.join(folder, 'running.sql.gz')
    const [made] = await Promise.all([command(database.url, 'backup', file, '--json'), publisher.publish(), giving])
    expect(made.code, made.stderr).toBe(0)
    expect((await stat(file)).mode & 0o777).toBe(0o600)

    const other = await emptyDatabase()
    const restored = await command(other.url, 'restore', file, '--json')
    expect(restored.code, restored.stderr).toBe(0)
    expect(JSON.parse(restored.stdout)).toMatchObject({ donorKeys: ['test'], migrated: [] })
    expect(await other.store.snapshot((db) => listDifferences(db, 10))).toEqual([])
    const { rows } = await other.store.db.query<{ count: number }>('select count(*)::integer as count from donation')
    expect(rows[0]?.count).toBeGreaterThanOrEqual(1)
    // Writers and triggers go on where the backup ended.
    await other.store.db.query(`insert into project (active, status, title) values (true, 'active', 'Next')`)
    const { rows: marked } = await other.store.db.query(
      "select from project_version v join project p on p.id = v.project_id where title = 'Next'",
    )
    expect(marked).toHaveLength(1)
  })

  it('what is restored exports the same files and publishes the same bytes', async () => {
    const publisher = await testPublisher(store)
    publisher.now = new Date('2026-11-22T02:00:00Z')
    await publisher.publish()
    const file = path.join(folder, 'whole.sql.gz')
    await writeBackup(store, file, { clock, signal })
    const other = await emptyDatabase()
    await restoreBackup(other.store, file, { signal, contentsOf: nothing })
    expect(await exported(other.store, 'theirs')).toEqual(await exported(store, 'ours'))
    const feedsDir = path.join(folder, 'feeds')
    await cp(publisher.feedsDir, feedsDir, { recursive: true, verbatimSymlinks: true })
    const theirs = await testPublisher(other.store, { feedsDir })
    for (const one of [store, other.store]) {
      await one.db.query(`update project set summary = 'After the backup' where id % 5 = 0`)
    }
    for (const one of [publisher, theirs]) {
      one.now = new Date('2026-11-23T02:00:00Z')
      expect(await one.publish()).toMatchObject({ state: 'published' })
    }
    expect(await publishedBytes(feedsDir)).toEqual(await publishedBytes(publisher.feedsDir))
  })

  it('holds no secret that is not hashed or encrypted', async () => {
    const text = gunzipSync(await readFile(path.join(folder, 'whole.sql.gz'))).toString('utf8')
    expect(text).toContain('copy "donor"')
    expect(text).not.toContain('lina@example.org')
    expect(text.match(/^copy "schema_migration"/m)).toBeNull()
  })

  it('replaces nothing that has the name, a link to a device too', async () => {
    const link = path.join(folder, 'device')
    await symlink('/dev/null', link)
    expect(await command(database.url, 'backup', link)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining(`expected a new file, but ${link} is there`),
    })
    expect((await lstat(link)).isSymbolicLink()).toBe(true)
  })

  it('is tried in a server of its own, which is removed', async () => {
    const file = path.join(folder, 'whole.sql.gz')
    const good = await command('postgres://nobody@127.0.0.1:1/none', 'backup', '--verify', file)
    expect(good.code, good.stderr).toBe(0)
    expect(good.stdout).toMatch(/rows of \d+ tables, schema \d+, as of 2026-11-21T08:00:00Z/)
    expect(good.stdout).toContain('DONOR_KEYS needs the keys test')
    const cut = path.join(folder, 'cut.sql.gz')
    await writeFile(cut, (await readFile(file)).subarray(0, -2000))
    const bad = await command('postgres://nobody@127.0.0.1:1/none', 'backup', '--verify', cut)
    expect([bad.code, bad.stderr]).toEqual([2, expect.stringContaining('cut.sql.gz')])
  })

  it('is not tried where there is no room for the store', async () => {
    const text = gunzipSync(await readFile(path.join(folder, 'whole.sql.gz'))).toString('utf8')
    expect(text).toMatch(/"storeBytes":\d{7,}/)
    const file = path.join(folder, 'large.sql.gz')
    await writeFile(file, gzipSync(text.replace(/"storeBytes":\d+/, `"storeBytes":${2 ** 50}`)))
    const { code, stderr } = await command('postgres://nobody@127.0.0.1:1/none', 'backup', '--verify', file)
    expect(code).toBe(2)
    expect(stderr).toMatch(/the store needs 1073741824 MB in .*, which has \d+ MB free: make room, or set TMPDIR/)
  })

  it('refuses a store with contents, a file that is none, one that is not whole, and a newer one; nothing stays', async () => {
    const file = path.join(folder, 'whole.sql.gz')
    const taken = await command(database.url, 'restore', file)
    expect([taken.code, taken.stderr]).toEqual([2, expect.stringContaining('the store has projects')])
    const text = gunzipSync(await readFile(file)).toString('utf8')
    const wrong = async (name: string, changed: string, message: string) => {
      const other = path.join(folder, name)
      await writeFile(other, gzipSync(changed))
      const { store: target } = await testDatabase()
      await expect(restoreBackup(target, other, { signal, contentsOf: nothing })).rejects.toThrow(message)
      const { rows } = await target.db.query<{ count: number }>(
        `select (select count(*) from project)::integer + (select count(*) from pg_trigger where tgenabled = 'D')::integer as count`,
      )
      expect(rows).toEqual([{ count: 0 }])
    }
    await wrong('none.sql.gz', 'select 1;\n', 'is not of giving backup')
    await wrong('half.sql.gz', text.slice(0, text.indexOf('copy "project_theme"') + 200), 'it is not whole')
    await wrong('less.sql.gz', text.replace(/(copy "project_search" .*\n).*\n/, '$1'), 'its last line says')
    await wrong('more.sql.gz', text.replace('"summary"', '"strange"'), 'with a column strange')
    await wrong('newer.sql.gz', text.replace(/"schema":\d+/, '"schema":9999'), 'install the newer version first')
  })

  it('one of an older schema is brought up to date in an empty database', async () => {
    const old = await emptyDatabase()
    await migrate(old.store, undefined, 54)
    await old.store.db.query(
      `insert into project (id, active, status, title) values (7, true, 'active', E'a\\\\.\\n\\\\.\\tb')`,
    )
    const file = path.join(folder, 'old.sql.gz')
    await writeBackup(old.store, file, { clock, signal })
    const other = await emptyDatabase()
    const { migrated } = await restoreBackup(other.store, file, { signal, contentsOf: nothing })
    expect(migrated).toContain('0055-external-ids')
    const { rows } = await other.store.db.query('select title, external_id from project')
    expect(rows).toEqual([{ title: 'a\\.\n\\.\tb', externalId: undefined }])
    const { store: newer } = await testDatabase()
    await expect(restoreBackup(newer, file, { signal, contentsOf: nothing })).rejects.toThrow(
      'restore into an empty database',
    )
  })

  /** What a command prints where backups are kept in this folder. */
  const commandsWith = (directory: string) => async (command: string) => {
    const environment = {
      DATABASE_URL: database.url,
      GIVING_DATA_DIR: folder,
      LOG_LEVEL: 'silent',
      BACKUP_DIR: directory,
    }
    return (await runCommandLine([command], environment)).stdout
  }

  it('once a day into BACKUP_DIR, of which the newest stay; status and doctor say when the last is old', async () => {
    const directory = path.join(folder, 'daily')
    const at = async (time: string) =>
      await backUpIfDue(store, { directory, keep: 2 }, { clock: () => new Date(time), signal })
    expect(await at('2026-11-01T03:37:00Z')).toMatch(/^giving-20261101T033700Z.sql.gz: .* 0 older ones removed$/)
    expect(await at('2026-11-01T04:37:00Z')).toBe('not due')
    await at('2026-11-02T03:37:00Z')
    expect(await at('2026-11-03T03:37:00Z')).toMatch('1 older ones removed')
    expect((await readdir(directory)).sort()).toEqual([
      'giving-20261102T033700Z.sql.gz',
      'giving-20261103T033700Z.sql.gz',
    ])
    const said = commandsWith(directory)
    const old = 'the last backup is of 2026-11-03T03:37:00Z, more than two days ago'
    expect(await said('status')).toContain(old)
    expect(await said('doctor')).toContain(old)
    await backUpIfDue(store, { directory, keep: 2 }, { clock: () => new Date(), signal })
    expect(await said('status')).not.toContain('the last backup')
    expect(await said('doctor')).toMatch('the last one is of')
  })
  it('says why none could be written, until one is, and removes halves that nobody writes any more', async () => {
    const directory = path.join(folder, 'kept')
    const said = commandsWith(directory)
    const at = async (time: number) =>
      await backUpIfDue(store, { directory, keep: 2 }, { clock: () => new Date(time), signal })
    await writeFile(directory, '')
    const now = Date.now()
    await expect(at(now)).rejects.toThrow(/BACKUP_DIR .*kept: EEXIST/)
    const failed = /no backup could be written at [\dTZ:-]+: BACKUP_DIR .*kept: EEXIST/
    expect(await said('status')).toMatch(failed)
    expect(await said('doctor')).toMatch(failed)
    await rm(directory)
    await mkdir(directory)
    const halves = ['giving-20261101T033700Z.sql.gz.part', 'other.part']
    const young = `giving-${new Date(now - 3_600_000).toISOString().replace(/\.\d+|[-:]/g, '')}.sql.gz.part`
    for (const name of [...halves, young]) await writeFile(path.join(directory, name), '')
    await at(now)
    expect((await readdir(directory)).filter((name) => name.endsWith('.part')).sort()).toEqual([young, 'other.part'])
    expect(await said('status')).not.toMatch(/backup/)
    expect(await said('doctor')).toMatch(/none was tried: giving backup --verify FILE/)
  })

  it('is restored on trial each week, and status, doctor and alarms say when that fails', async () => {
    const directory = path.join(folder, 'kept')
    const said = commandsWith(directory)
    const day = 24 * 3_600_000
    const now = Date.now()
    const tryAt = async (time: number, tryIt?: (file: string) => Promise<unknown>) =>
      await tryLastIfDue(
        store,
        { clock: () => new Date(time), signal },
        tryIt ?? ((file) => tryBackup(file, { signal, contentsOf: nothing })),
      )
    const refused = async () => await Promise.reject(new Error('not due'))
    expect(await tryAt(now - day, refused)).toMatch(/could not be tried at .*: not due/)
    expect(await tryAt(now)).toMatch(/giving-\d{8}T\d{6}Z\.sql\.gz was restored on trial at/)
    expect(await said('doctor')).toMatch(/bytes; .*sql\.gz was restored on trial at/)
    expect(await tryAt(now + 6 * day, refused)).toBeUndefined()
    // Where no server can be made, nothing is said of the backup.
    expect(await tryAt(now + 8 * day, refused)).toMatch(/could not be tried at .*: not due/)
    expect(await said('status')).not.toMatch(/backup/)
    expect((await backupState(store.db, new Date(now + 21 * day))).needs.join()).not.toMatch(/tried/)
    expect(await tryAt(now + 9 * day, refused)).toMatch(/could not be tried/)
    expect((await backupState(store.db, new Date(now + 22 * day))).needs.join()).toMatch(
      /could not be tried at .*, nor any since .*: not due/,
    )
    const [last = ''] = (await readdir(directory)).filter((name) => name.endsWith('.gz'))
    const file = path.join(directory, last)
    // Refused without a server; `--verify` above has one whose end is missing.
    await writeFile(file, (await readFile(file)).subarray(0, 100))
    expect(await tryAt(now + 8 * day)).toMatch(/cannot be restored, as was tried at/)
    expect(await said('status')).toMatch(
      /sql\.gz cannot be restored, as was tried at .*cannot be read as a file of giving backup/,
    )
    expect(await said('doctor')).toMatch(/cannot be restored/)
  })
})

describe('giving restore', () => {
  it('takes nothing of a backup that an attacker made, and says so in words of an operator', {
    timeout: 300_000,
  }, async () => {
    const { store: target, url } = await testDatabase()
    const whole = path.join(folder, 'empty.sql.gz')
    await writeBackup(target, whole, { clock, signal })
    const text = gunzipSync(await readFile(whole)).toString('utf8')
    const header = (json: string) => text.replace(/^.*/, `-- giving backup 1 ${json}`)
    const table = (json: string) => text.replace(/-- table .*/, `-- table ${json}`)
    const end = (json: string) => text.replace(/-- end .*/, `-- end ${json}`)
    const row = (value: string) => text.replace(/(copy "project" .*\n)/, `$1${value}\n`)
    const schema = /"schema":(\d+)/.exec(text)?.[1]
    const hostile: Record<string, string | Buffer> = {
      'a header that is not JSON': header('{'),
      'a header that is null': header('null'),
      'a header that is a list': header('[]'),
      'a schema with SQL': header(`{"schema":"${schema}; drop table project","donorKeys":[]}`),
      'a schema that is a text': header(`{"schema":"${schema}","donorKeys":[]}`),
      'a schema below zero': header('{"schema":-1,"donorKeys":[]}'),
      'a schema between two': header('{"schema":54.5,"donorKeys":[]}'),
      'no schema': header('{"donorKeys":[]}'),
      'a table that is not JSON': table('{'),
      'a table that is null': table('null'),
      'a table without columns': table('{"name":"project"}'),
      'columns that are a number': table('{"name":"project","columns":7}'),
      'a column that is an object': table('{"name":"project","columns":[{"toString":1}]}'),
      'a table of the server': table('{"name":"pg_authid","columns":["rolname"]}'),
      'a table with SQL': table(
        '{"name":"project\\" (id) from program \'touch /tmp/giving-attacked\' --","columns":["id"]}',
      ),
      'a table of an ancestor': table('{"name":"__proto__","columns":[]}'),
      'an end that is not JSON': end('{'),
      'an end that is null': end('null'),
      'sequences that are a list of nothing': end('{"rows":{},"sequences":[null]}'),
      'a sequence that is a table': end('{"rows":{},"sequences":{"project":["7",true]}}'),
      'a sequence without end': end('{"rows":{},"sequences":{"receipt_number_seq":["99999999999999999999",true]}}'),
      'a row with too few columns': row('7'),
      'bytes that are no UTF-8': Buffer.from(row('\\xff\\xfe'), 'latin1'),
      'a line without end': `-- giving backup 1 ${' '.repeat(40_000_000)}`,
    }
    for (const [what, content] of Object.entries(hostile)) {
      const file = path.join(folder, 'hostile.sql.gz')
      await writeFile(file, gzipSync(content))
      const { code, stderr } = await command(url, 'restore', file)
      expect(code, what).toBe(2)
      expect(stderr, what).toMatch(/giving backup|does not fit the schema|that the schema lacks/)
      expect(stderr, what).not.toMatch(/\n {4}at /)
      const { rows } = await target.db.query(
        `select (select count(*) from project)::int + (select count(*) from pg_trigger where tgenabled = 'D')::int as n`,
      )
      expect(rows, what).toEqual([{ n: 0 }])
    }
    expect(await lstat('/tmp/giving-attacked').catch(() => undefined)).toBeUndefined()
  })
})
