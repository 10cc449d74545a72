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
import type { Decimal } from '../../../kernel/money.js'
import { chargedOf, type DonationRequest } from '../../../money/donation-request.js'
import type { TakenDonation } from '../../../money/submit-donation.js'

/** The `donation` document (wire.md 6.3); in XML too, the fields of the request precede the outcome. */
export function donationDocument(
  format: Format,
  request: DonationRequest,
  taken: TakenDonation,
  cancelLink?: string,
): string {
  const charged = money(chargedOf(request))
  const currency = string(request.currency)
  const pending = taken.settledAt === undefined
  const nothing = money('0' as Decimal)
  const { addon, transactionId } = request
  const value = object(
    [
      ['amount', money(request.amount)],
      ['addon', addon === undefined ? undefined : object([['amount', money(addon)]])],
      ['chargedAmount', charged],
      ['currencyCode', currency],
      ['datetime', string((pending ? taken.receivedAt : taken.settledAt).toISOString().replace('Z', '+00:00'))],
      ['email', string(request.email)],
      ['project', projectValue(taken.totals)],
      ['refcode', string(request.refcode)],
      ['signupForCharityNewsletter', boolean(request.newsletterCharity)],
      ['signupForGGNewsletter', boolean(request.newsletterPlatform)],
      ['transactionId', transactionId === undefined ? undefined : string(transactionId)],
      ['checkedOut', boolean(!pending)],
      ['payment_detail', paymentDetail(request)],
      [
        'receipt',
        object([
          ['currencyCode', currency],
          // Clients rely on the members. The receipt is empty until the money has been received.
          ['receiptNumber', string(taken.receiptNumber ?? '')],
          // A tip to the platform is no contribution to the charity.
          ['taxDeductibleContributionAmount', pending ? nothing : money(request.amount)],
          ['totalAmountBilled', pending ? nothing : charged],
        ]),
      ],
      ['status', pending ? string('pending') : undefined],
      ['recurring', request.frequency === undefined ? undefined : boolean(true)],
      ['frequency', request.frequency === undefined ? undefined : string(request.frequency)],
      ['cancelLink', cancelLink === undefined ? undefined : string(cancelLink)],
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
