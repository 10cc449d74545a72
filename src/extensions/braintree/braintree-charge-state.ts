import type braintree from 'braintree'
import { type Decimal, parseDecimal } from '../../kernel/money.js'
import type {
  ChargeProgress,
  ChargeState,
  Dispute,
  DisputeStatus,
  ProcessorRefund,
  SettledMoney,
} from '../../money/gateways/gateway.js'
import { UnclearAnswer } from '../../money/gateways/processor-calls.js'
import { notesIn, referenceIn } from './braintree-order-id.js'

/** What is read of a transaction; the types of the library lack some of it. */
export type Transaction = Pick<
  braintree.Transaction,
  'id' | 'amount' | 'status' | 'orderId' | 'currencyIsoCode' | 'createdAt'
> & {
  readonly type: string
  readonly processorResponseCode?: string
  readonly processorSettlementResponseCode?: string
  readonly gatewayRejectionReason?: string | null
  readonly creditCard?: { readonly token?: string | null } | null
  readonly paypalAccount?: { readonly token?: string | null } | null
  readonly threeDSecureInfo?: { readonly liabilityShifted?: boolean } | null
  readonly disbursementDetails?: {
    readonly settlementAmount?: string | null
    readonly settlementCurrencyIsoCode?: string | null
  } | null
  readonly refundIds?: readonly string[]
  readonly refundedTransactionId?: string | null
  readonly disputes?: readonly {
    readonly id: string
    readonly kind?: string
    readonly status: string
    readonly amount?: string
    readonly amountDisputed?: string
  }[]
}

/** States in which no money is held, and none will be. */
export const returned: ReadonlySet<string> = new Set(['voided', 'authorization_expired'])
export const declined: ReadonlySet<string> = new Set([
  'processor_declined',
  'gateway_rejected',
  'failed',
  'settlement_declined',
])
export const approved: ReadonlySet<string> = new Set([
  ...['submitted_for_settlement', 'settlement_confirmed', 'settling', 'settled'],
])
/** Of a bank account, and now and then of others: whether money comes is known in days. */
export const undecided = 'settlement_pending'

/** A sale, also by the id of one of its refunds, with its refunds and disputes; undefined: there is none with this id. */
export async function readBraintreeCharge(
  find: (id: string) => Promise<Transaction | undefined>,
  id: string,
): Promise<ChargeState | undefined> {
  const found = await find(id)
  const sale = found?.refundedTransactionId ? await find(found.refundedTransactionId) : found
  if (sale?.type !== 'sale') return undefined
  const refunds: ProcessorRefund[] = []
  for (const id of sale.refundIds ?? []) {
    const refund = await find(id)
    if (!refund || returned.has(refund.status) || declined.has(refund.status)) continue
    refunds.push({ id, reference: refund.orderId || undefined, amount: transactionAmount(refund) })
  }
  return {
    chargeId: sale.id,
    reference: referenceIn(sale.orderId),
    notes: notesIn(sale.orderId, sale.currencyIsoCode),
    at: new Date(sale.createdAt),
    amount: transactionAmount(sale),
    currency: sale.currencyIsoCode,
    settled: paidOutFor(sale),
    progress: progressOf(sale.status),
    refunds,
    disputes: disputesOf(sale),
  }
}

function progressOf(status: string): ChargeProgress {
  if (status === 'settled' || status === 'voided') return status
  return declined.has(status) || returned.has(status) ? 'failed' : 'pending'
}

/** A retrieval asks for documents only: no money moves. */
function disputesOf({ disputes = [] }: Transaction): Dispute[] {
  return disputes.flatMap(({ id, kind, status, amount, amountDisputed }) =>
    kind === 'retrieval' ? [] : [{ id, amount: decimal(amountDisputed ?? amount), status: disputeStatus(status) }],
  )
}

const lost: ReadonlySet<string> = new Set(['lost', 'accepted', 'auto_accepted', 'expired'])

function disputeStatus(status: string): DisputeStatus {
  if (lost.has(status)) return 'lost'
  return status === 'won' ? 'won' : 'open'
}

export function transactionAmount({ amount }: Transaction): Decimal {
  return decimal(amount)
}

/** What Braintree has paid out for a sale; undefined: nothing yet. */
export function paidOutFor({ disbursementDetails: details }: Transaction): SettledMoney | undefined {
  const { settlementAmount, settlementCurrencyIsoCode: currency } = details ?? {}
  return settlementAmount && currency ? { amount: decimal(settlementAmount), currency } : undefined
}

function decimal(text: string | undefined): Decimal {
  const read = text === undefined ? undefined : parseDecimal(text)
  if (read === undefined) throw new UnclearAnswer('Braintree sent a transaction or a dispute without an amount')
  return read
}
