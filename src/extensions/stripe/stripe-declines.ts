import { lookupTable } from '../../kernel/lookup-table.js'

/**
 * Numbers of the API for payments that Stripe declined, by its decline code, else by its error code; any other is 2038.
 * `docs/reference/payments.md` lists the same ones (a test compares).
 */
export const stripeCodes = lookupTable<number>({
  authentication_required: 2099,
  call_issuer: 2044,
  card_declined: 2046,
  card_not_supported: 2024,
  card_velocity_exceeded: 2002,
  currency_not_supported: 2024,
  do_not_honor: 2000,
  duplicate_transaction: 2016,
  expired_card: 2004,
  fraudulent: 2014,
  generic_decline: 2046,
  incorrect_cvc: 2010,
  incorrect_number: 2005,
  incorrect_zip: 2059,
  insufficient_funds: 2001,
  invalid_account: 2007,
  invalid_amount: 2019,
  invalid_cvc: 2010,
  invalid_expiry_month: 2006,
  invalid_expiry_year: 2006,
  invalid_number: 2005,
  issuer_not_available: 3000,
  lost_card: 2012,
  merchant_blacklist: 2014,
  payment_intent_authentication_failure: 2099,
  pickup_card: 2047,
  processing_error: 3000,
  restricted_card: 2057,
  revocation_of_all_authorizations: 2018,
  revocation_of_authorization: 2017,
  stolen_card: 2013,
  stop_payment_order: 2017,
  transaction_not_allowed: 2015,
  withdrawal_count_limit_exceeded: 2003,
})

/** The number of a nonce or saved token that Stripe does not know, and of one that it does not take any more. */
export const methodUnknown = 2007
export const methodSpent = 2019
