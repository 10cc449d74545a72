import type { ConfigOf } from '../../config/config.js'
import { type Gateway, isSandbox } from '../../payments/gateway.js'
import type { Payments } from '../../payments/payments.js'
import { createSandboxGateway } from '../../payments/sandbox-gateway.js'
import { createDonationBooks } from '../../store/donations/donation-books.js'
import { donorFields, openDonorVault } from './donor-vault.js'
import { isDemoPublisher } from './publication.js'
import type { Runtime } from './runtime.js'

/** The fields of the configuration that payments use. */
export const paymentFields = ['payments', 'currency', ...donorFields] as const

/** Payments as this runtime is configured. */
export async function openPayments(
  runtime: Runtime<(typeof paymentFields)[number]>,
  { makesDonorKey = true }: { readonly makesDonorKey?: boolean } = {},
): Promise<Payments> {
  const { config, clock, log, store } = runtime
  const { timeoutSeconds, feePercent } = config.payments
  const donors = await openDonorVault(runtime, { makesKey: makesDonorKey })
  const gateway = createSandboxGateway({ store, clock })
  return {
    store,
    clock,
    books: createDonationBooks(store.db),
    donors,
    gateway,
    timeoutMs: timeoutSeconds * 1000,
    feePercent,
    currency: config.currency,
    closedBecause: donationsClosedBecause(gateway, config) ?? donors.refusal,
    warn: (details, message) => log.warn(details, message),
  }
}

/** Why no donations are taken; undefined: they are. */
function donationsClosedBecause(gateway: Gateway, { reportingOrg }: ConfigOf<'reportingOrg'>) {
  if (!isSandbox(gateway) || isDemoPublisher(reportingOrg.ref)) return undefined
  return 'PAYMENT_GATEWAY is a sandbox, which moves no money, and REPORTING_ORG_REF is a real publisher'
}
