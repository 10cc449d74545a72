import Stripe from 'stripe'
import { ServiceError } from '../../../kernel/errors.js'
import type { WebhookEvent, Webhooks } from '../gateway.js'

const toleranceSeconds = 300

/** Kinds of events after which a charge may be another than before. */
const followed: ReadonlySet<string> = new Set([
  ...['payment_intent.succeeded', 'payment_intent.payment_failed', 'payment_intent.canceled'],
  ...[
    'charge.succeeded',
    'charge.failed',
    'charge.expired',
    'charge.updated',
    'charge.refunded',
    'charge.refund.updated',
  ],
  ...['refund.created', 'refund.updated', 'refund.failed'],
  ...['charge.dispute.created', 'charge.dispute.updated', 'charge.dispute.closed'],
  ...['charge.dispute.funds_withdrawn', 'charge.dispute.funds_reinstated'],
])

/** Events of Stripe, which signs each delivery anew with its time. */
export function stripeWebhooks(secret: string): Webhooks {
  return {
    name: 'stripe',
    mediaType: 'application/json',
    read: async ({ body, header }, now) => {
      const signature = header('stripe-signature')
      if (signature === undefined) throw refused('it has no Stripe-Signature')
      return toEvent(verified(body, signature, secret, now))
    },
  }
}

function verified(body: Buffer, signature: string, secret: string, now: Date): Stripe.Event {
  try {
    return Stripe.webhooks.constructEvent(body, signature, secret, toleranceSeconds, undefined, now.getTime())
  } catch (cause) {
    if (!(cause instanceof Stripe.errors.StripeSignatureVerificationError)) {
      throw new ServiceError('request-malformed', 'expected an event of Stripe as JSON')
    }
    const old = /tolerance/.test(cause.message)
    throw refused(
      old ? `it was signed more than ${toleranceSeconds} seconds ago` : 'the signature is not that of its body',
    )
  }
}

/** The reason is ours: the library's errors repeat the body. */
function refused(reason: string): ServiceError {
  return new ServiceError('webhook-refused', `the webhook is refused: ${reason}`)
}

type Subject = {
  readonly id?: string
  readonly object?: string
  readonly payment_intent?: string | { readonly id: string } | null
  readonly metadata?: Readonly<Record<string, string>> | null
}

function toEvent({ id, type: kind, created, livemode, data }: Stripe.Event): WebhookEvent {
  const subject = (data?.object ?? {}) as Subject
  if (typeof id !== 'string' || typeof kind !== 'string' || typeof created !== 'number') {
    throw new ServiceError('request-malformed', 'expected an event of Stripe with id, type and created')
  }
  const event = { id, kind, at: new Date(created * 1000), test: !livemode }
  if (!followed.has(kind)) return event
  const { payment_intent: intent } = subject
  const of = subject.object === 'payment_intent' ? subject.id : typeof intent === 'string' ? intent : intent?.id
  return { ...event, chargeId: of, reference: subject.metadata?.reference }
}
