import { randomUUID } from 'node:crypto'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createBraintreeGateway } from '../../src/extensions/braintree/braintree-gateway.js'
import { createStripeGateway } from '../../src/extensions/stripe/stripe-gateway.js'
import type { IsoDate } from '../../src/kernel/dates.js'
import { adoptCharges } from '../../src/money/adopt-charges.js'
import { reconcileDays } from '../../src/money/reconcile.js'
import { listDifferences } from '../../src/money/sql/books-check.js'
import { submitDonation } from '../../src/money/submit-donation.js'
import { migrate } from '../../src/platform/database/migrate.js'
import { openStore } from '../../src/platform/database/store.js'
import { account, donationRequest, insertDonationTargets, quick, testPayments } from '../support/money/donations.js'
import { braintreeKeys, startBraintree } from '../support/servers/braintree-server.js'
import { startStripe, stripeKeys } from '../support/servers/stripe-server.js'
import { installedPostgresMissing, startInstalledPostgres } from './support/installed-postgres.js'
import { record } from './support/record.js'
import { scaled } from './support/scale.js'

const timeoutMs = 5_000
const { signal } = new AbortController()
const missing = installedPostgresMissing()
if (missing !== undefined) console.warn(`Donations through a failover are skipped: ${missing}.`)

describe.skipIf(missing).each(['braintree', 'stripe'] as const)('donations at %s through a failover', (name) => {
  it('are charged once and none is lost, though the standby lacks the last of them', { timeout: 600_000 }, async () => {
    const server = await startInstalledPostgres()
    const processor = name === 'braintree' ? await startBraintree() : await startStripe()
    const { address, ledger } = processor
    const gateway = quick(
      name === 'braintree'
        ? createBraintreeGateway({ environment: 'sandbox', ...braintreeKeys, currency: 'USD', timeoutMs, address })
        : createStripeGateway({ ...stripeKeys, timeoutMs, address }),
    )
    const clock = () => new Date()
    const primary = openStore({ url: server.url, max: 6, applicationName: 'primary' })
    await migrate(primary)
    const keyId = await insertDonationTargets(primary.db, [2045])
    const standby = await server.standby()
    const requests = (count: number) => Array.from({ length: count }, () => donationRequest())
    const [kept, lost] = [requests(scaled(40)), requests(scaled(60))]
    const submit = (store: typeof primary, request: (typeof lost)[number]) =>
      submitDonation(
        testPayments(store, { gateway, timeoutMs, clock }),
        { account, keyId, requestId: randomUUID() },
        request,
      )

    for (const request of kept) await submit(primary, request)
    await standby.cutOff()
    for (const request of lost) await submit(primary, request)
    await server.kill()
    await primary.close()
    const store = openStore({ url: await standby.promote(), max: 6, applicationName: 'standby' })
    onTestFinished(async () => {
      await store.close()
      await server.stop()
      await processor.close()
    })
    const booked = async () => {
      const { rows } = await store.db.query<{ n: number }>(
        `select count(*)::integer as n from donation where status = 'settled'`,
      )
      return rows[0]?.n
    }
    expect(await booked()).toBe(kept.length)

    // At once, from several processes at the same time, and again.
    const repeated = lost.filter((_, at) => at % 2 === 0)
    for (const request of [...repeated, ...kept.slice(0, 5)]) {
      const [first, second] = await Promise.all([submit(store, request), submit(store, request)])
      expect(second).toEqual(first)
    }
    const all = kept.length + lost.length
    expect(ledger.approved()).toHaveLength(all)

    for (const charge of ledger.charges) ledger.settle(charge)
    const payments = testPayments(store, { gateway, timeoutMs, clock })
    const [from, to] = [-86_400_000, 0].map((ms) => new Date(Date.now() + ms).toISOString().slice(0, 10) as IsoDate)
    const days = { from: from as IsoDate, to: to as IsoDate }
    const { differences } = await reconcileDays(payments, days, signal)
    const adopted = await adoptCharges(payments, differences, signal)
    expect(adopted.filter((one) => 'left' in one)).toEqual([])
    expect(adopted).toHaveLength(lost.length - repeated.length)
    for (const request of lost) await submit(store, request)

    expect(ledger.approved()).toHaveLength(all)
    expect(await booked()).toBe(all)
    expect((await reconcileDays(payments, days, signal)).differences).toEqual([])
    expect(await store.snapshot((db) => listDifferences(db, 10))).toEqual([])
    record({
      name: `donations at ${name}: the primary dies, and its standby lacks the last ${lost.length}`,
      engine: 'PostgreSQL',
      tried: all,
      outcome: `${repeated.length} repeated, ${adopted.length} entered from their charges: none charged twice, none lost`,
    })
  })
})
