import {
  boolean,
  type Format,
  integer,
  money,
  object,
  string,
  type WireObject,
  wireDocument,
} from '../../../catalogue/wire/write/wire-value.js'
import type { ProjectTotals } from '../../../kernel/donation.js'
import { chargedOf, type DonationRequest } from '../../../money/donation-request.js'
import type { Settlement } from '../../../money/sql/donation-outcomes.js'

/** The `donation` document (wire.md 6.3); in XML too, the fields of the request precede the outcome. */
export function donationDocument(format: Format, request: DonationRequest, settlement: Settlement): string {
  const charged = money(chargedOf(request))
  const currency = string(request.currency)
  const { addon, transactionId } = request
  const value = object(
    [
      ['amount', money(request.amount)],
      ['addon', addon === undefined ? undefined : object([['amount', money(addon)]])],
      ['chargedAmount', charged],
      ['currencyCode', currency],
      ['datetime', string(settlement.settledAt.toISOString().replace('Z', '+00:00'))],
      ['email', string(request.email)],
      ['project', projectValue(settlement.totals)],
      ['refcode', string(request.refcode)],
      ['signupForCharityNewsletter', boolean(request.newsletterCharity)],
      ['signupForGGNewsletter', boolean(request.newsletterPlatform)],
      ['transactionId', transactionId === undefined ? undefined : string(transactionId)],
      ['checkedOut', boolean(true)],
      ['payment_detail', paymentDetail(request)],
      [
        'receipt',
        object([
          ['currencyCode', currency],
          ['receiptNumber', string(settlement.receiptNumber)],
          // A tip to the platform is no contribution to the charity.
          ['taxDeductibleContributionAmount', money(request.amount)],
          ['totalAmountBilled', charged],
        ]),
      ],
    ],
    'given',
  )
  return wireDocument(format, 'donation', value)
}

/** The payer, and the masked card; in answers to version 1 only. */
function paymentDetail({ payment, payer, card }: DonationRequest): WireObject | undefined {
  if (payment) return undefined
  const fields = {
    ...payer,
    ...(card && {
      creditCardNumber: card.maskedNumber,
      creditCardType: card.type,
      expiryDateMonth: card.expiryMonth,
      expiryDateYear: card.expiryYear,
      securityCode: 'XXX',
    }),
  }
  return object(Object.entries(fields).map(([name, text]) => [name, text === undefined ? undefined : string(text)]))
}

function projectValue(project: ProjectTotals): WireObject {
  const { goal, remaining, projectLink, progressReportLink } = project
  return object([
    ['funding', money(project.funding)],
    ['goal', goal === undefined ? undefined : money(goal)],
    ['id', integer(project.projectId)],
    ['numberOfDonations', integer(project.numberOfDonations)],
    ['progressReportLink', progressReportLink === undefined ? undefined : string(progressReportLink)],
    ['projectLink', projectLink === undefined ? undefined : string(projectLink)],
    ['remaining', remaining === undefined ? undefined : money(remaining)],
  ])
}
