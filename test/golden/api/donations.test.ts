import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { type DonationAnswer, donationDocument } from '../../../src/api/representations/donation.js'
import { errorDocument } from '../../../src/api/representations/error-response.js'
import type { CurrencyCode, Decimal } from '../../../src/domain/money.js'

const golden = (name: string) => readFileSync(new URL(name, import.meta.url), 'utf8')
const amount = (text: string) => text as Decimal

/** The worked example of the wire contract (6.3). */
const answer: DonationAnswer = {
  amount: amount('40'),
  addon: undefined,
  charged: amount('40.00'),
  currency: 'USD' as CurrencyCode,
  at: new Date('2026-11-21T09:15:30.412Z'),
  email: 'lina@example.org',
  project: {
    projectId: 2045,
    funding: amount('1290.000'),
    goal: amount('8000.000'),
    numberOfDonations: 38,
    progressReportLink: 'https://giving.example/projects/wells-for-tara/updates/',
    projectLink: 'https://giving.example/projects/wells-for-tara/',
    remaining: amount('6710.000'),
  },
  refcode: 'spring-drive',
  newsletterCharity: false,
  newsletterPlatform: false,
  transactionId: 'tx-000071',
  receiptNumber: 'R10071-GC20555-T1',
  paymentDetail: undefined,
}

/** Every optional part: a tip, a test card, texts that must be escaped, no goal. */
const full: DonationAnswer = {
  ...answer,
  addon: amount('2.5'),
  charged: amount('42.50'),
  refcode: 'a<b & "c"',
  newsletterCharity: true,
  transactionId: undefined,
  project: { projectId: 7, funding: amount('40'), numberOfDonations: 1 },
  paymentDetail: [
    ['firstname', 'Lina'],
    ['lastname', 'Okoro & Söhne'],
    ['address', '3 Quay Street'],
    ['zip', 'H91 X0X0'],
    ['creditCardNumber', '5555-XXXX-XXXX-4444'],
    ['creditCardType', 'mastercard'],
    ['expiryDateMonth', '02'],
    ['expiryDateYear', '2030'],
    ['securityCode', 'XXX'],
  ],
}

describe('donations, byte for byte', () => {
  it.each(['xml', 'json'] as const)('are answered as the wire contract shows it (%s)', (format) => {
    expect(donationDocument(format, answer)).toBe(golden(`donation.${format}`))
  })

  it.each(['xml', 'json'] as const)('are answered with tip, address and masked card (%s)', (format) => {
    expect(donationDocument(format, full)).toBe(golden(`donation-full.${format}`))
  })

  it.each(['xml', 'json'] as const)('are declined with the processor’s number (%s)', (format) => {
    const declined = { status: 400, messages: ['The payment was declined: Do Not Honor.'], number: 2000 }
    expect(errorDocument(format, declined)).toBe(golden(`donation-declined.${format}`))
  })
})
