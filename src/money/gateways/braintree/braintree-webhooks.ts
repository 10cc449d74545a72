import { hash } from 'node:crypto'
import { ServiceError } from '../../../kernel/errors.js'
import type { WebhookEvent, Webhooks } from '../gateway.js'

/** What is read of a notification; the types of the library lack some of it. */
type Notification = {
  readonly kind: string
  readonly timestamp: Date | string
  readonly transaction?: Subject & { readonly refundedTransactionId?: string }
  readonly dispute?: { readonly id: string; readonly transaction?: Subject }
}
type Subject = { readonly id: string; readonly orderId?: string | null }

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
    read: async ({ body }, now) => {
      const form = new URLSearchParams(body.toString('latin1'))
      const [signature, payload] = [form.get('bt_signature'), form.get('bt_payload')]
      if (!signature || !payload) throw refused('it has no bt_signature or no bt_payload')
      const { kind, timestamp, transaction, dispute } = await parse(notifications, signature, payload)
      const at = new Date(timestamp)
      if (typeof kind !== 'string' || Number.isNaN(at.getTime())) throw unreadable()
      if (now.getTime() - at.getTime() > longestAgeMs) throw refused('it is more than two days old')
      if (at.getTime() - now.getTime() > clocksDifferMs) throw refused('its time is in the future')
      const subject = dispute?.id ?? transaction?.id ?? ''
      const id = hash('sha256', JSON.stringify([kind, at, subject])).slice(0, 40)
      return { id, kind, at, test, ...chargeOf(kind, transaction, dispute) }
    },
  }
}

function chargeOf(
  kind: string,
  transaction: Notification['transaction'],
  dispute: Notification['dispute'],
): Pick<WebhookEvent, 'chargeId' | 'reference'> {
  if (kind === 'refund_failed') return { chargeId: transaction?.refundedTransactionId }
  if (!/^(transaction_settled|transaction_settlement_declined|dispute_\w+)$/.test(kind)) return {}
  const charge = dispute?.transaction ?? transaction
  return { chargeId: charge?.id, reference: charge?.orderId || undefined }
}

async function parse(notifications: Notifications, signature: string, payload: string): Promise<Notification> {
  try {
    return (await notifications.parse(signature, payload)) as Notification
  } catch (cause) {
    if ((cause as { type?: string }).type === 'invalidSignatureError') {
      throw refused('the signature is not that of its payload')
    }
    throw unreadable()
  }
}

function refused(reason: string): ServiceError {
  return new ServiceError('webhook-refused', `the webhook is refused: ${reason}`)
}

function unreadable(): ServiceError {
  return new ServiceError('request-malformed', 'expected a notification of Braintree as XML')
}
