import type { Decline } from '../../kernel/donation.js'

/**
 * The processor's published codes of declined payments (Braintree, "Authorization decline codes"); `docs/reference/payments.md`
 * lists the same ones. The code is the `error_number` of the answer.
 * @internal for the test that compares the lists
 */
export const declines: Readonly<Record<number, string>> = {
  2000: 'Do Not Honor',
  2001: 'Insufficient Funds',
  2002: 'Limit Exceeded',
  2003: "Cardholder's Activity Limit Exceeded",
  2004: 'Expired Card',
  2005: 'Invalid Credit Card Number',
  2006: 'Invalid Expiration Date',
  2007: 'No Account',
  2008: 'Card Account Length Error',
  2009: 'No Such Issuer',
  2010: 'Card Issuer Declined CVV',
  2011: 'Voice Authorization Required',
  2012: 'Processor Declined - Possible Lost Card',
  2013: 'Processor Declined - Possible Stolen Card',
  2014: 'Processor Declined - Fraud Suspected',
  2015: 'Transaction Not Allowed',
  2016: 'Duplicate Transaction',
  2017: 'Cardholder Stopped Billing',
  2018: 'Cardholder Stopped All Billing',
  2019: 'Invalid Transaction',
  2024: 'Card Type Not Enabled',
  2038: 'Processor Declined',
  2044: 'Declined - Call Issuer',
  2046: 'Declined',
  2047: 'Call Issuer. Pick Up Card',
  2053: 'Card reported as lost or stolen',
  2057: 'Issuer or Cardholder has put a restriction on the card',
  2059: 'Address Verification Failed',
  2060: 'Address Verification and Card Security Code Failed',
  2099: 'Cardholder Authentication Required',
  3000: 'Processor Network Unavailable - Try Again',
}

/** The decline with this code; one that is not listed here keeps its number. */
export function declineOf(code: number): Decline {
  return { code, text: declines[code] ?? 'Processor Declined' }
}
