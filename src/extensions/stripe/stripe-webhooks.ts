import Stripe from 'stripe'
import { ServiceError } from '../../kernel/errors.js'
import {
  anyType,
  booleanType,
  type MemberType,
  objectType,
  ofOthers,
  optional,
  orNull,
  readObject,
  wholeType,
} from '../../kernel/read-object.js'
import type { WebhookEvent, Webhooks } from '../../money/gateways/gateway.js'
import { webhookText } from '../../money/gateways/webhook-text.js'

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

const identified = objectType({ id: webhookText })

/** The id of an object of Stripe, which stands in its place or in it. */
const idOfObject: MemberType<string> = {
  ...webhookText,
  read: (value, place) =>
    typeof value === 'object' ? identified.read(value, place)?.id : webhookText.read(value, place),
}

const subjectShape = objectType({
  id: optional(webhookText),
  object: optional(webhookText),
  payment_intent: orNull(idOfObject),
  metadata: orNull(objectType({ reference: optional(webhookText) })),
})

const eventShape = objectType({
  id: webhookText,
  type: webhookText,
  // Up to the year 9999, which the database can store.
  created: wholeType(0, 253_402_300_799),
  livemode: booleanType,
  data: optional(objectType({ object: optional(anyType) })),
})

function toEvent(received: unknown): WebhookEvent {
  const { id, type: kind, created, livemode, data } = shaped(eventShape, received)
  const event = { id, kind, at: new Date(created * 1000), test: !livemode }
  if (!followed.has(kind)) return event
  const subject = shaped(subjectShape, data?.object ?? {})
  if (kind === 'payment_method.detached' || kind === 'customer.deleted') return { ...event, endedMethod: subject.id }
  const of = subject.object === 'payment_intent' ? subject.id : subject.payment_intent
  return { ...event, chargeId: of, reference: subject.metadata?.reference }
}

function shaped<T>(shape: MemberType<T>, received: unknown): T {
  const { value, problems } = readObject(shape, received, ofOthers)
  if (!problems) return value
  const place = problems[0].field || 'document'
  throw new ServiceError('request-malformed', `expected an event of Stripe, got another ${place}`)
}
