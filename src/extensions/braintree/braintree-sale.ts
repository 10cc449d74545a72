import { isIP } from 'node:net'
import type braintree from 'braintree'
import type { Charge } from '../../money/gateways/gateway.js'
import { toOrderId } from './braintree-order-id.js'

/** As the library's types have it, and what they lack. */
type Sale = braintree.TransactionRequest & { readonly threeDSecureAuthenticationId?: string }

/** The request of a sale. Fields for Braintree's own checks are left out where it would refuse the whole request for them. */
export function toBraintreeSale(
  charge: Charge,
  {
    merchantAccount: merchantAccountId,
    needsThreeDSecure,
  }: { readonly merchantAccount: string; readonly needsThreeDSecure?: boolean | undefined },
): Sale {
  const { reference, notes, amount, currency, method, deviceData, threeDSecureAuthenticationId, payer, keeps } = charge
  // The bank does not ask the donor about a charge without the donor.
  const secure = needsThreeDSecure && method.kind !== 'kept'
  const fitting = (name: string, pattern: RegExp) => (pattern.test(payer[name] ?? '') ? payer[name] : undefined)
  const [firstName, lastName] = [fitting('firstname', /^.{1,255}$/), fitting('lastname', /^.{1,255}$/)]
  const address = {
    ...{ firstName, lastName },
    streetAddress: fitting('address', /^.{1,255}$/),
    extendedAddress: fitting('address2', /^.{1,255}$/),
    locality: fitting('city', /^.{1,255}$/),
    region: fitting('state', /^.{1,255}$/),
    postalCode: fitting('zip', /^[A-Za-z0-9 -]{1,9}$/),
    countryCodeAlpha2: fitting('iso3166CountryCode', /^[A-Z]{2}$/),
  }
  const { ipAddress, userAgent } = payer
  return {
    amount,
    orderId: toOrderId(reference, notes, currency),
    merchantAccountId,
    options: {
      submitForSettlement: true,
      ...(keeps && { storeInVaultOnSuccess: true }),
      ...(secure && { threeDSecure: { required: true } }),
    },
    ...(method.kind === 'kept'
      ? { transactionSource: 'recurring' }
      : keeps && { transactionSource: 'recurring_first' }),
    ...(method.kind === 'nonce' ? { paymentMethodNonce: method.nonce } : { paymentMethodToken: method.token }),
    ...(deviceData !== undefined && { deviceData }),
    ...(threeDSecureAuthenticationId !== undefined && { threeDSecureAuthenticationId }),
    customer: { firstName, lastName, email: fitting('email', /^[^\s@]+@[^\s@]+\.[^\s@]+$/) },
    billing: address,
    riskData: {
      ...(ipAddress !== undefined && isIP(ipAddress) !== 0 && { customerIp: ipAddress }),
      ...(userAgent !== undefined && { customerBrowser: userAgent.slice(0, 255) }),
    },
  }
}
