import type { FieldReader } from './field-reader.js'

/** A test card as the answer shows it. */
export type CardEcho = {
  /** `5555-XXXX-XXXX-4444` */
  readonly maskedNumber: string
  readonly type: string
  readonly expiryMonth?: string
  readonly expiryYear?: string
}

// Numbers that the processor publishes for tests; they belong to nobody.
const testCards: Readonly<Record<string, string>> = {
  '4111111111111111': 'visa',
  '4005519200000004': 'visa',
  '4009348888881881': 'visa',
  '4012000033330026': 'visa',
  '4012888888881881': 'visa',
  '4242424242424242': 'visa',
  '4500600000000061': 'visa',
  '5555555555554444': 'mastercard',
  '5105105105105100': 'mastercard',
  '2223000048400011': 'mastercard',
  '378282246310005': 'amex',
  '371449635398431': 'amex',
  '6011111111111117': 'discover',
  '6011000991300009': 'discover',
  '3530111333300000': 'jcb',
  '6304000000000000': 'maestro',
  '36259600000004': 'diners',
}

/**
 * The card fields of version 1, which takes tests only. Only a published test number is accepted (wire contract 1.3,
 * 6.2): every other number is refused, and repeated nowhere.
 */
export function readTestCard(detail: FieldReader): CardEcho | undefined {
  if (!detail.has('creditCardNumber')) return undefined
  const number = (detail.cardText('creditCardNumber', 40) ?? '').replace(/[ -]/g, '')
  const type = Object.hasOwn(testCards, number) ? testCards[number] : undefined
  if (type === undefined) {
    detail.refuse(
      'creditCardNumber',
      'no card number (a published test number at most): use version 2, donationsclient, with paymentGatewayNonce',
    )
    return undefined
  }
  const expiryMonth = detail.text('expiryDateMonth', 2)
  const expiryYear = detail.text('expiryDateYear', 4)
  return {
    maskedNumber: `${number.slice(0, 4)}-XXXX-XXXX-${number.slice(-4)}`,
    type,
    ...(expiryMonth !== undefined && { expiryMonth }),
    ...(expiryYear !== undefined && { expiryYear }),
  }
}
