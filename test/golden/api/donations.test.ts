import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { donationDocument } from '../../../src/http/api/representations/donation.js'
import { errorDocument } from '../../../src/http/api/representations/error-response.js'
import type { CurrencyCode, Decimal } from '../../../src/kernel/money.js'
import type { DonationRequest } from '../../../src/money/donation-request.js'
import type { Settlement } from '../../../src/money/sql/donation-outcomes.js'

const golden = (name: string) => readFileSync(new URL(name, import.meta.url), 'utf8')
const amount = (text: string) => text as Decimal

/** The worked example of docs/contract/wire.md. */
const request: DonationRequest = {
  refcode: 'spring-drive',
  transactionId: 'tx-000071',
  email: 'lina@example.org',
  amount: amount('40'),
  currency: 'USD' as CurrencyCode,
  projectId: 2045,
  newsletterPlatform: false,
  newsletterCharity: false,
  payer: { firstname: 'Lina', lastname: 'Okoro' },
  payment: { gateway: 'sandbox', gatewayKey: 'key', method: { kind: 'nonce', nonce: 'fake-valid-nonce' } },
}
const settlement: Settlement = {
  settledAt: new Date('2026-11-21T09:15:30.412Z'),
  receiptNumber: 'R10071-GC20555-T1',
  totals: {
    projectId: 2045,
    funding: amount('1290.000'),
    goal: amount('8000.000'),
    numberOfDonations: 38,
    progressReportLink: 'https://giving.example/projects/wells-for-tara/updates/',
    projectLink: 'https://giving.example/projects/wells-for-tara/',
    remaining: amount('6710.000'),
  },
}

/** Every optional part: a tip, a test card, texts that must be escaped, no goal. */
const { transactionId: _, payment: __, ...test } = request
const full: DonationRequest = {
  ...test,
  addon: amount('2.5'),
  refcode: 'a<b & "c"',
  newsletterCharity: true,
  payer: { firstname: 'Lina', lastname: 'Okoro & Söhne', address: '3 Quay Street', zip: 'H91 X0X0' },
  card: { maskedNumber: '5555-XXXX-XXXX-4444', type: 'mastercard', expiryMonth: '02', expiryYear: '2030' },
}
const withoutGoal = { ...settlement, totals: { projectId: 7, funding: amount('40'), numberOfDonations: 1 } }

describe('donations, byte for byte', () => {
  it.each(['xml', 'json'] as const)('are answered as captured (%s)', (format) => {
    expect(donationDocument(format, request, settlement)).toBe(golden(`donation.${format}`))
  })

  it.each(['xml', 'json'] as const)('are answered with tip, address and masked card (%s)', (format) => {
    expect(donationDocument(format, full, withoutGoal)).toBe(golden(`donation-full.${format}`))
  })

  it.each(['xml', 'json'] as const)('are declined with the processor’s number (%s)', (format) => {
    const declined = { status: 400, errors: [{ message: 'The payment was declined: Do Not Honor.', number: 2000 }] }
    expect(errorDocument(format, declined)).toBe(golden(`donation-declined.${format}`))
  })
})
