import type { Payments } from '../../payments/payments.js'
import { createSandboxGateway } from '../../payments/sandbox-gateway.js'
import { createDonationBooks } from '../../store/donations/donation-books.js'
import type { Runtime } from './runtime.js'

/** The fields of the configuration that payments use. */
export const paymentFields = ['payments', 'currency'] as const

/** Payments as this runtime is configured. */
export function openPayments({ config, clock, log, store }: Runtime<(typeof paymentFields)[number]>): Payments {
  const { timeoutSeconds, feePercent } = config.payments
  return {
    store,
    clock,
    books: createDonationBooks(store.db),
    gateway: createSandboxGateway({ store, clock }),
    timeoutMs: timeoutSeconds * 1000,
    feePercent,
    currency: config.currency,
    warn: (details, message) => log.warn(details, message),
  }
}
