import type { ConfigOf } from '../../config/config.js'
import { type Gateway, isSandbox } from '../../payments/gateway.js'
import type { Payments } from '../../payments/payments.js'
import { createSandboxGateway } from '../../payments/sandbox-gateway.js'
import { createDonationBooks } from '../../store/donations/donation-books.js'
import { isDemoPublisher } from './publication.js'
import type { Runtime } from './runtime.js'

/** The fields of the configuration that payments use. */
export const paymentFields = ['payments', 'currency', 'reportingOrg'] as const

/** Payments as this runtime is configured. */
export function openPayments({ config, clock, log, store }: Runtime<(typeof paymentFields)[number]>): Payments {
  const { timeoutSeconds, feePercent } = config.payments
  const gateway = createSandboxGateway({ store, clock })
  return {
    store,
    clock,
    books: createDonationBooks(store.db),
    gateway,
    timeoutMs: timeoutSeconds * 1000,
    feePercent,
    currency: config.currency,
    closedBecause: donationsClosedBecause(gateway, config),
    warn: (details, message) => log.warn(details, message),
  }
}

/** Why no donations are taken; undefined: they are. */
function donationsClosedBecause(gateway: Gateway, { reportingOrg }: ConfigOf<'reportingOrg'>) {
  if (!isSandbox(gateway) || isDemoPublisher(reportingOrg.ref)) return undefined
  return 'PAYMENT_GATEWAY is a sandbox, which moves no money, and REPORTING_ORG_REF is a real publisher'
}
