import { randomUUID } from 'node:crypto'
import { afterAll, describe, expect, it } from 'vitest'
import { listBraintreeEntries } from '../../../../src/extensions/braintree/braintree-entries.js'
import {
  type BraintreeSettings,
  createBraintreeGateway,
} from '../../../../src/extensions/braintree/braintree-gateway.js'
import type { Decimal } from '../../../../src/kernel/money.js'
import { declines } from '../../../../src/money/gateways/declines.js'
import type { Charge } from '../../../../src/money/gateways/gateway.js'
import { usd } from '../../../support/money/donations.js'
import { braintreeKeys, startBraintree } from '../../../support/servers/braintree-server.js'
import { unknownNonces } from '../../../support/servers/processor-server.js'
import { describeGateway } from './gateway-conformance.js'

const timeoutMs = 2_500
const settings: BraintreeSettings = { environment: 'sandbox', ...braintreeKeys, currency: 'USD', timeoutMs }

describeGateway({
  name: 'Braintree',
  declines: [
    ...Object.keys(declines).map((code) => [`fake-declined-${code}-nonce`, Number(code)] as const),
    ['fake-gateway-rejected-fraud-nonce', 2014],
    ['fake-gateway-rejected-cvv-nonce', 2010],
    ['fake-gateway-rejected-avs-nonce', 2059],
    ['fake-gateway-rejected-three-d-secure-nonce', 2099],
  ],
  unknown: unknownNonces,
  refusedNonces: ['fake-down-nonce'],
  carriesNotes: true,
  refundsPartsEarly: false,
  timeoutMs,
  open: async () => {
    const processor = await startBraintree()
    const open = (changes: Partial<BraintreeSettings>) =>
      createBraintreeGateway({ ...settings, address: processor.address, ...changes })
    return {
      gateway: open({}),
      refused: {
        'nobody listens': open({ address: processor.closedAddress }),
        'wrong key': open({ privateKey: 'another_key_44' }),
        'unknown merchant': open({ merchantId: 'somebody_else' }),
        'no account of the currency': open({ currency: 'EUR' }),
      },
      ...processor.ledger.controls,
      secrets: [braintreeKeys.publicKey, braintreeKeys.privateKey, 'another_key_44'],
      close: () => processor.close(),
    }
  },
})

describe('the Braintree gateway', async () => {
  const processor = await startBraintree()
  afterAll(() => processor.close())
  const gateway = createBraintreeGateway({ ...settings, address: processor.address })
  const signal = new AbortController().signal
  const charge = (nonce: string, changes: Partial<Charge> = {}) =>
    gateway.charge(
      {
        ...{ reference: randomUUID(), amount: '42.50' as Decimal, currency: usd, gatewayKey: 'k', payer: {} },
        ...{ method: { kind: 'nonce', nonce }, ...changes },
      },
      signal,
    )

  it('sends what a request says, and leaves out what Braintree would refuse the payment for', async () => {
    await charge('fake-valid-nonce', {
      ...{ reference: 'ref-1', deviceData: '{"correlation_id":"a1"}', threeDSecureAuthenticationId: 'auth0001' },
      payer: {
        ...{ firstname: 'Lina', lastname: 'Okoro', email: 'lina@localhost', city: 'Galway', zip: 'H91 X0X0!' },
        ...{ iso3166CountryCode: 'ie', ipAddress: 'somewhere', userAgent: 'x'.repeat(300) },
      },
    })
    expect(JSON.parse(processor.calls.at(-1)?.request ?? '')).toEqual({
      transaction: {
        ...{ type: 'sale', amount: '42.50', order_id: 'ref-1', merchant_account_id: 'giving_usd' },
        ...{ payment_method_nonce: 'fake-valid-nonce', options: { submit_for_settlement: true } },
        ...{ device_data: '{"correlation_id":"a1"}', three_d_secure_authentication_id: 'auth0001' },
        customer: { first_name: 'Lina', last_name: 'Okoro' },
        billing: { first_name: 'Lina', last_name: 'Okoro', locality: 'Galway' },
        risk_data: { customer_browser: 'x'.repeat(255) },
      },
    })
  })

  it('writes after the reference what the sale is for, with a refcode where there is one', async () => {
    const notes = { projectId: 2045, addon: '2.50' as Decimal }
    for (const [reference, refcode] of [
      ['ref-2', undefined],
      ['ref-3', 'spring-drive'],
    ] as const) {
      await charge('fake-valid-nonce', { reference, notes: { ...notes, refcode } })
      const { transaction } = JSON.parse(processor.calls.at(-1)?.request ?? '')
      expect(transaction.order_id).toBe([reference, 2045, 250, refcode].filter(Boolean).join('.'))
    }
  })

  it('takes the first charge when its request was delivered twice', async () => {
    const reference = randomUUID()
    const outcome = await charge('fake-doubled-nonce', { reference })
    expect(outcome).toMatchObject({ kind: 'approved', chargeId: processor.ledger.approved(reference)[0]?.id })
  })

  it('leaves two charges with one reference to a person', async () => {
    const reference = randomUUID()
    await charge('fake-valid-nonce', { reference })
    await charge('fake-valid-nonce', { reference })
    await expect(gateway.findByReference({ reference, since: new Date() }, signal)).rejects.toThrow('2 charges')
  })

  it('tells which account it charges', async () => {
    expect(await gateway.describeAccount(signal)).toBe('merchant account giving_usd of the sandbox, USD, active')
    const euros = createBraintreeGateway({ ...settings, currency: 'EUR', address: processor.address })
    await expect(euros.describeAccount(signal)).rejects.toThrow('expected an active merchant account in EUR')
  })

  it('lists more than one search shows, by searching for parts of the time', async () => {
    const from = new Date('2026-11-20T00:00:00Z')
    const settled = Array.from({ length: 10_050 }, (_, n) => ({
      ...{ id: `t${n}`, type: 'sale', amount: '10.00', currencyIsoCode: 'USD', orderId: `r${n}` },
      statusHistory: [{ status: 'settled', timestamp: new Date(from.getTime() + (n % 4) * 1_000).toISOString() }],
    }))
    const timeOf = (id: string) => from.getTime() + (Number(id.slice(1)) % 4) * 1_000
    const searches = {
      search: async ({ settledAt }: { settledAt?: { min: string; max: string } }) => {
        if (!settledAt) return []
        const [min, max] = [Date.parse(settledAt.min), Date.parse(settledAt.max)]
        return settled.map(({ id }) => id).filter((id) => timeOf(id) >= min && timeOf(id) <= max)
      },
      fetch: async (ids: readonly string[]) => {
        expect(ids.length).toBeLessThanOrEqual(50)
        return ids.flatMap((id) => settled[Number(id.slice(1))] ?? [])
      },
    }
    const listed = new Set<string>()
    const list = async (until: Date) => {
      for await (const { chargeId } of listBraintreeEntries(searches, { from, until }, signal)) listed.add(chargeId)
    }
    await list(new Date(from.getTime() + 4_000))
    expect(listed.size).toBe(settled.length)
    for (const { statusHistory } of settled) Object.assign(statusHistory[0] ?? {}, { timestamp: from.toISOString() })
    searches.search = async () => settled.map(({ id }) => id)
    await expect(list(new Date(from.getTime() + 4_000))).rejects.toThrow('in one second')
  })
})
