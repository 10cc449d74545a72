import type { Extension } from '../../cli/extension.js'
import { ServiceError } from '../../kernel/errors.js'

/** Donations that Braintree charges. */
export const braintree = {
  name: 'braintree',
  processor: {
    name: 'braintree',
    open: async ({ payments, currency, secrets }) => {
      const { createBraintreeGateway } = await import('./braintree-gateway.js')
      const { braintree: settings, address, timeoutSeconds } = payments
      if (!settings) throw new ServiceError('internal', 'Braintree is not the gateway that is configured')
      const privateKey = secrets.braintreePrivateKey ?? ''
      return createBraintreeGateway({ ...settings, address, currency, privateKey, timeoutMs: timeoutSeconds * 1000 })
    },
  },
} as const satisfies Extension
