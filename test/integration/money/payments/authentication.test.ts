import { randomUUID } from 'node:crypto'
import { afterAll, describe, expect, it } from 'vitest'
import { getAccountId, recordGrant } from '../../../../src/accounts/sql/account-administration.js'
import { AnswerError, createClient } from '../../../../src/client/client.js'
import { createBraintreeGateway } from '../../../../src/extensions/braintree/braintree-gateway.js'
import { createStripeGateway } from '../../../../src/extensions/stripe/stripe-gateway.js'
import { handleDueWebhooks } from '../../../../src/money/handle-webhooks.js'
import { settleOpen } from '../../../../src/money/settlement.js'
import { listDifferences } from '../../../../src/money/sql/books-check.js'
import { findDonationHistory } from '../../../../src/money/sql/donations.js'
import { submitDonation } from '../../../../src/money/submit-donation.js'
import { listen, testApi, testUser } from '../../../support/api/api.js'
import {
  account,
  donationFields,
  donationRequest,
  insertDonationTargets,
  newestDonation,
  quick,
  testPayments,
} from '../../../support/money/donations.js'
import { type Happening, stripeDelivery } from '../../../support/money/webhook-deliveries.js'
import { braintreeKeys, startBraintree } from '../../../support/servers/braintree-server.js'
import { startStripe, stripeKeys } from '../../../support/servers/stripe-server.js'
import { testDatabase } from '../../../support/store/database.js'
import { everyRow } from '../../../support/store/every-row.js'

const timeoutMs = 2_000
const asked = { paymentGateway: 'stripe', paymentGatewayNonce: 'pm_card_authenticationRequired' }
const debit = { paymentGateway: 'stripe', paymentGatewayNonce: 'pm_sepa_debit_of_the_tests' }
const donorsPlace = { ipAddress: '192.0.2.7', userAgent: 'Example/1.0' }

describe('donations that wait, at Stripe', async () => {
  const { store } = await testDatabase()
  const processor = await startStripe()
  afterAll(() => processor.close())
  const { ledger } = processor
  let now = new Date()
  ledger.now = () => now.getTime()
  const gateway = quick(createStripeGateway({ ...stripeKeys, timeoutMs, address: processor.address }))
  const payments = testPayments(store, { gateway, timeoutMs, clock: () => now, mailsReceipts: true })

  const api = await testApi(store, { payments, clock: () => now })
  await insertDonationTargets(store.db, [2045])
  await recordGrant(store.db, await getAccountId(store.db, testUser.email), 'donations', now)
  const base = await listen(api.app)
  // The tests repeat requests themselves.
  const client = createClient({ url: base, apiKey: api.apiKey, user: testUser, retries: 0 })

  type Fields = ReturnType<typeof donationFields>
  const send = async (donation: Fields) =>
    (await client.post('/api/secure/givingservice/donationsclient', { body: { donation } })).donation
  const refusal = async (donation: Fields) => {
    const error: unknown = await send(donation).then(
      (answer) => expect.unreachable(`expected an error, got ${JSON.stringify(answer)}`),
      (reason: unknown) => reason,
    )
    if (!(error instanceof AnswerError)) throw error
    return { status: error.status, number: error.entries[0]?.error_number, action: error.requiresAction }
  }
  const newest = () => newestDonation(store.db)
  const charge = () => {
    const last = ledger.charges.at(-1)
    if (!last) throw new Error('there is no charge')
    return last
  }
  /** A round of the settlement after this time. */
  const settleAfter = async (hours: number) => {
    now = new Date(now.getTime() + hours * 3_600_000)
    await store.db.query(`update donation set lease_until = now() - interval '1 s' where status = 'received'`)
    return await settleOpen(payments)
  }
  const webhook = async (what: Happening) => {
    const { headers, payload } = stripeDelivery(what, charge(), { at: now })
    const answer = await fetch(`${base}/api/public/payments/stripe`, { method: 'POST', headers, body: payload })
    expect(answer.status).toBe(200)
    now = new Date(now.getTime() + 60_000)
    return await handleDueWebhooks(payments)
  }
  /** Leaves the newest donation behind as one that no request can find. */
  const forget = async () => {
    await store.db.query(
      `update donation set reference = 'forgotten-' || id, idempotency_key = null, api_key_id = null, status = 'failed',
        lease_until = null where id = $1`,
      [(await newest()).id],
    )
  }
  const receipts = async () =>
    (await store.db.query<{ n: number }>('select count(*)::int as n from receipt_mail')).rows[0]?.n
  const agree = async () => expect(await store.snapshot((db) => listDifferences(db, 10))).toEqual([])

  it('are answered with what the page needs, and completed by the same request', async () => {
    const [donation, before] = [donationFields({}, asked), await receipts()]
    const { rows } = await store.db.query<{ funding: number }>('select funding::float8 as funding from project')
    const first = await refusal(donation)
    expect(first).toMatchObject({ status: 400, number: 2099, action: { paymentGateway: 'stripe' } })
    expect(first.action?.clientSecret).toBe(`${charge().id}_secret_of_the_page`)
    // A repeated request before the donor has acted gets the same.
    expect(await refusal(donation)).toEqual(first)
    expect(await newest()).toMatchObject({ status: 'received', waitsFor: 'donor' })
    ledger.decide(charge(), 'paid')
    const { checkedOut, receipt, project } = await send(donation)
    expect({ checkedOut, funding: project.funding }).toEqual({
      checkedOut: true,
      funding: (rows[0]?.funding ?? 0) + 40,
    })
    expect(receipt.receiptNumber).toMatch(/^R\d+-GC\d+-T1$/)
    expect((await send(donation)).receipt.receiptNumber).toBe(receipt.receiptNumber)
    expect(ledger.held((await newest()).reference)).toEqual({ charges: 1, amount: '40.00' })
    expect(await receipts()).toBe((before ?? 0) + 1)
    await agree()
  })

  it('say so in XML too, between the errors and the status', async () => {
    const { access_token } = (
      await client.post('/api/userservice/tokens', { body: { auth_request: { user: testUser, api_key: api.apiKey } } })
    ).auth_response
    const answer = await fetch(
      `${base}/api/secure/givingservice/donationsclient?api_key=${api.apiKey}&api_token=${access_token}`,
      {
        method: 'POST',
        headers: { 'content-type': 'application/json', accept: 'application/xml' },
        body: JSON.stringify({ donation: donationFields({}, asked) }),
      },
    )
    expect(await answer.text()).toMatch(
      new RegExp(
        `<error_number>2099</error_number></error></errors><requires_action><clientSecret>${charge().id}_secret_of_the_page</clientSecret><paymentGateway>stripe</paymentGateway></requires_action><status>Bad Request</status>`,
      ),
    )
    ledger.decide(charge(), 'paid')
    expect(await settleAfter(0.1)).toMatchObject({ settled: 1 })
  })

  it('are declined where the request could not be repeated, as before', async () => {
    expect(await refusal(donationFields({ transactionId: undefined }, asked))).toEqual({
      ...{ status: 400, number: 2099, action: undefined },
    })
    expect(await newest()).toMatchObject({ status: 'declined' })
  })

  it('are settled by the webhook or by the next look when nobody repeats the request', async () => {
    for (const settle of [() => webhook('settled'), () => settleAfter(0.1)]) {
      await refusal(donationFields({}, asked))
      ledger.decide(charge(), 'paid')
      await settle()
      expect(await newest()).toMatchObject({ status: 'settled' })
    }
    await agree()
  })

  it('are declined when the donor could not be authenticated, and nobody can complete them after that', async () => {
    const donation = donationFields({}, asked)
    await refusal(donation)
    ledger.decide(charge(), 'declined')
    expect(await refusal(donation)).toEqual({ status: 400, number: expect.any(Number), action: undefined })
    expect(charge().voided).toBe(true)
    expect(await newest()).toMatchObject({ status: 'declined' })
    // The event about it comes late, and changes nothing.
    expect(await webhook('failed')).toMatchObject({ done: 1 })
    await agree()
  })

  it('end by themselves after a day, and the same request begins anew', async () => {
    const donation = donationFields({}, asked)
    const first = await refusal(donation)
    const abandoned = charge()
    expect(await settleAfter(23.9)).toMatchObject({ failed: 0, waiting: 1 })
    expect(abandoned.voided).toBe(false)
    expect(await settleAfter(0.2)).toMatchObject({ failed: 1, waiting: 0, open: 0 })
    expect(abandoned.voided).toBe(true)
    expect(await newest()).toMatchObject({ status: 'failed' })
    const history = await findDonationHistory(store.db, (await newest()).id)
    expect(history?.events.at(-1)?.details).toEqual({ reason: 'not confirmed by the donor' })
    const second = await refusal(donation)
    expect(second.action?.clientSecret).not.toBe(first.action?.clientSecret)
    ledger.decide(charge(), 'paid')
    expect((await send(donation)).checkedOut).toBe(true)
    await agree()
  })

  it('are not given up when the donor confirms them in that very moment', async () => {
    await refusal(donationFields({}, asked))
    const waiting = charge()
    let looks = 0
    ledger.beforeAnswer = async () => {
      looks += 1
      // After two searches have shown it waiting: one to look, one to end it.
      if (looks === 3) ledger.decide(waiting, 'paid')
    }
    expect(await settleAfter(24)).toMatchObject({ failed: 0, open: 1 })
    ledger.beforeAnswer = async () => undefined
    expect(await settleAfter(0.1)).toMatchObject({ settled: 1 })
    expect(ledger.held(waiting.reference)).toEqual({ charges: 1, amount: '40.00' })
    await agree()
  })

  it('are found when the first answer was lost, and when the books were', async () => {
    const lost = donationFields({}, { ...asked, paymentGatewayNonce: 'fake-authentication-lost-nonce' })
    const error = await send(lost).catch((reason: unknown) => reason)
    expect(error).toMatchObject({ status: 503 })
    const found = await refusal(lost)
    expect(found.action?.clientSecret).toBe(`${charge().id}_secret_of_the_page`)
    const charges = ledger.charges.length
    await forget()
    expect(await refusal(lost)).toEqual(found)
    expect(ledger.charges.length).toBe(charges)
    ledger.decide(charge(), 'paid')
    expect((await send(lost)).checkedOut).toBe(true)
    await agree()
  })

  it('are begun anew when Stripe repeats the answer of one that was ended and the books forgot it', async () => {
    const donation = donationFields({}, asked)
    const first = await refusal(donation)
    charge().voided = true
    await forget()
    const second = await refusal(donation)
    expect(second.action?.clientSecret).toBe(`${charge().id}_secret_of_the_page`)
    expect(second.action).not.toEqual(first.action)
    ledger.decide(charge(), 'paid')
    expect((await send(donation)).checkedOut).toBe(true)
  })

  it('of a bank account are pending, then paid; the receipt comes with the money', async () => {
    const [donation, before] = [donationFields(donorsPlace, debit), await receipts()]
    const pending = await send(donation)
    expect(pending).toMatchObject({ checkedOut: false, status: 'pending', chargedAmount: 40 })
    const nothing = { receiptNumber: '', taxDeductibleContributionAmount: 0, totalAmountBilled: 0 }
    expect(pending.receipt).toEqual({ currencyCode: 'USD', ...nothing })
    expect(await send(donation)).toEqual(pending)
    expect(await newest()).toMatchObject({ status: 'received', waitsFor: 'processor' })
    expect(await settleAfter(72)).toMatchObject({ waiting: 1, failed: 0 })
    expect(await receipts()).toBe(before)
    ledger.decide(charge(), 'paid')
    expect(await webhook('settled')).toMatchObject({ done: 1 })
    expect(await receipts()).toBe((before ?? 0) + 1)
    const paid = await send(donation)
    expect(paid).toMatchObject({ checkedOut: true, project: { funding: pending.project.funding + 40 } })
    expect(paid.status).toBeUndefined()
    await agree()
  })

  it('write what completes a payment nowhere but into the answer', async () => {
    const donation = donationFields({}, asked)
    expect((await refusal(donation)).action?.clientSecret).toContain('_secret_of_the_page')
    ledger.decide(charge(), 'paid')
    await send(donation)
    const stored = JSON.stringify(await everyRow(store.db))
    for (const text of [stored, JSON.stringify(api.log), payments.warnings.join()]) {
      expect(text).not.toContain('_secret_of_the_page')
    }
  })
})

describe('3-D Secure at Braintree', async () => {
  const { store } = await testDatabase()
  const processor = await startBraintree()
  afterAll(() => processor.close())
  const settings = { environment: 'sandbox', ...braintreeKeys, currency: 'USD', timeoutMs } as const
  const keyId = await insertDonationTargets(store.db, [2045])
  const submit = async (paymentGatewayNonce: string, needsThreeDSecure: boolean) => {
    const gateway = createBraintreeGateway({ ...settings, needsThreeDSecure, address: processor.address })
    const payments = testPayments(store, { gateway: quick(gateway), timeoutMs, clock: () => new Date() })
    await submitDonation(
      payments,
      { account, keyId, requestId: randomUUID() },
      donationRequest({}, { paymentGatewayNonce }),
    )
    const { rows } = await store.db.query<{ shifted: boolean | null }>(
      'select liability_shifted as shifted from donation order by id desc limit 1',
    )
    return rows[0]?.shifted
  }

  it.each([
    ['fake-three-d-secure-visa-full-authentication-nonce', true],
    ['fake-three-d-secure-visa-attempts-non-participating-nonce', false],
    ['fake-valid-nonce', undefined],
  ])('records of %s who answers for fraud: %s', async (nonce, shifted) => {
    expect(await submit(nonce, false)).toBe(shifted)
  })
})
