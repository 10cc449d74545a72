import type { ProjectTotals } from '../../domain/donation.js'
import type { CurrencyCode, Decimal } from '../../domain/money.js'
import {
  boolean,
  type Format,
  integer,
  money,
  record,
  string,
  type WireRecord,
  wireDocument,
  wireText,
} from '../../wire/write/wire.js'

/** Everything that the answer to a donation says (wire contract 6.3). */
export type DonationAnswer = {
  readonly amount: Decimal
  readonly addon: Decimal | undefined
  /** What the payment instrument was charged: amount and addon. */
  readonly charged: Decimal
  readonly currency: CurrencyCode
  readonly at: Date
  readonly email: string
  /** Totals after the donation. */
  readonly project: ProjectTotals
  readonly refcode: string
  readonly newsletterCharity: boolean
  readonly newsletterPlatform: boolean
  readonly transactionId: string | undefined
  readonly receiptNumber: string
  /** Version 1 only: who pays, and the masked test card. */
  readonly paymentDetail: readonly (readonly [name: string, value: string])[] | undefined
}

/** The `donation` document: in XML the echo in ASCII order first, then the outcome, as captured. */
export function donationDocument(format: Format, answer: DonationAnswer): string {
  const { currency, project } = answer
  const charged = money(answer.charged)
  const value = record(
    [
      ['amount', money(answer.amount)],
      ['addon', answer.addon === undefined ? undefined : record([['amount', money(answer.addon)]])],
      ['chargedAmount', charged],
      ['currencyCode', string(currency)],
      ['datetime', string(answer.at.toISOString().replace('Z', '+00:00'))],
      ['email', string(answer.email)],
      ['project', projectValue(project)],
      ['refcode', string(answer.refcode)],
      ['signupForCharityNewsletter', boolean(answer.newsletterCharity)],
      ['signupForGGNewsletter', boolean(answer.newsletterPlatform)],
      ['transactionId', answer.transactionId === undefined ? undefined : string(answer.transactionId)],
      ['checkedOut', boolean(true)],
      [
        'payment_detail',
        answer.paymentDetail && record(answer.paymentDetail.map(([name, text]) => [name, string(text)])),
      ],
      [
        'receipt',
        record([
          ['currencyCode', string(currency)],
          ['receiptNumber', string(answer.receiptNumber)],
          ['taxDeductibleContributionAmount', charged],
          ['totalAmountBilled', charged],
        ]),
      ],
    ],
    'given',
  )
  return wireDocument(format, 'donation', wireText('donation', value))
}

function projectValue(project: ProjectTotals): WireRecord {
  const { goal, remaining, projectLink, progressReportLink } = project
  return record([
    ['funding', money(project.funding)],
    ['goal', goal === undefined ? undefined : money(goal)],
    ['id', integer(project.projectId)],
    ['numberOfDonations', integer(project.numberOfDonations)],
    ['progressReportLink', progressReportLink === undefined ? undefined : string(progressReportLink)],
    ['projectLink', projectLink === undefined ? undefined : string(projectLink)],
    ['remaining', remaining === undefined ? undefined : money(remaining)],
  ])
}
