import { ofExtensions } from '../../extensions.js'
import type { Clock } from '../../kernel/dates.js'
import { isDemoPublisher } from '../../kernel/demo-publisher.js'
import { ServiceError, toServiceError } from '../../kernel/errors.js'
import { type Gateway, isSandbox, withTimeout } from '../../money/gateways/gateway.js'
import { createSandboxGateway } from '../../money/gateways/sandbox/sandbox-gateway.js'
import { createSandboxTime } from '../../money/gateways/sandbox/sandbox-settings.js'
import { type Payments, usualLimits } from '../../money/payments.js'
import { createDonationBooks } from '../../money/sql/donation-books.js'
import type { Config } from '../../platform/config/config.js'
import { findFact } from '../../platform/database/facts.js'
import { donorFields, openDonorVault } from './donor-vault.js'
import { publisherFields, publisherRefusal } from './publisher.js'
import type { Runtime } from './runtime.js'

/** The fields of the configuration that payments use. */
export const paymentFields = ['payments', 'mail', 'baseUrl', ...publisherFields, ...donorFields] as const

/** Payments as this runtime is configured. */
export async function openPayments(
  runtime: Runtime,
  { makesDonorKey = true }: { readonly makesDonorKey?: boolean } = {},
): Promise<Payments> {
  const { config, log, store } = runtime
  const { timeoutSeconds, feePercent } = config.payments
  const donors = await openDonorVault(runtime, { makesKey: makesDonorKey })
  const rehearsal =
    config.payments.gateway === 'sandbox' && isDemoPublisher(config.reportingOrg.ref)
      ? createSandboxTime(store, runtime.clock)
      : undefined
  // The API starts without this answer, which needs the database; each donation asks again.
  await rehearsal
    ?.refresh()
    .catch((err: unknown) => log.debug({ err }, 'how the time of the rehearsal was moved is not known yet'))
  const clock = rehearsal?.clock ?? runtime.clock
  const gateway = await openGateway({ ...runtime, clock })
  const limits = limitsOf(config.payments.limits, rehearsal !== undefined)
  const differs = remembered(runtime.clock, () => publisherRefusal(runtime))
  return {
    store,
    clock,
    books: createDonationBooks(store.db),
    donors,
    gateway,
    timeoutMs: timeoutSeconds * 1000,
    feePercent,
    currency: config.currency,
    limits: {
      ...Object.fromEntries(Object.entries(limits).filter(([code]) => gateway.takes?.(code))),
      [config.currency]: limits[config.currency] ?? usualLimits,
    },
    mailsReceipts: config.mail !== undefined,
    ...(rehearsal && { rehearsal }),
    closedBecause: async () => {
      await rehearsal?.refresh(movedWithinMs)
      const reasons = [await differs(), sandboxRefusal(gateway, config), donors.refusal]
      return reasons.filter((reason) => reason !== undefined).join('; ') || undefined
    },
    warn: (details, message) => log.warn(details, message),
  }
}

// How soon a process follows the time of a rehearsal that another one has moved.
const movedWithinMs = 250

/** Which currencies are wanted; a rehearsal without limits tries them all. */
function limitsOf(limits: Payments['limits'], rehearses: boolean): Payments['limits'] {
  if (!rehearses || Object.keys(limits).length > 0) return limits
  return Object.fromEntries(Intl.supportedValuesOf('currency').map((code) => [code, usualLimits]))
}

// How soon a confirmed change of the publisher opens donations.
const rememberedMs = 5_000

/** Asks once and gives the same answer for a while, so that not every donation asks. */
function remembered<T>(clock: Clock, ask: () => Promise<T>): () => Promise<T> {
  let known: { readonly answer: T; readonly until: number } | undefined
  return async () => {
    const now = clock().getTime()
    if (known === undefined || now >= known.until) known = { answer: await ask(), until: now + rememberedMs }
    return known.answer
  }
}

/** Only the chosen processor's library is loaded, since they are large. */
async function openGateway({ config, clock, store }: Runtime): Promise<Gateway> {
  const { gateway } = config.payments
  if (gateway !== 'sandbox') {
    const processor = ofExtensions('processor').find(({ name }) => name === gateway)
    if (processor) return await processor.open(config)
    throw new ServiceError('configuration-invalid', `PAYMENT_GATEWAY=${gateway}: this service is without it`)
  }
  const baseUrl = async () => config.baseUrl ?? (await findFact(store.db, 'base-url')) ?? ''
  return createSandboxGateway({ store, clock, currency: config.currency, baseUrl })
}

/** Says in the log which account of a processor is charged, or that the processor does not take its settings. */
export function logAccount({ gateway, timeoutMs }: Payments, { config, log }: Runtime): void {
  if (config.payments.gateway === 'sandbox') return
  withTimeout(timeoutMs, (signal) => gateway.describeAccount(signal)).then(
    (account) => log.info({ gateway: gateway.name, account }, 'donations are charged by a processor'),
    (error: unknown) => {
      const details = { gateway: gateway.name, error: toServiceError(error).message }
      log.error(details, 'the account at the payment processor could not be checked: donations may fail')
    },
  )
}

/** Why this gateway takes no donations; undefined: it does. */
function sandboxRefusal(gateway: Gateway, { reportingOrg }: Config): string | undefined {
  if (!isSandbox(gateway) || isDemoPublisher(reportingOrg.ref)) return undefined
  return 'PAYMENT_GATEWAY is a sandbox, which moves no money, and REPORTING_ORG_REF is a real publisher'
}
