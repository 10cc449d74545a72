import { type CurrencyCode, type Decimal, fromMinorUnits, minorUnitExponent, toMinorUnits } from '../../kernel/money.js'
import { GatewayRefusal } from '../../money/gateways/gateway.js'

// Currencies that Stripe counts in other units than ISO 4217 does.
const stripePlaces: Readonly<Record<string, number>> = { ISK: 2, MGA: 0, UGX: 2 }

/** Stripe's whole number of an amount. Throws `GatewayRefusal` for one that Stripe cannot charge. */
export function toStripeAmount(amount: Decimal, currency: CurrencyCode): number {
  const places = stripePlaces[currency] ?? minorUnitExponent(currency)
  const units = toMinorUnits(amount, places)
  const exact = toMinorUnits(amount, places + 3) === units * 1000n
  if (!exact || (places === 3 && units % 10n !== 0n))
    throw new GatewayRefusal(`Stripe charges no ${amount} ${currency}`)
  return Number(units)
}

/** An amount of Stripe's in decimals. */
export function fromStripeAmount({ amount, currency: code }: { readonly amount: number; readonly currency: string }): {
  readonly amount: Decimal
  readonly currency: CurrencyCode
} {
  const currency = code.toUpperCase() as CurrencyCode
  return { amount: fromMinorUnits(BigInt(amount), stripePlaces[currency] ?? minorUnitExponent(currency)), currency }
}
