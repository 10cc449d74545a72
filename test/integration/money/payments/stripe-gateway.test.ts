import { randomUUID } from 'node:crypto'
import { afterAll, describe, expect, it } from 'vitest'
import { createStripeGateway, type StripeSettings } from '../../../../src/extensions/stripe/stripe-gateway.js'
import type { Decimal } from '../../../../src/kernel/money.js'
import { usd } from '../../../support/money/donations.js'
import { unknownNonces } from '../../../support/servers/processor-server.js'
import { startStripe, stripeDeclineNonces, stripeKeys } from '../../../support/servers/stripe-server.js'
import { describeGateway } from './gateway-conformance.js'

const timeoutMs = 2_500
const settings: StripeSettings = { ...stripeKeys, timeoutMs }

describeGateway({
  name: 'Stripe',
  declines: [...stripeDeclineNonces, ['fake-stripe-never_heard_of-nonce', 2046], ['fake-declined-2001-nonce', 2001]],
  // The library repeats a request whose connection was cut, under its idempotency key, and is told the first outcome.
  unknown: unknownNonces.filter(([nonce]) => nonce !== 'fake-cut-after-nonce'),
  refusedNonces: ['fake-down-nonce'],
  carriesNotes: true,
  refundsPartsEarly: true,
  timeoutMs,
  open: async () => {
    const processor = await startStripe()
    const open = (changes: Partial<StripeSettings>) =>
      createStripeGateway({ ...settings, address: processor.address, ...changes })
    return {
      gateway: open({}),
      refused: {
        'nobody listens': open({ address: processor.closedAddress }),
        'wrong key': open({ secretKey: 'sk_test_another44' }),
      },
      ...processor.ledger.controls,
      secrets: [stripeKeys.secretKey, 'sk_test_another44'],
      close: () => processor.close(),
    }
  },
})

describe('the Stripe gateway', async () => {
  const processor = await startStripe()
  afterAll(() => processor.close())
  const gateway = createStripeGateway({ ...settings, address: processor.address })
  const signal = new AbortController().signal
  const charge = (nonce: string, reference: string = randomUUID()) =>
    gateway.charge(
      {
        ...{ reference, amount: '42.50' as Decimal, currency: usd, gatewayKey: 'k', payer: {} },
        method: { kind: 'nonce', nonce },
      },
      signal,
    )
  const since = new Date()

  it('knows the outcome of a charge whose connection was cut, and charges once', async () => {
    const reference = randomUUID()
    expect(await charge('fake-cut-after-nonce', reference)).toMatchObject({ kind: 'approved' })
    expect(processor.ledger.held(reference)).toEqual({ charges: 1, amount: '42.50' })
  })

  it('finds a charge behind many others that came after it, and one that only the search shows', async () => {
    const [early, late] = [randomUUID(), randomUUID()]
    await charge('fake-valid-nonce', early)
    for (let n = 0; n < 250; n++) {
      processor.ledger.charge({ id: processor.ledger.nextId('pi_'), reference: `${n}`, amount: 100, currency: 'usd' })
    }
    expect(await gateway.findByReference({ reference: early, since }, signal)).toBeDefined()
    const old = { id: processor.ledger.nextId('pi_'), reference: late, amount: 100, currency: 'usd' }
    Object.assign(processor.ledger.charge(old), { at: Date.now() - 3_600_000 })
    expect(await gateway.findByReference({ reference: late, since }, signal)).toMatchObject({ amount: '1.00' })
  })

  it('leaves two charges with one reference to a person', async () => {
    const reference = randomUUID()
    for (const id of ['pi_a', 'pi_b']) processor.ledger.charge({ id, reference, amount: 4250, currency: 'usd' })
    await expect(gateway.findByReference({ reference, since }, signal)).rejects.toThrow('more than one charge')
  })

  it('tells its mode, and refuses a key of the other', async () => {
    expect(await gateway.describeAccount(signal)).toBe('Stripe account in test mode')
    expect(gateway.name).toBe('stripe-sandbox')
    expect(createStripeGateway({ ...settings, secretKey: 'sk_live_1' }).name).toBe('stripe')
  })
})
