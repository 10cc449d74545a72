import { hash } from 'node:crypto'
import type braintree from 'braintree'
import { ServiceError } from '../../kernel/errors.js'
import {
  type MemberType,
  objectType,
  ofOthers,
  optional,
  orNull,
  readObject,
  type TypeOf,
} from '../../kernel/read-object.js'
import type { WebhookEvent, Webhooks } from '../../money/gateways/gateway.js'
import { webhookText } from '../../money/gateways/webhook-text.js'
import { referenceIn } from './braintree-order-id.js'

const subjectShape = objectType({
  id: webhookText,
  orderId: orNull({ ...webhookText, read: (value, place) => (value === '' ? value : webhookText.read(value, place)) }),
  refundedTransactionId: orNull(webhookText),
})

/** The library gives an instant, or the text that it could not read as one. */
const time: MemberType<Date> = {
  expected: 'an instant',
  read: (value) => {
    const at = new Date(value as string | Date)
    return Number.isNaN(at.getTime()) ? undefined : at
  },
}

/** What is read of a notification; the types of the library lack some of it. */
const notificationShape = objectType({
  kind: webhookText,
  timestamp: time,
  transaction: optional(subjectShape),
  revokedPaymentMethodMetadata: optional(objectType({ token: webhookText })),
  dispute: optional(objectType({ id: webhookText, transaction: optional(subjectShape) })),
})
type Notification = TypeOf<typeof notificationShape>

/** Kinds of notifications after which a charge, or a way to pay, may be another than before. */
const followedKinds = [
  ...(['transaction_settled', 'transaction_settlement_declined', 'transaction_disbursed', 'refund_failed'] as const),
  ...(['dispute_opened', 'dispute_under_review', 'dispute_disputed', 'dispute_won', 'dispute_lost'] as const),
  ...(['dispute_accepted', 'dispute_auto_accepted', 'dispute_expired'] as const),
  'payment_method_revoked_by_customer',
  // The types of the library lack this kind.
] as const satisfies (braintree.WebhookNotificationKind | 'refund_failed')[]

const followed: ReadonlySet<string> = new Set(followedKinds)

/** The part of the library that reads notifications. */
export type Notifications = { parse(signature: string, payload: string): Promise<unknown> }

// Braintree repeats a delivery that was not answered for a day.
const longestAgeMs = 2 * 86_400_000
const clocksDifferMs = 300_000

/** Notifications of Braintree, signed with the keys of its API. They have no id, so theirs is made of what they say. */
export function braintreeWebhooks(notifications: Notifications, test: boolean): Webhooks {
  return {
    name: 'braintree',
    mediaType: 'application/x-www-form-urlencoded',
    unseenKinds: followedKinds,
    read: async ({ body }, now) => {
      const form = new URLSearchParams(body.toString('latin1'))
      const [signature, payload] = [form.get('bt_signature'), form.get('bt_payload')]
      if (!signature || !payload) throw refused('it has no bt_signature or no bt_payload')
      const notification = await parse(notifications, signature, payload)
      const { kind, timestamp: at, transaction, dispute, revokedPaymentMethodMetadata: revoked } = notification
      if (now.getTime() - at.getTime() > longestAgeMs) throw refused('it is more than two days old')
      if (at.getTime() - now.getTime() > clocksDifferMs) throw refused('its time is in the future')
      const subject = dispute?.id ?? transaction?.id ?? revoked?.token ?? ''
      const id = hash('sha256', JSON.stringify([kind, at, subject])).slice(0, 40)
      return { id, kind, at, test, endedMethod: revoked?.token, ...chargeOf(kind, transaction, dispute) }
    },
  }
}

function chargeOf(
  kind: string,
  transaction: Notification['transaction'],
  dispute: Notification['dispute'],
): Pick<WebhookEvent, 'chargeId' | 'reference'> {
  // Where the charge is not named, the refund leads to it.
  if (kind === 'refund_failed') return { chargeId: transaction?.refundedTransactionId ?? transaction?.id }
  if (!followed.has(kind)) return {}
  const charge = dispute?.transaction ?? transaction
  return { chargeId: charge?.id, reference: referenceIn(charge?.orderId) }
}

async function parse(notifications: Notifications, signature: string, payload: string): Promise<Notification> {
  let parsed: unknown
  try {
    parsed = await notifications.parse(signature, payload)
  } catch (cause) {
    if ((cause as { type?: string }).type === 'invalidSignatureError') {
      throw refused('the signature is not that of its payload')
    }
    throw unreadable()
  }
  const { value } = readObject(notificationShape, parsed, ofOthers)
  if (!value) throw unreadable()
  return value
}

function refused(reason: string): ServiceError {
  return new ServiceError('webhook-refused', `the webhook is refused: ${reason}`)
}

function unreadable(): ServiceError {
  return new ServiceError('request-malformed', 'expected a notification of Braintree as XML')
}
