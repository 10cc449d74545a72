import { randomUUID } from 'node:crypto'
import { stripeWebhooks } from '../../../src/extensions/stripe/stripe-webhooks.js'
import { readDonationRequest } from '../../../src/http/api/operations/donation-request.js'
import type { CurrencyCode, Decimal } from '../../../src/kernel/money.js'
import { DonorVault } from '../../../src/money/donors/donor-vault.js'
import type { Gateway } from '../../../src/money/gateways/gateway.js'
import { createSandboxGateway } from '../../../src/money/gateways/sandbox/sandbox-gateway.js'
import { type Payments, usualLimits } from '../../../src/money/payments.js'
import { createDonationBooks } from '../../../src/money/sql/donation-books.js'
import type { Db } from '../../../src/platform/database/connection.js'
import type { Store } from '../../../src/platform/database/store.js'

/** Who gives in tests. */
export const account = 'giver@example.org'

export const usd = 'USD' as CurrencyCode

/** One key for all processes of a test. */
export const testDonors = new DonorVault([{ id: 'test', secret: Buffer.alloc(32, 7) }])

/** Payments over the sandbox gateway, with a time-out that a test can wait for. */
export function testPayments(store: Store, changes: Partial<Payments> = {}): Payments & { warnings: string[] } {
  const warnings: string[] = []
  const clock = changes.clock ?? (() => new Date('2026-11-21T09:15:30.412Z'))
  return {
    store,
    books: createDonationBooks(store.db),
    donors: testDonors,
    gateway: quick(createSandboxGateway({ store, clock })),
    clock,
    timeoutMs: 2_000,
    feePercent: '5' as Decimal,
    currency: usd,
    limits: { USD: usualLimits },
    warn: (_details, message) => void warnings.push(message),
    warnings,
    ...changes,
  }
}

/** What the deliveries of `gatewayWithWebhooks` are signed with. */
export const webhookSecret = 'whsec_of_the_tests'

/** The sandbox gateway, which also receives webhooks of Stripe. */
export function gatewayWithWebhooks(store: Store, clock: () => Date): Gateway {
  return { ...quick(createSandboxGateway({ store, clock })), webhooks: stripeWebhooks(webhookSecret) }
}

/** The gateway with charges that are never late, so that open donations can be settled at once. */
export function quick(gateway: Gateway): Gateway {
  return { ...gateway, lateSeconds: 0.1 }
}

/** The XML request of a donation (wire.md 6.2): version 1, a test. */
export const donationXml = `<?xml version="1.0" encoding="UTF-8" standalone="yes"?>
<donation>
  <refcode>spring-drive</refcode>
  <transactionId>tx-000071</transactionId>
  <email>lina@example.org</email>
  <amount>40.00</amount>
  <project><id>2045</id></project>
  <payment_detail>
    <firstname>Lina</firstname><lastname>Okoro</lastname>
    <address>3 Quay Street</address><city>Galway</city>
    <iso3166CountryCode>IE</iso3166CountryCode><zip>H91 X0X0</zip>
  </payment_detail>
</donation>`
/** The JSON request of a donation (wire.md 6.2): version 2. */
export const donationJson = `{"donation":{"refcode":"spring-drive","transactionId":"tx-000072","email":"lina@example.org",
 "amount":40,"currencyCode":"USD","project":{"id":2045},
 "signupForGGNewsletter":false,"signupForCharityNewsletter":true,
 "payment_detail":{"firstname":"Lina","lastname":"Okoro","paymentGateway":"braintree",
 "paymentGatewayKey":"sandbox_demo_key","paymentGatewayNonce":"fake-valid-nonce"}}}`

/** The fields of a version 2 request. */
export function donationFields(changes: Record<string, unknown> = {}, payment: Record<string, unknown> = {}) {
  return {
    refcode: 'spring-drive',
    transactionId: `tx-${randomUUID()}`,
    email: 'lina@example.org',
    amount: 40,
    currencyCode: 'USD',
    project: { id: 2045 },
    signupForGGNewsletter: false,
    signupForCharityNewsletter: true,
    ...changes,
    payment_detail: {
      firstname: 'Lina',
      lastname: 'Okoro',
      paymentGateway: 'braintree',
      paymentGatewayKey: 'sandbox_demo_key',
      paymentGatewayNonce: 'fake-valid-nonce',
      ...payment,
    },
  }
}

/** What a version 2 request with these fields is read as. */
export function donationRequest(
  changes: Record<string, unknown> = {},
  payment: Record<string, unknown> = {},
  acceptLanguage?: string,
  limits: Payments['limits'] = { USD: usualLimits },
) {
  return readDonationRequest(donationFields(changes, payment), {
    version: 2,
    currency: usd,
    limits,
    gateways: ['braintree', 'stripe', 'sandbox'],
    acceptLanguage,
    takesPlans: true,
    mayNote: false,
    mayNamePartner: false,
  })
}

/** Stores projects that take donations, and a key; gives the key's id. */
export async function insertDonationTargets(db: Db, ids: readonly number[]): Promise<number> {
  await db.query(
    `insert into project (id, active, status, title, goal, funding, remaining, number_of_donations, project_link,
        progress_report_link, source)
      select id, true, 'active', 'Wells for Tara', 8000, 1250, 6750, 37, 'https://giving.example/projects/wells-for-tara/',
        'https://giving.example/projects/wells-for-tara/updates/', 'import' from unnest($1::bigint[]) id`,
    [ids],
  )
  await db.query(
    `insert into donation_month (project_id, month, currency, kind, source, amount, count, last_on)
      select id, '2026-10-01', 'USD', 'opening', 'import', 1250, 37, '2026-10-01' from unnest($1::bigint[]) id`,
    [ids],
  )
  const { rows } = await db.query<{ id: number }>(
    `with owner as (
        insert into account (email, password_hash, created_at) values ($1, 'x', now()) returning id)
      insert into api_key (account_id, key_hash, created_at) select id, $2, now() from owner returning id`,
    [`${randomUUID()}@example.org`, Buffer.from(randomUUID().replaceAll('-', '').padEnd(32, '0').slice(0, 32))],
  )
  return rows[0]?.id ?? 0
}

/** The record of a project that takes donations, for an import. */
export const targetRecord = {
  ...{ id: 2045, active: true, status: 'active', title: 'Wells for Tara', goal: '8000.00', funding: '1250.00' },
  ...{ numberOfDonations: 37, modifiedDate: '2026-09-12T06:00:00+00:00' },
  projectLink: 'https://giving.example/projects/wells-for-tara/',
  progressReportLink: 'https://giving.example/projects/wells-for-tara/updates/',
}

/** The donation that was entered last. */
export async function newestDonation(db: Db) {
  const { rows } = await db.query<{
    id: number
    reference: string
    status: string
    chargeId: string
    refunded: string
    waitsFor: string | undefined
  }>(
    `select id, reference, status, charge_id, refunded::text, waits_for
      from donation order by id desc limit 1`,
  )
  if (!rows[0]) throw new Error('there is no donation')
  return rows[0]
}
