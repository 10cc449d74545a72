import { randomUUID } from 'node:crypto'
import { readdir, readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { gunzipSync } from 'node:zlib'
import { afterAll, describe, expect, it } from 'vitest'
import { getAccountId, recordGrant } from '../../../../src/accounts/sql/account-administration.js'
import { createClient } from '../../../../src/client/client.js'
import { askForSubscription } from '../../../../src/money/donors/subscriptions.js'
import { mailNotices } from '../../../../src/money/receipts/mail-notices.js'
import { mailDueReceipts } from '../../../../src/money/receipts/mail-receipts.js'
import { SmtpSender } from '../../../../src/platform/mail/smtp.js'
import { pruneDatabase } from '../../../../src/release/sql/pruning.js'
import { listen, testApi, testUser } from '../../../support/api/api.js'
import { openConsole } from '../../../support/api/console.js'
import { runCommandLine } from '../../../support/commands/command-line.js'
import { readProjectFile, readTable } from '../../../support/documents/markdown-table.js'
import { donationFields, insertDonationTargets, testDonors, testPayments } from '../../../support/money/donations.js'
import { inOrder } from '../../../support/runner/in-order.js'
import { openMailServer, readMail, type TakenMail } from '../../../support/servers/mail-server.js'
import { testDatabase } from '../../../support/store/database.js'
import { everyRow } from '../../../support/store/every-row.js'
import { temporaryFolder } from '../../../support/values/temporary-folder.js'

const never = new AbortController().signal
const [email, name] = ['mnemosyne@quillfeather.example', { firstname: 'Mnemosyne', lastname: 'Quillfeather' }]
/** As text, in hexadecimal digits, in base 64 at each of its three places, and by the hash that looks a donor up. */
const forms = ['Mnemosyne', 'Quillfeather', 'mnemosyne', 'quillfeather'].flatMap((word) => [
  ...[word, Buffer.from(word).toString('hex')],
  ...[0, 1, 2].map((at) =>
    Buffer.from('x'.repeat(at) + word)
      .toString('base64')
      .slice(at + 1, -4),
  ),
])
const traces = new RegExp(
  [...forms, ...testDonors.lookupHashes(email).map((hash) => hash.toString('hex'))].join('|'),
  'g',
)
const count = (text: string) => text.match(traces)?.length ?? 0

describe('the traces of a donor who was erased', inOrder, async () => {
  const { store, url } = await testDatabase()
  const [dataDir, files] = [await temporaryFolder(), await temporaryFolder()]
  // The server names the person as it refuses the first message.
  const mail = await openMailServer({
    onRcptTo: ({ address }, _session, done) =>
      done(mail.refuses ? Object.assign(new Error(`${address} is no user here`), { responseCode: 451 }) : null),
  }).then((server) => Object.assign(server, { refuses: true }))
  const payments = testPayments(store, { clock: () => new Date(), mailsReceipts: true })
  const api = await testApi(store, { payments, clock: () => new Date() })
  await insertDonationTargets(store.db, [2045])
  await recordGrant(store.db, await getAccountId(store.db, testUser.email), 'donations', new Date())
  const base = await listen(api.app)
  const client = createClient({ url: base, apiKey: api.apiKey, user: { ...testUser } })
  const environment = {
    ...{ DATABASE_URL: url, GIVING_DATA_DIR: dataDir, LOG_LEVEL: 'silent', OPS_REFUND_LIMIT: '60' },
    ...{ SMTP_URL: mail.url, MAIL_FROM: 'gifts@giving.example', OPS_TOKEN: `ana+donors+import:${'a'.repeat(24)}` },
    DONOR_KEYS: `test:${Buffer.alloc(32, 7).toString('base64')}`,
  }
  const as = { authorization: `Bearer ${'a'.repeat(24)}` }
  const one = await openConsole(environment)
  afterAll(async () => {
    await one.close()
    await mail.close()
  })
  const giving = async (...args: readonly string[]) => await runCommandLine(args, environment)
  const done = async (...args: readonly string[]) => {
    const ended = await giving(...args)
    expect(ended.code, ended.stdout + ended.stderr).toBe(0)
    return ended.stdout
  }
  const year = String(new Date().getUTCFullYear())
  const send = async (changes: Record<string, unknown> = {}, nonce = 'fake-valid-nonce') => {
    const payment = { ...name, address: '3 Quillfeather Quay', paymentGateway: 'sandbox', paymentGatewayNonce: nonce }
    const donation = donationFields({ email, transactionId: randomUUID(), ...changes }, payment)
    return (await client.post('/api/secure/givingservice/donationsclient', { body: { donation } })).donation
  }
  const warnings: string[] = []
  const mailing = {
    ...{ store, donors: testDonors, choice: { language: 'en', operatorsDir: undefined }, platform: 'Giving Platform' },
    ...{ sender: new SmtpSender(mail.url, 'gifts@giving.example'), baseUrl: base, clock: () => new Date() },
    warn: (details: unknown, message: string) => void warnings.push(message + JSON.stringify(details)),
  }
  const mailAll = async () => [await mailDueReceipts(mailing, never), await mailNotices(mailing, never)]
  /** What all files below a folder hold. */
  const contents = async (folder: string) => {
    const entries = await readdir(folder, { recursive: true, withFileTypes: true })
    const of = entries.filter((entry) => entry.isFile()).map((entry) => path.join(entry.parentPath, entry.name))
    return (await Promise.all(of.map(async (file) => file + (await readFile(file, 'latin1'))))).join('\n')
  }
  const backup = async (file: string) => {
    await done('backup', path.join(files, file))
    return gunzipSync(await readFile(path.join(files, file))).toString('latin1')
  }
  let [first, monthly, receipt, before, sealed] = [0, 0, '', '', '']

  it('are many before: gifts, receipts, refusals, mistakes of people', async () => {
    await send()
    mail.refuses = false
    expect(await mailAll()).toMatchObject([{ sent: 1 }, {}])
    receipt = /gifts\/receipts\/\w+/.exec(readMail(mail.taken.splice(0)[0] as TakenMail).text)?.[0] ?? ''
    expect((await fetch(`${base}/${receipt}`)).status).toBe(200)
    mail.refuses = true
    const newest = async () =>
      (await store.db.query<{ id: number }>('select max(id) as id from donation')).rows[0]?.id ?? 0
    first = await newest()
    await send({ recurring: true, frequency: 'monthly' })
    monthly = await newest()
    await expect(send({}, 'fake-declined-2001-nonce')).rejects.toMatchObject({ status: 400 })
    await expect(send({ amount: email })).rejects.toMatchObject({ status: 400 })
    const wanted = { email, projectId: 2045, project: 'Wells for Tara', language: 'en', at: new Date() }
    await askForSubscription(store.db, testDonors, wanted)
    expect(await mailAll()).toMatchObject([{ sent: 0, later: 1 }, {}])
    await done('donors', 'statements', year, '--mail')
    await done('donors', 'statements', year, '--email', email)
    // An operator writes what is asked for nowhere.
    const comment = `${email}, Mrs Quillfeather, gave twice`
    const refunded = { comment, amount: '10', again: 'a'.repeat(24) }
    expect((await one.confirm(`/donations/${first}/refund`, refunded, as)).status).toBe(303)
    expect((await one.confirm('/donations', { name: email }, as)).text).toContain(`/donations/${monthly}"`)
    // Columns of a list of gifts have moved.
    const rows = `project,date,amount,currency,reference\n2045,2026-01-05,${email},USD,g-1\n`
    await writeFile(path.join(files, 'gifts.csv'), rows)
    await giving(
      'import',
      path.join(files, 'gifts.csv'),
      '--kind',
      'gifts',
      '--problems',
      path.join(dataDir, 'refused.csv'),
    )
    const { location } = (await one.sendFiles([['gifts.csv', rows]], {}, as)).headers
    expect((await one.ask(String(location), as)).status).toBe(200)
    const { rows: donors } = await store.db.query<{ text: string }>(
      `select encode(sealed, 'hex') as text from donor where donation_id = $1`,
      [first],
    )
    sealed = donors[0]?.text ?? ''
    before = await backup('before.sql.gz')
    expect(before).toContain(sealed)
    expect(count(await done('donors', 'export', '--email', email))).toBeGreaterThan(0)
    expect(await done('donors', 'erase', '--email', email)).toContain('from 3 donations and 1 subscriptions')
  })

  /** What a place still says, and for how long. */
  const places: Readonly<Record<string, () => Promise<string>>> = {
    'every other table': async () => await everyRow(store.db, ['audit_event', 'import']),
    'messages that wait': async () => {
      mail.refuses = false
      for (const table of ['receipt_mail', 'donor_mail']) await store.db.query(`update ${table} set next_at = now()`)
      const ended = await mailAll()
      const states = await store.db.query<{ state: string }>(
        'select state from receipt_mail union all select state from donor_mail',
      )
      expect(states.rows.filter(({ state }) => state !== 'sent' && state !== 'dropped')).toEqual([])
      return JSON.stringify([ended, mail.taken])
    },
    'receipts and statements': async () => {
      const link = await fetch(`${base}/${receipt}`)
      const statement = await giving('donors', 'statements', year, '--email', email)
      expect([link.status, statement.code === 0]).toEqual([404, false])
      return (await link.text()) + statement.stdout + statement.stderr.replaceAll(email, '')
    },
    console: async () => {
      const found = (await one.confirm('/donations', { name: email }, as)).text
      expect(found).not.toContain(`/donations/${first}"`)
      const pages = [`/donations/${first}`, `/donations/${monthly}`, '/donations', '/queues', '/accounts', '/']
      const texts = await Promise.all(pages.map(async (page) => (await one.ask(page, as)).text))
      return texts.join('\n') + found.replaceAll(email, '')
    },
    logs: async () => JSON.stringify([api.log, warnings]),
    exports: async () => {
      await done('export', path.join(files, 'export'), '--with-donors', '--with-accounts')
      return await contents(path.join(files, 'export'))
    },
    'a backup made before': async () => {
      expect(await backup('after.sql.gz')).not.toContain(sealed)
      return before
    },
    'audit trail': async () => {
      const { rows } = await store.db.query<{ text: string }>('select e::text as text from audit_event e')
      const text = rows.map(({ text }) => text).join('\n')
      expect(text).not.toContain(email)
      return text
    },
    'problems of an import': async () => {
      const { rows } = await store.db.query<{ text: string }>('select i::text as text from import i')
      return rows.map(({ text }) => text).join('\n')
    },
    'files that wait in the console': async () => await contents(path.join(dataDir, 'uploads')),
    'a file of refused rows': async () => await readFile(path.join(dataDir, 'refused.csv'), 'utf8'),
  }

  const promised = readTable(readProjectFile('docs/how-to/donors.md'), '| Where').flatMap(([cell = '', stays = '']) =>
    cell.split(', ').map((where) => [where, stays] as const),
  )

  it.each(Object.entries(places))('are told by the page for: %s', async (where, read) => {
    const [, stays = ''] = promised.find(([place]) => place === where) ?? []
    const text = await read()
    const around = [...text.matchAll(traces)].map(({ index }) => text.slice(Math.max(0, index - 60), index + 40))
    const isThere = around.length > 0 || text.includes(sealed)
    expect({ stays, around, isThere }).toMatchObject(
      stays === 'nothing' ? { around: [], isThere: false } : { stays: expect.stringMatching(/./), isThere: true },
    )
  })

  it('are told for no other place', () => {
    expect(promised.map(([where]) => where)).toEqual(Object.keys(places))
  })

  it('leave the problems of an import with what it changed', async () => {
    await pruneDatabase(store.db, new Date(Date.now() + 91 * 86_400_000), {
      keepReleases: 3,
      donorRetentionDays: undefined,
    })
    expect(count(await everyRow(store.db, ['audit_event']))).toBe(0)
  })
})
