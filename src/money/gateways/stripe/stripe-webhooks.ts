import Stripe from 'stripe'
import { z } from 'zod'
import { ServiceError } from '../../../kernel/errors.js'
import type { WebhookEvent, Webhooks } from '../gateway.js'
import { webhookText } from '../webhook-text.js'

const toleranceSeconds = 300

/** Kinds of events after which a charge may be another than before. */
export const followedKinds = [
  ...(['payment_intent.succeeded', 'payment_intent.processing', 'payment_intent.payment_failed'] as const),
  ...(['payment_intent.canceled', 'charge.succeeded', 'charge.failed', 'charge.expired', 'charge.updated'] as const),
  ...(['charge.refunded', 'charge.refund.updated', 'refund.created', 'refund.updated', 'refund.failed'] as const),
  ...(['charge.dispute.created', 'charge.dispute.updated', 'charge.dispute.closed'] as const),
  ...(['charge.dispute.funds_withdrawn', 'charge.dispute.funds_reinstated'] as const),
  ...(['payment_method.detached', 'customer.deleted'] as const),
] satisfies Stripe.WebhookEndpointCreateParams.EnabledEvent[]
const followed: ReadonlySet<string> = new Set(followedKinds)

/** Events of Stripe, which signs each delivery anew with its time. */
export function stripeWebhooks(secret: string): Webhooks {
  return {
    name: 'stripe',
    mediaType: 'application/json',
    read: async ({ body, header }, now) => {
      const signature = header('stripe-signature')
      if (signature === undefined) throw refused('it has no Stripe-Signature')
      refuseTime(signature, now)
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

/** The library refuses times that are long past, and no others. */
function refuseTime(signature: string, now: Date): void {
  const times = signature.split(',').filter((part) => part.trim().startsWith('t='))
  const seconds = Number(/^t=(\d{1,12})$/.exec(times[0]?.trim() ?? '')?.[1])
  if (times.length !== 1 || Number.isNaN(seconds)) throw refused('its signature has no time')
  if (seconds - now.getTime() / 1000 > toleranceSeconds) throw refused('it was signed in the future')
}

/** The reason is ours: the library's errors repeat the body. */
function refused(reason: string): ServiceError {
  return new ServiceError('webhook-refused', `the webhook is refused: ${reason}`)
}

const subjectShape = z.object({
  id: webhookText.optional(),
  object: webhookText.optional(),
  payment_intent: z.union([webhookText, z.object({ id: webhookText })]).nullish(),
  metadata: z.object({ reference: webhookText.optional() }).nullish(),
})

const eventShape = z.object({
  id: webhookText,
  type: webhookText,
  // Up to the year 9999, which the database can store.
  created: z.number().int().min(0).max(253_402_300_799),
  livemode: z.boolean(),
  data: z.object({ object: z.unknown() }).optional(),
})

function toEvent(received: unknown): WebhookEvent {
  const { id, type: kind, created, livemode, data } = shaped(eventShape, received)
  const event = { id, kind, at: new Date(created * 1000), test: !livemode }
  if (!followed.has(kind)) return event
  const subject = shaped(subjectShape, data?.object ?? {})
  if (kind === 'payment_method.detached' || kind === 'customer.deleted') return { ...event, endedMethod: subject.id }
  const { payment_intent: intent } = subject
  const of = subject.object === 'payment_intent' ? subject.id : typeof intent === 'string' ? intent : intent?.id
  return { ...event, chargeId: of, reference: subject.metadata?.reference }
}

function shaped<T extends z.ZodType>(shape: T, received: unknown): z.output<T> {
  const { data, error } = shape.safeParse(received)
  if (!error) return data
  const [issue] = error.issues
  throw new ServiceError(
    'request-malformed',
    `expected an event of Stripe, got another ${issue?.path.join('.') || 'document'}`,
  )
}
