import type { Payments } from '../payments/payments.js'
import { createSandboxGateway } from '../payments/sandbox-gateway.js'
import { createDonationBooks } from '../store/donations/donation-books.js'
import type { Runtime } from './runtime.js'

/** Payments as this runtime is configured. */
export function openPayments({
  config,
  store,
  clock,
  log,
}: Pick<Runtime, 'config' | 'store' | 'clock' | 'log'>): Payments {
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
