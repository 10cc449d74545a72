import { toServiceError } from '../kernel/errors.js'
import { type Followed, followCharge } from './follow-charge.js'
import { isSandbox, type WebhookEvent } from './gateways/gateway.js'
import type { Payments } from './payments.js'
import { endPlansOfMethod } from './sql/donation-plans.js'
import {
  claimDueCharge,
  closeWebhooks,
  type DueCharge,
  newestWebhook,
  noteWebhook,
  recordWebhook,
} from './sql/webhook-events.js'

/** The outcome of a delivery: `known` when it came before. */
export type Delivered = 'stored' | 'known' | 'ignored'

/**
 * Stores an event durably, without what was written in it; a worker handles it. Ignored are kinds without an effect here,
 * and events of the other mode of the processor: test events touch no real books.
 */
export async function storeWebhook(payments: Payments, event: WebhookEvent): Promise<Delivered> {
  const { store, gateway, clock } = payments
  const { id, kind, at, test, chargeId, reference, endedMethod } = event
  const rightMode = test === isSandbox(gateway)
  if (rightMode && endedMethod !== undefined) return await endPlansOf(payments, event, endedMethod)
  const ignored = rightMode ? (chargeId === undefined ? 'no effect' : undefined) : 'other mode'
  const stored = await recordWebhook(store.db, {
    ...{ gateway: gateway.name, eventId: id, kind, chargeId, reference, at, receivedAt: clock() },
    ...{ state: ignored === undefined ? 'due' : 'ignored', outcome: ignored },
  })
  if (!stored) return 'known'
  return ignored === undefined ? 'stored' : 'ignored'
}

/** Ends the plans that were charged with it at once: the next charge would be declined. */
async function endPlansOf(
  { store, gateway, clock }: Payments,
  { id, kind, at }: WebhookEvent,
  method: string,
): Promise<Delivered> {
  return await store.transaction(async (db) => {
    const ended = { gateway: gateway.name, method, reason: 'the processor has given up the way to pay', at: clock() }
    const plans = await endPlansOfMethod(db, ended)
    const stored = await recordWebhook(db, {
      ...{ gateway: gateway.name, eventId: id, kind, at, receivedAt: clock() },
      // There is no charge to follow.
      ...{ state: 'ignored', outcome: plans > 0 ? `${plans} regular gifts ended` : 'no effect' },
    })
    return stored ? (plans > 0 ? 'stored' : 'ignored') : 'known'
  })
}

/** How many charges were handled; `later` are tried again. */
export type HandledWebhooks = { readonly done: number; readonly later: number; readonly failed: number }

const mostTries = 14
const longestWaitMs = 6 * 3_600_000

/**
 * Follows the charges of events that are due, each once for all of its events. One that gives no clear answer, or of which a
 * payment or refund is under way, is tried again, after a minute at first and six hours at last, 14 times in two days and a
 * half.
 */
export async function handleDueWebhooks(payments: Payments, signal?: AbortSignal): Promise<HandledWebhooks> {
  const { store, gateway, clock } = payments
  const handled = { done: 0, later: 0, failed: 0 }
  while (!signal?.aborted) {
    const due = await claimDueCharge(store.db, { gateway: gateway.name, now: clock(), longestWaitMs })
    if (!due) break
    handled[await handle(payments, due)] += 1
  }
  return handled
}

/** Follows a charge now, also for its events that are due or were given up. */
export async function followAndClose(payments: Payments, chargeId: string): Promise<Followed> {
  const { store, gateway } = payments
  const charge = { gateway: gateway.name, chargeId }
  const upTo = await newestWebhook(store.db, charge)
  const outcome = await followCharge(payments, chargeId)
  if (outcome !== 'waits') await closeWebhooks(store.db, { ...charge, upTo }, { state: 'done', outcome })
  return outcome
}

async function handle(payments: Payments, { chargeId, upTo, tries }: DueCharge): Promise<keyof HandledWebhooks> {
  const { store, gateway, warn } = payments
  const events = { gateway: gateway.name, chargeId, upTo }
  let outcome: string
  try {
    outcome = await followCharge(payments, chargeId)
    if (outcome !== 'waits') {
      await closeWebhooks(store.db, events, { state: 'done', outcome })
      return 'done'
    }
  } catch (error) {
    const { code, message } = toServiceError(error)
    // The next round tries again; the event itself may be fine.
    if (code === 'database-unavailable') throw error
    outcome = message
  }
  if (tries < mostTries) {
    await noteWebhook(store.db, events, outcome)
    return 'later'
  }
  await closeWebhooks(store.db, events, { state: 'failed', outcome })
  warn({ chargeId, outcome }, 'webhooks of a charge could not be handled and will not be tried again')
  return 'failed'
}
