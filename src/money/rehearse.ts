import { addDays, isoDateOf } from '../kernel/dates.js'
import { ServiceError, toServiceError } from '../kernel/errors.js'
import { followCharge } from './follow-charge.js'
import { changeSandboxSettings } from './gateways/sandbox/sandbox-settings.js'
import type { Payments } from './payments.js'
import { chargeDuePlans } from './plans/charge-plans.js'
import { reconcileDays } from './reconcile.js'
import { abandonedMs, notAnswered } from './settlement.js'
import { recordFailed } from './sql/donation-outcomes.js'
import type { ReconciliationDifference } from './sql/reconciliation.js'
import {
  listDueCharges,
  listSandboxSteps,
  listUnanswered,
  nextDueAfter,
  type SandboxStep,
} from './sql/sandbox-charges.js'

/** Throws `request-invalid` where these payments are no rehearsal. */
export function rehearsalOf({ rehearsal }: Payments): NonNullable<Payments['rehearsal']> {
  if (rehearsal) return rehearsal
  throw new ServiceError(
    'request-invalid',
    'expected a rehearsal: PAYMENT_GATEWAY=sandbox, and no real publisher in REPORTING_ORG_REF',
  )
}

/** Follows the charges of open donations that have settled at the sandbox by now, as a processor's webhooks let us do. */
export async function followSettled(payments: Payments): Promise<void> {
  for (const id of await listDueCharges(payments.store.db, payments.clock())) {
    await followCharge(payments, `sandbox-${id}`).catch((error: unknown) => {
      payments.warn({ charge: id, error: toServiceError(error).message }, 'a charge of the sandbox is not followed yet')
    })
  }
}

/** Sets the time of a rehearsal. */
export async function setTime(payments: Payments, to: Date): Promise<void> {
  const rehearsal = rehearsalOf(payments)
  const now = payments.clock().getTime()
  await changeSandboxSettings(payments.store, to, ({ aheadMs }) => ({ aheadMs: aheadMs + to.getTime() - now }))
  await rehearsal.refresh()
}

/** Ends payments that their donors have not answered for a day, as the settlement does by the real time. */
async function endUnanswered({ gateway, store, clock }: Payments): Promise<void> {
  const at = clock()
  const since = new Date(at.getTime() - abandonedMs)
  for (const { id, reference } of await listUnanswered(store.db, since)) {
    await gateway.abandon?.({ reference, since }, AbortSignal.timeout(abandonMs))
    await recordFailed(store.db, id, { reason: notAnswered, at })
  }
}

// The sandbox lies beside the books.
const abandonMs = 10_000

/** What happened while time went by, and what the sandbox and the books differ in at its end. */
export type Advanced = {
  readonly from: Date
  readonly to: Date
  readonly steps: readonly SandboxStep[]
  readonly differences: readonly ReconciliationDifference[]
}

// Nothing happens more often: what goes wrong again and again is tried hourly.
const shortestMs = 3_600_000

/** Lets time go by in a rehearsal: at each instant at which something is due, it is done. Then sandbox and books are compared. */
export async function advanceTime(payments: Payments, ms: number, signal: AbortSignal): Promise<Advanced> {
  const { store, clock } = payments
  const from = clock()
  const to = new Date(from.getTime() + ms)
  for (let now = from; now < to && !signal.aborted; now = clock()) {
    const due = await nextDueAfter(store.db, now, abandonedMs)
    const next = Math.max(due?.getTime() ?? to.getTime(), now.getTime() + shortestMs)
    await setTime(payments, new Date(Math.min(next, to.getTime())))
    await followSettled(payments)
    await endUnanswered(payments)
    while ((await chargeDuePlans(payments, signal)) > 0);
  }
  const days = { from: isoDateOf(from), to: addDays(isoDateOf(clock()), 1) }
  const { differences } = await reconcileDays(payments, days, signal)
  return { from, to: clock(), steps: await listSandboxSteps(store.db, from, clock()), differences }
}
