import type { Extension } from '../../cli/extension.js'

/** Donations that Stripe charges. */
export const stripe = {
  name: 'stripe',
  processor: {
    name: 'stripe',
    open: async ({ payments, currency, secrets }) => {
      const { createStripeGateway } = await import('./stripe-gateway.js')
      const { stripe: { publishableKey = '' } = {}, address, timeoutSeconds } = payments
      const { stripeSecretKey: secretKey = '', webhookSecret } = secrets
      return createStripeGateway({
        ...{ publishableKey, secretKey, webhookSecret },
        ...{ address, currency, timeoutMs: timeoutSeconds * 1000 },
      })
    },
  },
} as const satisfies Extension
