import { createBraintreeGateway } from '../../../src/extensions/braintree/braintree-gateway.js'
import { createStripeGateway } from '../../../src/extensions/stripe/stripe-gateway.js'
import type { Decimal } from '../../../src/kernel/money.js'
import type { Gateway } from '../../../src/money/gateways/gateway.js'
import type { ProcessorAddress } from '../../../src/money/gateways/processor-calls.js'
import { type GiftLimits, usualLimits } from '../../../src/money/payments.js'
import { braintreeKeys, startBraintree } from '../servers/braintree-server.js'
import type { ProcessorServer } from '../servers/processor-server.js'
import { startStripe, stripeKeys } from '../servers/stripe-server.js'

/** How long one call may take. */
export const timeoutMs = 2_000
const least = (amount: string): GiftLimits => ({ least: amount as Decimal })
/** The currencies that are taken. */
export const limits = { USD: usualLimits, EUR: least('4.50'), JPY: least('500'), KWD: least('1') }

export type ProcessorWithSdk = 'stripe' | 'braintree'

/** The gateway over the processor's own library, to a stand-in; it takes all `limits`. What is asked for is Braintree's. */
export function gatewayAt(name: ProcessorWithSdk, address: ProcessorAddress, needsThreeDSecure = false): Gateway {
  if (name === 'stripe') return createStripeGateway({ ...stripeKeys, timeoutMs, address })
  const otherAccounts = { EUR: 'giving_eur', JPY: 'giving_jpy', KWD: 'giving_kwd' }
  const settings = { environment: 'sandbox', ...braintreeKeys, otherAccounts, currency: 'USD', timeoutMs } as const
  return createBraintreeGateway({ ...settings, needsThreeDSecure, address })
}

/** Stand-ins of both processors, which settle other currencies in dollars, with their gateways. */
export const processors: Readonly<Record<ProcessorWithSdk, () => Promise<readonly [ProcessorServer, Gateway]>>> = {
  stripe: async () => {
    const processor = await startStripe()
    processor.ledger.rates.set('EUR', 1.1).set('JPY', 0.65).set('KWD', 0.3)
    return [processor, gatewayAt('stripe', processor.address)]
  },
  braintree: async () => {
    const processor = await startBraintree()
    // Its stand-in counts all currencies in hundredths.
    processor.ledger.rates.set('EUR', 1.1).set('JPY', 0.0065).set('KWD', 3)
    return [processor, gatewayAt('braintree', processor.address)]
  },
}
