import { afterAll, describe, expect, it } from 'vitest'
import { createStripeGateway } from '../../../../src/extensions/stripe/stripe-gateway.js'
import { followedKinds } from '../../../../src/extensions/stripe/stripe-webhooks.js'
import { checkGateway } from '../../../../src/money/check-gateway.js'
import { listDifferences } from '../../../../src/money/sql/books-check.js'
import { recordWebhook } from '../../../../src/money/sql/webhook-events.js'
import { runCommandLine } from '../../../support/commands/command-line.js'
import { testPayments } from '../../../support/money/donations.js'
import { braintreeKeys, startBraintree } from '../../../support/servers/braintree-server.js'
import type { ProcessorServer } from '../../../support/servers/processor-server.js'
import { startStripe, stripeKeys } from '../../../support/servers/stripe-server.js'
import { testDatabase } from '../../../support/store/database.js'

describe('giving payments check', { shuffle: false }, async () => {
  const { store, url } = await testDatabase()
  const [braintree, stripe] = await Promise.all([startBraintree(), startStripe()])
  afterAll(() => Promise.all([braintree.close(), stripe.close()]))

  const check = async (environment: Record<string, string>, ...args: string[]) => {
    const all = { DATABASE_URL: url, LOG_LEVEL: 'silent', PAYMENT_TIMEOUT_SECONDS: '2', ...environment }
    const { code, stdout, stderr } = await runCommandLine(['payments', 'check', '--json', ...args], all)
    expect(stderr).toBe('')
    const { gateway, steps } = JSON.parse(stdout) as { gateway: string; steps: { step: string; ok: boolean }[] }
    return { code, stdout, gateway, steps: steps.map(({ step, ok }) => `${step} ${ok ? 'ok' : 'failed'}`) }
  }
  const at = ({ address }: ProcessorServer) => ({
    PAYMENT_GATEWAY_URL: `https://${address.host}:${address.port}`,
    PAYMENT_GATEWAY_CA_FILE: address.caFile,
  })
  const braintreeSettings = () => ({
    ...{ PAYMENT_GATEWAY: 'braintree', BRAINTREE_MERCHANT_ID: braintreeKeys.merchantId, ...at(braintree) },
    ...{ BRAINTREE_PUBLIC_KEY: braintreeKeys.publicKey, BRAINTREE_PRIVATE_KEY: braintreeKeys.privateKey },
    ...{ BRAINTREE_MERCHANT_ACCOUNTS: `USD:${braintreeKeys.merchantAccount}`, BRAINTREE_3D_SECURE: 'optional' },
  })
  const stripeSettings = () => ({
    ...{ PAYMENT_GATEWAY: 'stripe', STRIPE_SECRET_KEY: stripeKeys.secretKey, ...at(stripe) },
    ...{ STRIPE_PUBLISHABLE_KEY: stripeKeys.publishableKey, STRIPE_WEBHOOK_SECRET: stripeKeys.webhookSecret },
  })
  const plainSteps = ['account ok', 'client token ok', 'sale ok', 'search ok', 'refund ok']
  const allSteps = ['account ok', 'settings ok', 'client token ok', 'sale ok', 'search ok', 'refund ok']

  it('pays, finds and gives back at each gateway, outside of the books', async () => {
    expect(await check({})).toMatchObject({ code: 0, gateway: 'sandbox', steps: plainSteps })
    expect(await check(braintreeSettings())).toMatchObject({ code: 0, gateway: 'braintree-sandbox', steps: allSteps })
    expect(await check(stripeSettings())).toMatchObject({ code: 0, gateway: 'stripe-sandbox', steps: allSteps })
    for (const { ledger } of [braintree, stripe]) {
      expect(ledger.approved().map((charge) => ledger.left(charge))).toEqual([0])
    }
    expect(await store.snapshot((db) => listDifferences(db, 10))).toEqual([])
  })

  it('prints a line for each step', async () => {
    const { code, stdout } = await runCommandLine(['payments', 'check'], { DATABASE_URL: url, LOG_LEVEL: 'silent' })
    expect(code).toBe(0)
    expect(stdout).toMatch(
      /^gateway: sandbox\naccount: ok, .*\nclient token: ok, 20 characters\nsale: ok, 10.00 USD, sandbox-\d+\nsearch: ok, 10.* USD under check-.*\nrefund: ok, sandbox-refund-\d+\n$/,
    )
  })

  it('gives back what may have been charged, and says what failed', async () => {
    const left = () => braintree.ledger.approved().map((charge) => braintree.ledger.left(charge))
    const before = left()
    const lost = await check(braintreeSettings(), '--nonce', 'fake-cut-after-nonce')
    expect(lost).toMatchObject({
      code: 1,
      steps: ['account ok', 'settings ok', 'client token ok', 'sale failed', 'search ok', 'refund ok'],
    })
    expect(left()).toEqual([...before, 0])
    const declined = await check(stripeSettings(), '--nonce', 'fake-declined-2001-nonce')
    expect(declined).toMatchObject({ code: 1 })
    expect(declined.stdout).toContain('declined with 2001: Insufficient Funds')
    const wrong = await check({ ...braintreeSettings(), BRAINTREE_PRIVATE_KEY: 'another_key_44' })
    expect(wrong).toMatchObject({ code: 1, steps: ['account failed'] })
    expect(wrong.stdout).not.toContain('another_key_44')
  })

  it('names what is missing in the account', async () => {
    const detail = async (environment: Record<string, string> = stripeSettings()) => {
      const { code, stdout } = await check(environment)
      const { steps } = JSON.parse(stdout) as { steps: { step: string; detail: string }[] }
      return { code, detail: steps.find(({ step }) => step === 'settings')?.detail }
    }
    expect(await detail()).toEqual({ code: 0, detail: 'nothing is missing' })
    const [endpoint] = stripe.endpoints
    endpoint?.enabled_events.splice(0, 1, ...followedKinds.filter((kind) => !kind.startsWith('charge.dispute.')))
    Object.assign(stripe.account, { charges_enabled: false, default_currency: 'eur', capabilities: {} })
    const lacks = await detail({ ...stripeSettings(), STRIPE_WEBHOOK_SECRET: '' })
    expect(lacks.code).toBe(1)
    expect(lacks.detail?.split('; ')).toEqual([
      'the account takes no payments yet (charges_enabled)',
      'the account takes no cards (card_payments)',
      'the account settles in EUR, the platform in USD (default_currency)',
      'the webhook endpoint lacks charge.dispute.created, charge.dispute.updated, charge.dispute.closed, charge.dispute.funds_withdrawn, charge.dispute.funds_reinstated',
      'STRIPE_WEBHOOK_SECRET is not set, so webhooks are not received',
    ])
    stripe.endpoints.length = 0
    expect((await detail()).detail).toContain('no enabled webhook endpoint ends with /api/public/payments/stripe')
    Object.assign(stripe.account, { charges_enabled: true, default_currency: 'usd' })
    Object.assign(stripe.account, { capabilities: { card_payments: 'active' } })
    stripe.endpoints.push({ url: 'https://giving.example/api/public/payments/stripe', enabled_events: ['*'] })
  })

  it('names a currency that accounts of its country do not take', async () => {
    const { code, stdout } = await check({ ...stripeSettings(), DONATION_LIMITS: 'USD:5-,EUR:5-,ISK:500-' })
    expect(code).toBe(1)
    expect(stdout).toContain('"accounts in US take no payments in ISK"')
  })

  it("names what Braintree's API can say of 3-D Secure, and what must be sent until something came", async () => {
    const settings = async (changes: Record<string, string> = {}) => {
      const { code, stdout } = await check({ ...braintreeSettings(), ...changes })
      const { steps } = JSON.parse(stdout) as { steps: { step: string; detail: string }[] }
      return { code, detail: steps.find(({ step }) => step === 'settings')?.detail.split('; ') }
    }
    const unseen = [
      'no webhook has come yet',
      expect.stringMatching(/^it must send transaction_settled, .*dispute_lost, /),
    ]
    expect(await settings()).toEqual({
      code: 0,
      detail: ['nothing is missing', 'cards without 3-D Secure are taken: BRAINTREE_3D_SECURE', ...unseen],
    })
    const required = { BRAINTREE_3D_SECURE: 'required' }
    expect(await settings(required)).toMatchObject({ detail: ['nothing is missing', ...unseen] })
    braintree.account.threeDSecureEnabled = false
    expect(await settings(required)).toEqual({
      code: 1,
      detail: ['the account has no 3-D Secure, so BRAINTREE_3D_SECURE=required lets every card be declined'],
    })
    expect((await settings()).code).toBe(0)
    braintree.account.threeDSecureEnabled = true
    const at = new Date()
    await recordWebhook(store.db, {
      ...{ gateway: 'braintree-sandbox', eventId: 'e1', kind: 'check', at, receivedAt: at, state: 'ignored' },
    })
    expect((await settings(required)).detail).toEqual(['nothing is missing'])
  })

  it('moves no real money without a nonce that is given', async () => {
    const { address } = stripe
    const gateway = { ...createStripeGateway({ ...stripeKeys, timeoutMs: 2_000, address }), name: 'stripe' }
    const steps = async (nonce?: string) => {
      const made = []
      for await (const { step, ok } of checkGateway(testPayments(store, { gateway, timeoutMs: 2_000 }), nonce)) {
        made.push(`${step} ${ok ? 'ok' : 'failed'}`)
      }
      return made
    }
    const before = stripe.ledger.charges.length
    expect(await steps()).toEqual(['account ok', 'settings ok', 'client token ok', 'sale ok'])
    expect(stripe.ledger.charges.length).toBe(before)
    expect(await steps('fake-valid-nonce')).toEqual(allSteps)
  })
})
