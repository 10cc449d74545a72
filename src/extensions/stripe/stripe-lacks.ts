import Stripe from 'stripe'
import { followedKinds } from './stripe-webhooks.js'

type Wanted = {
  /** The platform's. */
  readonly currency: string
  /** Those of gifts. */
  readonly currencies: readonly string[]
  readonly webhookSecret?: string | undefined
}

/** What an account at Stripe lacks for what this service does: rights, currencies, events of webhooks. */
export async function listStripeLacks(stripe: Stripe, wanted: Wanted): Promise<string[]> {
  return [
    ...(await allowed('the account', () => listAccountLacks(stripe, wanted))),
    ...(await allowed('the webhooks', () => listWebhookLacks(stripe, wanted.webhookSecret !== undefined))),
  ]
}

async function listAccountLacks(stripe: Stripe, { currency, currencies }: Wanted): Promise<string[]> {
  const account = await stripe.accounts.retrieveCurrent()
  const settled = account.default_currency?.toUpperCase()
  const untaken = account.country ? await untakenIn(stripe, account.country, currencies) : []
  return [
    ...(account.charges_enabled ? [] : ['the account takes no payments yet (charges_enabled)']),
    ...(account.payouts_enabled ? [] : ['the account pays nothing out yet (payouts_enabled)']),
    ...(account.capabilities?.card_payments === 'active' ? [] : ['the account takes no cards (card_payments)']),
    ...(settled === undefined || settled === currency
      ? []
      : [`the account settles in ${settled}, the platform in ${currency} (default_currency)`]),
    ...(untaken.length > 0 ? [`accounts in ${account.country} take no payments in ${untaken.join(', ')}`] : []),
  ]
}

async function untakenIn(stripe: Stripe, country: string, currencies: readonly string[]): Promise<string[]> {
  const { supported_payment_currencies: taken } = await stripe.countrySpecs.retrieve(country)
  return currencies.filter((currency) => !taken.includes(currency.toLowerCase()))
}

async function listWebhookLacks(stripe: Stripe, hasSecret: boolean): Promise<string[]> {
  const { data } = await stripe.webhookEndpoints.list({ limit: 100 })
  const ours = data.filter(({ url, status }) => /\/api\/public\/payments\/stripe$/.test(url) && status === 'enabled')
  const secret = hasSecret ? [] : ['STRIPE_WEBHOOK_SECRET is not set, so webhooks are not received']
  if (ours.length === 0) return ['no enabled webhook endpoint ends with /api/public/payments/stripe', ...secret]
  const subscribed = new Set(ours.flatMap(({ enabled_events: events }) => events))
  const missing = subscribed.has('*') ? [] : followedKinds.filter((kind) => !subscribed.has(kind))
  return [...(missing.length > 0 ? [`the webhook endpoint lacks ${missing.join(', ')}`] : []), ...secret]
}

/** A restricted key may lack the right to look; that is said, and is no failure of the call. */
async function allowed(what: string, list: () => Promise<string[]>): Promise<string[]> {
  try {
    return await list()
  } catch (error) {
    if (!(error instanceof Stripe.errors.StripePermissionError)) throw error
    return [`the key may not read ${what}, so it could not be checked`]
  }
}
