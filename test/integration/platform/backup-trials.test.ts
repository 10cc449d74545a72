import { cp, readdir, readFile, stat, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { gunzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { exportStore } from '../../../src/catalogue/export/export-store.js'
import { listDifferences } from '../../../src/money/sql/books-check.js'
import { submitDonation } from '../../../src/money/submit-donation.js'
import { writeBackup } from '../../../src/platform/database/backup.js'
import { restoreBackup } from '../../../src/platform/database/restore.js'
import { backUpIfDue, backupState, tryLastIfDue } from '../../../src/platform/database/scheduled-backup.js'
import type { Store } from '../../../src/platform/database/store.js'
import { tryBackup } from '../../../src/platform/try-backup.js'
import { everything, fillWithEverySource } from '../../support/catalogue/export-proof.js'
import { printed, runCommandLine } from '../../support/commands/command-line.js'
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

const directory = path.join(folder, 'kept')
const environment = { GIVING_DATA_DIR: folder, LOG_LEVEL: 'silent', BACKUP_DIR: directory }
const command = (url: string, ...args: string[]) => runCommandLine(args, { ...environment, DATABASE_URL: url })

async function exported(from: Store, name: string): Promise<Record<string, string>> {
  const directory = path.join(folder, name)
  const options = { ...everything, donors: true, accounts: true }
  await exportStore(from, directory, options)
  const files = await readdir(directory)
  return Object.fromEntries(
    await Promise.all(files.map(async (file) => [file, await readFile(path.join(directory, file), 'utf8')] as const)),
  )
}

describe('a backup', { shuffle: false }, () => {
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
    const restored = await printed(['restore', file], { ...environment, DATABASE_URL: other.url })
    expect(restored).toMatchObject({ donorKeys: ['test'], migrated: [] })
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

  it('is restored on trial each week, and status, doctor and alarms say when that fails', async () => {
    const said = async (name: string) => (await command(database.url, name)).stdout
    const day = 24 * 3_600_000
    const now = Date.now()
    await backUpIfDue(store, { directory, keep: 2 }, { clock: () => new Date(now), signal })
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
