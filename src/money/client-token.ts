import { ServiceError } from '../kernel/errors.js'
import { withTimeout } from './gateways/gateway.js'
import { ensureOpen, type Payments } from './payments.js'

/**
 * What a page needs to make a nonce, and the `paymentGateway` of the request that the nonce is for. Throws
 * `donations-closed` or `payment-unavailable`.
 */
export async function clientToken(payments: Payments) {
  await ensureOpen(payments)
  const { gateway, timeoutMs } = payments
  try {
    const token = await withTimeout(timeoutMs, (signal) => gateway.clientToken(signal))
    return { gateway: gateway.wireNames[0] ?? gateway.name, token }
  } catch (cause) {
    throw new ServiceError('payment-unavailable', 'the payment gateway gives no token at the moment', { cause })
  }
}
