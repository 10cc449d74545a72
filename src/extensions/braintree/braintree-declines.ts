import { lookupTable } from '../../kernel/lookup-table.js'

/**
 * Numbers of the API for payments that Braintree's gateway rejected, which have a reason in place of a code;
 * `docs/reference/payments.md` lists the same ones (a test compares).
 */
export const rejectionCodes = lookupTable<number>({
  application_incomplete: 2015,
  avs: 2059,
  avs_and_cvv: 2060,
  cvv: 2010,
  excessive_retry: 2019,
  fraud: 2014,
  risk_threshold: 2014,
  three_d_secure: 2099,
  token_issuance: 2038,
})

/**
 * Numbers of the API for nonces and saved tokens that Braintree does not take, by its validation code;
 * `docs/reference/payments.md` lists the same ones (a test compares).
 */
export const methodCodes = lookupTable<number>({
  91517: 2024,
  91518: 2007,
  91564: 2019,
  91565: 2007,
  91566: 2019,
  91567: 2024,
  91569: 2019,
})
