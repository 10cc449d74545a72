import { randomUUID } from 'node:crypto'
import { afterAll, describe, expect, it } from 'vitest'
import { getAccountId, recordGrant } from '../../../../src/accounts/sql/account-administration.js'
import { type AnswerError, createClient } from '../../../../src/client/client.js'
import { GatewayRefusal } from '../../../../src/money/gateways/gateway.js'
import { chargeDuePlans } from '../../../../src/money/plans/charge-plans.js'
import { tellSleeping } from '../../../../src/money/plans/tell-sleeping.js'
import { mailNotices } from '../../../../src/money/receipts/mail-notices.js'
import { mailDueReceipts } from '../../../../src/money/receipts/mail-receipts.js'
import { refundDonation } from '../../../../src/money/refund-donation.js'
import { settleOpen } from '../../../../src/money/settlement.js'
import { listDifferences } from '../../../../src/money/sql/books-check.js'
import { claimDuePlan, endClaimedPlan, notPaid, recordPlan } from '../../../../src/money/sql/donation-plans.js'
import { eraseDonor } from '../../../../src/money/sql/donors.js'
import { SmtpSender } from '../../../../src/platform/mail/smtp.js'
import { pruneDatabase } from '../../../../src/release/sql/pruning.js'
import { listen, testApi, testUser } from '../../../support/api/api.js'
import { runCommandLine } from '../../../support/commands/command-line.js'
import {
  donationFields,
  insertDonationTargets,
  quick,
  testDonors,
  testPayments,
} from '../../../support/money/donations.js'
import { processors, timeoutMs } from '../../../support/money/processors.js'
import { endedMethodDelivery } from '../../../support/money/webhook-deliveries.js'
import { inOrder } from '../../../support/runner/in-order.js'
import { someOf } from '../../../support/runner/some-of.js'
import { readMail, startMailServer } from '../../../support/servers/mail-server.js'
import { testDatabase } from '../../../support/store/database.js'

const never = new AbortController().signal
const choice = { language: 'en', operatorsDir: undefined }

describe.each(someOf(Object.entries(processors), 2))('regular gifts at %s', inOrder, async (name, start) => {
  const { store, url } = await testDatabase()
  const [processor, real] = await start()
  afterAll(() => processor.close())
  const { ledger } = processor
  let now = new Date('2026-01-31T10:00:00Z')
  ledger.now = () => now.getTime()
  const warned: object[] = []
  const payments = testPayments(store, {
    ...{ gateway: quick(real), timeoutMs, clock: () => now, mailsReceipts: true },
    warn: (details, message) => void warned.push({ ...details, message }),
  })
  let client: ReturnType<typeof createClient>

  const api = await testApi(store, { payments, clock: () => now })
  await insertDonationTargets(store.db, [2045])
  await recordGrant(store.db, await getAccountId(store.db, testUser.email), 'donations', now)
  const base = await listen(api.app)
  client = createClient({ url: base, apiKey: api.apiKey, user: { ...testUser } })

  const fields = (changes: Record<string, unknown> = {}, payment: Record<string, unknown> = {}) =>
    donationFields({ recurring: true, frequency: 'monthly', ...changes }, { paymentGateway: name, ...payment })
  const send = async (donation: ReturnType<typeof fields>) => {
    // Tokens end while the months go by.
    client = createClient({ url: base, apiKey: api.apiKey, user: { ...testUser } })
    return (await client.post('/api/secure/givingservice/donationsclient', { body: { donation } })).donation
  }
  const tick = async () => {
    await store.db.query(`update donation set lease_until = now() - interval '1 s' where status = 'received'`)
    await settleOpen(payments)
    await chargeDuePlans(payments)
  }
  const days = async (count: number) => {
    for (let day = 0; day < count; day++) {
      now = new Date(now.getTime() + 86_400_000)
      await tick()
    }
  }
  const plan = async () => {
    const { rows } = await store.db.query<{ id: number; state: string; reason: string | null; method: string | null }>(
      'select id, state, reason, method from donation_plan order by id desc limit 1',
    )
    if (!rows[0]) throw new Error('there is no plan')
    return rows[0]
  }
  /** Of the newest plan: its donations, oldest first. */
  const donations = async () => {
    const { rows } = await store.db.query<{ status: string; day: string; tx: string; reference: string }>(
      `select d.status, to_char(coalesce(d.settled_at, d.received_at), 'YYYY-MM-DD') as day, d.transaction_id as tx,
          d.reference
        from donation d where d.id = (select donation_id from donation_plan order by id desc limit 1)
          or d.reference in (select reference from donation_plan_charge
            where plan_id = (select max(id) from donation_plan))
        order by d.id`,
    )
    return rows
  }
  const settledDays = async () => (await donations()).filter(({ status }) => status === 'settled').map(({ day }) => day)
  const begin = async (changes: Record<string, unknown> = {}) => {
    const answer = await send(fields(changes))
    now = new Date(now.getTime() + 120_000)
    await tick()
    expect(await plan()).toMatchObject({ state: 'active' })
    return answer
  }
  /** Books, processor and totals of the project are one. */
  const agree = async () => {
    expect(await store.snapshot((db) => listDifferences(db, 10))).toEqual([])
    const { rows } = await store.db.query<{ sum: string }>('select funding - 1250 as sum from project where id = 2045')
    const held = ledger.approved().reduce((sum, charge) => sum + ledger.left(charge), 0) / 100
    expect(Number(rows[0]?.sum)).toBe(held)
  }
  const mailing = (smtpUrl: string) => ({
    ...{ store, donors: testDonors, choice, platform: 'Giving Platform', baseUrl: base, clock: () => now },
    ...{ sender: new SmtpSender(smtpUrl, 'gifts@giving.example'), warn: () => undefined },
  })

  it('are charged on the day of the first or the last one of its month, until the donor ends them by the link of each receipt', async () => {
    const donation = fields()
    const first = await send(donation)
    expect(first).toMatchObject({ checkedOut: true, recurring: true, frequency: 'monthly' })
    expect((await send(donation)).cancelLink).toBe(first.cancelLink)
    now = new Date(now.getTime() + 120_000)
    await days(125)
    expect(await settledDays()).toEqual(['2026-01-31', '2026-02-28', '2026-03-31', '2026-04-30', '2026-05-31'])
    // One number for each month.
    expect(new Set((await donations()).map(({ tx }) => tx)).size).toBe(5)
    const link = new URL(first.cancelLink ?? '').pathname
    const page = await fetch(base + link)
    expect([page.status, await page.text()]).toEqual([200, expect.stringContaining('End your monthly gift?')])
    const ended = await fetch(base + link, { method: 'POST' })
    expect(await ended.text()).toContain('Your monthly gift has ended')
    await days(31)
    expect(await settledDays()).toHaveLength(5)
    expect(await plan()).toMatchObject({ state: 'ended', reason: 'the donor ended it' })
    expect(JSON.stringify(api.log)).not.toContain(link.slice(-40))
    for (const wrong of [`${link.slice(0, -1)}x`, '/gifts/00000001', `${link}0`]) {
      expect((await fetch(base + wrong, { method: 'POST' })).status).toBe(404)
    }
    const mail = await startMailServer()
    await mailDueReceipts(mailing(mail.url), never)
    expect(mail.taken).toHaveLength(5)
    for (const one of mail.taken) expect(readMail(one as never).text).toContain(link)
    await agree()
  })

  it('sleep after three more tries in seven days, and the donor is told once, in the language of the donor', async () => {
    await begin({ language: 'fr' })
    ledger.declinesOfKept.push(2001, 2001, 2001, 2001)
    const mail = await startMailServer()
    const notices = async () => await mailNotices(mailing(mail.url), never)
    // The day on which it is declined first, and the one after, on which it is tried again.
    for (let day = 0; day < 45 && mail.taken.length === 0; day++) {
      await days(1)
      now = new Date(now.getTime() + 660_000)
      await notices()
    }
    const told = readMail(mail.taken[0] as never).text
    expect(told.replace(/[\u00a0\u202f]/g, ' ')).toContain('votre don de 40,00 $US au projet « Wells for Tara » du')
    expect(told).toContain('Nous essaierons de nouveau le ')
    expect(told).toContain(`Pour arrêter votre don mensuel\u202f: ${base}/gifts/`)
    await days(45)
    await notices()
    expect(mail.taken).toHaveLength(1)
    mail.taken.length = 0
    expect(ledger.declinesOfKept).toEqual([])
    const reason = 'declined 4 times at month 1'
    const { id, ...slept } = await plan()
    expect(slept).toMatchObject({ state: 'asleep', reason })
    expect(warned.splice(0)).toEqual([{ plan: id, reason, message: 'a regular gift sleeps' }])
    const [, ...tries] = await donations()
    const [at = Date.now(), ...later] = tries.map(({ day }) => Date.parse(day))
    expect(later.map((time) => (time - at) / 86_400_000)).toEqual([1, 3, 7])
    const tell = () => tellSleeping(mailing(mail.url), never)
    expect(await tell()).toBe(1)
    expect(await tell()).toBe(0)
    const sleeping = readMail(mail.taken[0] as never)
    expect(sleeping.text.replace(/[\u00a0\u202f]/g, ' ')).toContain(
      "votre don mensuel de 40,00 $US au projet « Wells for Tara » n'a pas pu être débité, plusieurs fois",
    )
    expect(sleeping.html).toContain('<html lang="fr">')
    await agree()
  })

  it('leave out months in which the service was down, and are late where the processor was out of reach', async () => {
    await begin()
    now = new Date(now.getTime() + 100 * 86_400_000)
    await tick()
    expect(await settledDays()).toHaveLength(1)
    await days(31)
    expect(await settledDays()).toHaveLength(2)
    const charge = () => Promise.reject(new GatewayRefusal('the processor is out of reach'))
    now = new Date(now.getTime() + 31 * 86_400_000)
    await chargeDuePlans({ ...payments, gateway: { ...payments.gateway, charge } })
    const { id, state } = await plan()
    expect(state).toBe('active')
    const error = 'the payment gateway cannot be reached; nothing was charged'
    expect(warned.splice(0)).toEqual([{ plan: id, error, message: 'a regular gift is not charged yet' }])
    now = new Date(now.getTime() + 2 * 3_600_000)
    await tick()
    expect(await settledDays()).toHaveLength(3)
  })

  /** How many regular gifts are in force. */
  const inForce = async () =>
    (await store.db.query(`select from donation_plan where state in ('starting', 'active')`)).rowCount

  it('end when the processor gives up the way to pay, and no others', async () => {
    await begin({ email: 'another@example.org' })
    await begin()
    const before = await inForce()
    const { headers, payload } = endedMethodDelivery(name, (await plan()).method ?? '', now)
    const post = () => fetch(`${base}/api/public/payments/${name}`, { method: 'POST', headers, body: payload })
    const accept = { ...headers, accept: 'application/json' }
    const answer = await fetch(`${base}/api/public/payments/${name}`, {
      method: 'POST',
      headers: accept,
      body: payload,
    })
    expect(await answer.json()).toEqual({ webhook_response: { outcome: 'stored' } })
    expect((await post()).status).toBe(200)
    expect(await plan()).toMatchObject({ state: 'ended', reason: 'the processor has given up the way to pay' })
    expect(await inForce()).toBe(before - 1)
    await days(40)
    expect(await settledDays()).toHaveLength(1)
    await store.db.query(`update donation_plan set state = 'ended'`)
  })

  it('have a page in the language of the donor, else in that of the browser', async () => {
    const page = async (link: string | undefined, language: string) => {
      const answer = await fetch(base + new URL(link ?? '').pathname, { headers: { 'accept-language': language } })
      return [answer.headers.get('content-language'), await answer.text()]
    }
    const { cancelLink } = await begin({ language: 'fr' })
    const french = ['fr', expect.stringMatching(/<html lang="fr">.*Le don de 40,00\s\$US est débité chaque mois/s)]
    expect(await page(cancelLink, 'en')).toEqual(french)
    expect((await page(cancelLink, 'en'))[1]).toContain("Aucun argent n'est déplacé.")
    const other = await begin({ language: 'sw' })
    expect(await page(other.cancelLink, 'fr-CA')).toEqual(['fr', expect.stringContaining('Arrêter votre don')])
    expect(await page(other.cancelLink, 'de-AT')).toEqual([
      ...[
        'de',
        expect.stringMatching(/Die Spende von 40,00\s\$ wird jeden Monat abgebucht, das nächste Mal am \d+\. /),
      ],
    ])
    expect(await page(other.cancelLink, 'ar')).toEqual(['ar', expect.stringContaining('<html lang="ar" dir="rtl">')])
    const english = ['en', expect.stringContaining('The gift of $40.00 is charged every month, the next time on ')]
    expect(await page(other.cancelLink, 'sw')).toEqual(english)
    await store.db.query(`update donation_plan set state = 'ended'`)
  })

  it('end when the operator says so, and when the donor is erased', async () => {
    await begin({ email: 'another@example.org' })
    await begin()
    const before = await inForce()
    const { id } = await plan()
    const giving = (...args: string[]) =>
      runCommandLine(['donations', 'plans', ...args], { DATABASE_URL: url, LOG_LEVEL: 'silent' })
    expect((await giving('list', '--state', 'active')).stdout).toContain(
      `${id}  project 2045  40.00 USD a month  active`,
    )
    expect((await giving('show', String(id))).stdout).toMatch(/\ndonations: \d+\n$/)
    expect(await giving('cancel', String(id))).toMatchObject({ code: 0 })
    expect(await giving('cancel', String(id))).toMatchObject({ code: 2 })
    expect(await plan()).toMatchObject({ state: 'ended', reason: 'the operator ended it' })
    expect(await inForce()).toBe(before - 1)
    await begin({ email: 'erased@example.org' })
    const lookup = { hashes: testDonors.lookupHashes('erased@example.org'), email: 'erased@example.org' }
    expect(await eraseDonor(store.db, lookup)).toBe(1)
    await days(40)
    expect(await plan()).toMatchObject({ state: 'ended', reason: 'the donor was erased' })
    expect(await settledDays()).toHaveLength(1)
    await agree()
  })

  it('keep what is known of their donor while they are in force, however old, and not after', async () => {
    await begin({ email: 'faithful@example.org' })
    const { id } = await plan()
    const known = async () =>
      (
        await store.db.query(
          'select from donor where donation_id = (select donation_id from donation_plan where id = $1)',
          [id],
        )
      ).rowCount
    const prune = () => pruneDatabase(store.db, now, { keepReleases: 3, donorRetentionDays: 30 })
    for (let month = 1; month <= 2; month++) {
      await days(31)
      await prune()
      expect(await known()).toBe(1)
    }
    expect(await settledDays()).toHaveLength(3)
    expect(
      await runCommandLine(['donations', 'plans', 'cancel', String(id)], { DATABASE_URL: url, LOG_LEVEL: 'silent' }),
    ).toMatchObject({ code: 0 })
    await prune()
    expect(await known()).toBe(0)
  })

  it('need a transactionId and monthly, and begin with a gift that is paid', async () => {
    const refused = async (changes: Record<string, unknown>) =>
      ((await send(fields(changes)).catch((error: unknown) => error)) as AnswerError).entries?.[0]?.error_message
    expect(await refused({ transactionId: undefined })).toMatch(/^donation\.transactionId: expected a text/)
    expect(await refused({ frequency: 'weekly' })).toBe('donation.frequency: expected monthly')
    expect(await refused({ recurring: false })).toMatch(/^donation\.recurring: expected true/)
    expect(await refused({ recurringAmount: 5 })).toMatch(/^donation\.recurringAmount: expected nothing/)
    await send(fields({ transactionId: randomUUID() }, { paymentGatewayNonce: 'fake-declined-2001-nonce' })).catch(
      () => undefined,
    )
    await days(2)
    expect(await plan()).toMatchObject({ state: 'ended', reason: 'the first gift was not paid' })
    await send(fields())
    const { rows } = await store.db.query<{ id: number }>('select max(id) as id from donation')
    await refundDonation(payments, { donationId: rows[0]?.id ?? 0, kind: 'refund', amount: undefined })
    await days(2)
    expect(await plan()).toMatchObject({ state: 'ended', reason: 'the first gift was given back' })
  })

  it('are charged once when several processes look at them, and when the books lost the charge', async () => {
    await begin()
    now = new Date(now.getTime() + 32 * 86_400_000)
    await Promise.all([1, 2, 3].map(() => chargeDuePlans(payments)))
    const { id } = await plan()
    expect(await settledDays()).toHaveLength(2)
    const [, charged] = await donations()
    await store.db.query(
      `update donation set reference = 'lost-' || id, idempotency_key = null, status = 'failed', lease_until = null,
        settled_at = null where reference = $1`,
      [charged?.reference],
    )
    await store.db.query('delete from donation_plan_charge where plan_id = $1', [id])
    await store.db.query(`update donation_plan set instant = 1, next_at = $2, look_at = $2 where id = $1`, [id, now])
    now = new Date(now.getTime() + 120_000)
    await chargeDuePlans(payments)
    expect(await settledDays()).toHaveLength(2)
    expect(ledger.held(charged?.reference ?? '').charges).toBe(1)
    await store.db.query(`update donation_plan set state = 'ended' where id = $1`, [id])
  })

  it('are not made due early by a process that stalls after a failed charge, while another charges them', async () => {
    await begin()
    const { id } = await plan()
    const { rows } = await store.db.query<{ nextAt: Date }>('select next_at from donation_plan where id = $1', [id])
    now = rows[0]?.nextAt ?? now
    const waits = `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
    let other: Promise<void> | undefined
    const charge = async () => {
      await new Promise<void>((locked) => {
        // The other process has moved the plan on by the time this one may postpone it.
        other = store.transaction(async (db) => {
          await db.query('select from donation_plan where id = $1 for update', [id])
          locked()
          await expect.poll(async () => (await store.db.query(waits)).rowCount).toBe(1)
          await db.query(
            `update donation_plan set instant = 2, tries = 0, next_at = next_at + interval '28 days',
              look_at = next_at + interval '28 days' where id = $1`,
            [id],
          )
        })
      })
      throw new GatewayRefusal('the processor is out of reach')
    }
    await chargeDuePlans({ ...payments, gateway: { ...payments.gateway, charge } })
    await other
    now = new Date(now.getTime() + 2 * 3_600_000)
    await tick()
    expect(await settledDays()).toHaveLength(1)
    // Nor by a program of before, in whose statement this was left out.
    const early = store.db.query('update donation_plan set tries = 0, look_at = $2 where id = $1', [id, now])
    await expect(early).rejects.toThrow('donation_plan_not_early')
    await days(28)
    expect(await settledDays()).toHaveLength(2)
    await store.db.query(`update donation_plan set state = 'ended' where id = $1`, [id])
  })

  it('do not end for a first payment that is tried again while a process that saw it fail stalls', async () => {
    await send(fields({}, { paymentGatewayNonce: 'fake-declined-2001-nonce' })).catch(() => undefined)
    const { id } = await plan()
    now = new Date(now.getTime() + 120_000)
    const seen = await claimDuePlan(store.db, { gateway: payments.gateway.name, now })
    if (seen?.id !== id) throw new Error('another plan is due')
    await recordPlan(store.db, seen.donationId, now)
    expect(await endClaimedPlan(store.db, seen, { state: 'ended', reason: notPaid, at: now })).toBe(false)
    expect(await plan()).toMatchObject({ id, state: 'starting' })
    await store.db.query(`update donation_plan set state = 'ended' where id = $1`, [id])
  })
})
