import { createHash, randomBytes, randomUUID } from 'node:crypto'
import { readFile, stat } from 'node:fs/promises'
import path from 'node:path'
import pino from 'pino'
import { beforeEach, describe, expect, it } from 'vitest'
import { donors as donorsJob } from '../../../../jobs/donors.js'
import type { JobCall } from '../../../../jobs/queue-worker.js'
import type { WorkDeps } from '../../../../jobs/work-row.js'
import { openDonorVault } from '../../../../src/cli/wiring/donor-vault.js'
import { DonorVault } from '../../../../src/money/donors/donor-vault.js'
import { findDonor } from '../../../../src/money/donors/find-donor.js'
import { rekeyDonors } from '../../../../src/money/donors/rekey-donors.js'
import { listDifferences } from '../../../../src/money/sql/books-check.js'
import { submitDonation } from '../../../../src/money/submit-donation.js'
import { readConfig } from '../../../../src/platform/config/config.js'
import { pruneDatabase } from '../../../../src/release/sql/pruning.js'
import { runCommandLine } from '../../../support/commands/command-line.js'
import { account, donationRequest, insertDonationTargets, testPayments } from '../../../support/money/donations.js'
import { testDatabase } from '../../../support/store/database.js'
import { everyRow } from '../../../support/store/every-row.js'
import { temporaryFolder } from '../../../support/values/temporary-folder.js'

const keyNamed = (id: string) => ({ id, secret: createHash('sha256').update(id).digest() })
const [one, two] = [keyNamed('2025'), keyNamed('2026')]
const [first, second, both] = [new DonorVault([one]), new DonorVault([two]), new DonorVault([two, one])]
const inVariable = (...keys: { id: string; secret: Buffer }[]) =>
  keys.map(({ id, secret }) => `${id}:${secret.toString('base64')}`).join(',')
const never = new AbortController().signal

describe('donors', async () => {
  const { store, url } = await testDatabase()
  const dataDir = await temporaryFolder()

  const keyId = await insertDonationTargets(store.db, [2045])
  beforeEach(async () => {
    await store.db.query('delete from donor')
  })

  const payer = { firstname: 'Findmefirst', lastname: 'Findmelast', address: 'Findmestreet 1', phone: '555findme' }
  const personal = { email: 'findme@example.org', twitter_username: 'findmetwitter', ipAddress: '203.0.113.77' }
  const secrets = /findme|203\.0\.113\.77/i
  const donate = (donors: DonorVault, changes: Record<string, unknown> = {}) => {
    const request = donationRequest({ ...personal, ...changes }, payer)
    return submitDonation(testPayments(store, { donors }), { account, keyId, requestId: randomUUID() }, request)
  }
  const give = (text: string, environment: Record<string, string> = {}) =>
    runCommandLine(text.split(' '), {
      ...{ DATABASE_URL: url, GIVING_DATA_DIR: dataDir, LOG_LEVEL: 'silent', REPORTING_ORG_REF: 'US-EIN-123456789' },
      ...environment,
    })
  /** Turns every donor into what older versions stored. */
  const storeInClear = async () => {
    const rows = await store.db.query<{ id: number; reference: string }>(
      'select id, reference from donation d join donor p on p.donation_id = d.id',
    )
    for (const { id, reference } of rows.rows) {
      const { rows } = await store.db.query<{ keyId: string; wrappedKey: Buffer; sealed: Buffer; emailHash: Buffer }>(
        'select key_id as "keyId", wrapped_key as "wrappedKey", sealed, email_hash as "emailHash" from donor where donation_id = $1',
        [id],
      )
      const { email, details } = first.open(rows[0] as never, reference)
      await store.db.query(
        `update donor set email = $2, details = $3, key_id = null, wrapped_key = null, sealed = null, email_hash = null,
          payload_hash = $4 where donation_id = $1`,
        [id, email, JSON.stringify(details), Buffer.alloc(32)],
      )
    }
  }
  const fileOfDonors = async () =>
    (await store.db.query<{ file: string }>(`select pg_relation_filenode('donor')::text as file`)).rows[0]?.file
  const findme = (vault: DonorVault, email = personal.email) => findDonor(store.db, vault, email)

  it('are nowhere in clear, and found by their e-mail in any letter case', async () => {
    await donate(first)
    const rows = await everyRow(store.db)
    expect(rows).toContain('spring-drive')
    expect(rows).not.toMatch(secrets)
    const asHex = Buffer.from('Findmelast').toString('hex')
    expect(rows).not.toContain(asHex)
    const [found] = await findme(first, ' FindMe@Example.ORG ')
    expect(found).toMatchObject({ email: personal.email, details: { ...payer, ipAddress: '203.0.113.77' } })
    expect(await findme(first, 'findyou@example.org')).toEqual([])
  })

  it('cannot be read, found or compared without their key, and totals do not need it', async () => {
    const transactionId = randomUUID()
    await donate(first, { transactionId })
    expect(await findme(second)).toEqual([])
    await expect(donate(second, { transactionId })).rejects.toMatchObject({
      code: 'donor-key-missing',
      message: expect.stringContaining('the key "2025" is missing from DONOR_KEYS'),
    })
    expect(await store.snapshot((db) => listDifferences(db, 10))).toEqual([])
    const { code, stdout, stderr } = await give('status', { DONOR_KEYS: inVariable(two) })
    expect([code, stderr]).toEqual([1, ''])
    expect(stdout).toContain('the donors of 1 donations cannot be read: the key "2025" is missing from DONOR_KEYS')
    const other = new DonorVault([{ ...one, secret: two.secret }])
    await expect(donate(other, { transactionId })).rejects.toMatchObject({ code: 'donor-data-changed' })
  })

  it('are the same request under a newer key, and another one is still refused', async () => {
    const transactionId = randomUUID()
    const answer = await donate(first, { transactionId })
    expect(await donate(both, { transactionId })).toEqual(answer)
    await rekeyDonors(store, both, { signal: never })
    expect(await donate(second, { transactionId })).toEqual(answer)
    await expect(donate(second, { transactionId, amount: 41 })).rejects.toMatchObject({ code: 'request-invalid' })
  })

  it('are refused when a bit was changed, or when they were moved to another donation', async () => {
    await donate(first)
    await donate(first, { email: 'other@example.org' })
    const swap = (columns: string) =>
      store.db.query(
        `update donor p set (${columns}) = (select ${columns} from donor q where q.donation_id <> p.donation_id)`,
      )
    await swap('key_id, wrapped_key, sealed, email_hash')
    await expect(findme(first)).rejects.toMatchObject({ code: 'donor-data-changed' })
    await swap('key_id, wrapped_key, sealed, email_hash')
    await swap('sealed, email_hash')
    await expect(findme(first)).rejects.toMatchObject({ code: 'donor-data-changed' })
    await swap('sealed, email_hash')
    await swap('email_hash')
    await expect(findme(first)).rejects.toMatchObject({ code: 'donor-data-changed' })
    await swap('email_hash')
    expect(await findme(first)).toHaveLength(1)
    for (const column of ['wrapped_key', 'sealed']) {
      for (const byte of [0, 12, 47]) {
        const flip = `update donor set ${column} = set_byte(${column}, ${byte}, get_byte(${column}, ${byte}) # 1)`
        await store.db.query(flip)
        await expect(findme(first), `${column} ${byte}`).rejects.toMatchObject({ code: 'donor-data-changed' })
        await store.db.query(flip)
      }
    }
    expect(await findme(first)).toHaveLength(1)
  })

  it('get the first key by a rotation, which goes on where it was interrupted', async () => {
    for (let n = 0; n < 5; n++) await donate(first)
    const stopping = new AbortController()
    const interrupted = rekeyDonors(store, both, {
      signal: stopping.signal,
      batchSize: 2,
      onProgress: (done) => done >= 2 && stopping.abort(),
    })
    await expect(interrupted).rejects.toMatchObject({ code: 'aborted', message: expect.stringContaining('2 of 5') })
    expect(await findme(both)).toHaveLength(5)
    expect(await rekeyDonors(store, both, { signal: never, batchSize: 2 })).toMatchObject({ rekeyed: 3, encrypted: 0 })
    expect(await findme(second)).toHaveLength(5)
    expect(await findme(first)).toEqual([])
  })

  it('are encrypted by the rotation when an older version stored them in clear, and its table gets a new file', async () => {
    for (let n = 0; n < 3; n++) await donate(first)
    await storeInClear()
    expect(await everyRow(store.db)).toMatch(secrets)
    expect(await findme(first)).toHaveLength(3)
    const before = await fileOfDonors()
    expect(await rekeyDonors(store, first, { onlyClear: true, signal: never })).toMatchObject({ encrypted: 3 })
    expect(await everyRow(store.db)).not.toMatch(secrets)
    expect(await findme(first)).toHaveLength(3)
    expect(await fileOfDonors()).not.toBe(before)
  })

  it('in clear are a need of status until they are encrypted, also by the job of each start', async () => {
    await donate(first)
    await storeInClear()
    const status = async () => (await give('status', { DONOR_KEYS: inVariable(one) })).stdout
    const need = 'the donors of 1 donations are not encrypted: run giving donors rekey'
    expect(await status()).toContain(need)
    const tick = donorsJob.open({
      ...{ store, log: pino({ level: 'silent' }), payments: testPayments(store, { donors: first }) },
    } as unknown as WorkDeps)?.tick
    expect(await tick?.({ signal: never } as JobCall)).toBe('1 encrypted')
    expect(await status()).not.toContain(need)
  })

  it('are left as they are by a rotation that cannot read them', async () => {
    await donate(first)
    await donate(second)
    await store.db.query(
      `update donor set sealed = set_byte(sealed, 20, 1 # get_byte(sealed, 20)) where key_id = '2025'`,
    )
    const three = keyNamed('2027')
    const without = await give('donors rekey --json', { DONOR_KEYS: inVariable(three, one) })
    expect([without.code, JSON.parse(without.stdout)]).toMatchObject([
      1,
      { key: '2027', rekeyed: 0, unreadable: { 2026: 1 }, changed: [expect.any(Number)] },
    ])
  })

  it('are shown, exported and erased by commands, in any letter case, which the audit trail knows', async () => {
    await donate(first)
    const keys = { DONOR_KEYS: inVariable(two, one) }
    const shown = await give('donors show --email FINDME@example.org', keys)
    expect(shown).toMatchObject({ code: 0, stdout: expect.stringMatching(/lastname: +Findmelast\n/) })
    const exported = await give('donors export --email findme@example.org', keys)
    expect(JSON.parse(exported.stdout)).toMatchObject({
      donations: [{ donation: { amount: '40.000' }, email: personal.email, details: payer }],
    })
    expect(await give('donors erase --email FindMe@Example.org', keys)).toMatchObject({ code: 0 })
    expect(await give('donors show --email findme@example.org', keys)).toMatchObject({ code: 1 })
    const { rows } = await store.db.query<{ text: string }>(
      `select action || details::text as text from audit_event order by id desc limit 3`,
    )
    expect(rows.map(({ text }) => text)).toEqual([
      'donor-erased{"donations": 1}',
      'donor-disclosed{"donations": 1}',
      'donor-disclosed{"donations": 1}',
    ])
    expect(await store.snapshot((db) => listDifferences(db, 10))).toEqual([])
  })

  it('are erased after the time that the operator set, and not before', async () => {
    await donate(first)
    const daysLater = (days: number) => new Date(Date.parse('2026-11-21T09:15:30.412Z') + days * 86_400_000)
    const prune = (donorRetentionDays: number | undefined, at: Date) =>
      pruneDatabase(store.db, at, { keepReleases: 3, donorRetentionDays })
    expect(await prune(undefined, daysLater(4000))).toMatchObject({ donors: 0 })
    expect(await prune(30, daysLater(29.9))).toMatchObject({ donors: 0 })
    expect(await prune(30, daysLater(30.1))).toMatchObject({ donors: 1 })
  })

  it('are not taken without a key, which the status says', async () => {
    const refused = new DonorVault([], 'DONOR_KEYS is not set')
    await expect(donate(refused)).rejects.toMatchObject({ code: 'donor-key-missing' })
    const config = readConfig({ REPORTING_ORG_REF: 'US-EIN-123456789', GIVING_DATA_DIR: dataDir })
    const { refusal } = await openDonorVault({ config })
    expect(refusal).toBe("DONOR_KEYS is not set, so donors' data cannot be encrypted")
    const stripe = { PAYMENT_GATEWAY: 'stripe', STRIPE_SECRET_KEY: 'sk_live_1', STRIPE_PUBLISHABLE_KEY: 'pk_live_1' }
    const closed = (await give('status', stripe)).stdout
    expect(closed).toContain(`note: no donations are taken: ${refusal}`)
    expect(closed).not.toContain('receipts are not mailed')
    const withKeys = (await give('status', { ...stripe, DONOR_KEYS: inVariable(one) })).stdout
    expect(withKeys).not.toContain('no donations are taken')
    expect(withKeys).toContain('note: receipts are not mailed: SMTP_URL is not set')
    expect(await give('donors rekey')).toMatchObject({ code: 2, stderr: expect.stringContaining('DONOR_KEYS') })
  })

  it('of a trial get a key in the data directory that nobody else can read, and keep it', async () => {
    const trial = { REPORTING_ORG_REF: '' }
    const started = await Promise.all([give('donors rekey --json', trial), give('donors rekey --json', trial)])
    const keys = started.map(({ stdout }) => (JSON.parse(stdout) as { key: string }).key)
    expect(keys[0]).toMatch(/^trial-/)
    expect(keys[1]).toBe(keys[0])
    const file = path.join(dataDir, 'donor-keys')
    expect((await stat(file)).mode & 0o777).toBe(0o600)
    const [id, secret = ''] = (await readFile(file, 'utf8')).trim().split(':')
    await donate(new DonorVault([{ id: id ?? '', secret: Buffer.from(secret, 'base64') }]))
    const rekeyed = await give('donors rekey --json', { DONOR_KEYS: inVariable(two) })
    expect(JSON.parse(rekeyed.stdout)).toMatchObject({ key: '2026', rekeyed: 1 })
  })
})

describe('DONOR_KEYS', () => {
  const secret = randomBytes(32).toString('base64')

  it('are refused when they are not IDs with secrets of 32 bytes, without telling them', async () => {
    for (const keys of [secret, 'a:short', `a:${secret},a:${secret}`, `a b:${secret}`, `:${secret}`, `a:${secret}x`]) {
      const { code, stderr } = await runCommandLine(['status'], { DONOR_KEYS: keys })
      expect([code, stderr], keys).toEqual([2, expect.stringContaining('DONOR_KEYS: expected keys as ID:SECRET')])
      expect(stderr).not.toContain(secret.slice(0, 20))
    }
  })
})
