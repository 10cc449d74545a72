import { parseDecimal } from '../../kernel/money.js'
import type { ProcessorEntry } from '../../money/gateways/gateway.js'
import { UnclearAnswer } from '../../money/gateways/processor-calls.js'
import { referenceIn } from './braintree-order-id.js'

/** What this file reads of a transaction in a list. */
type ListedTransaction = {
  readonly id: string
  readonly type: string
  readonly status: string
  readonly amount: string
  readonly currencyIsoCode: string
  readonly orderId?: string | null
  readonly refundedTransactionId?: string | null
  readonly statusHistory?: readonly { readonly status: string; readonly timestamp: string }[]
}

type Span = { readonly from: Date; readonly until: Date }

// Braintree shows no more than 50,000 transactions of one search, and fifty of them a page.
const mostFound = 10_000
const pageSize = 50

/**
 * Sales and refunds that Braintree settled in this time, and sales with a dispute of its days. `search` asks for the ids of a
 * search, `fetch` for the transactions with these ids.
 */
export async function* listBraintreeEntries(
  { search, fetch }: BraintreeSearches,
  span: Span,
  signal: AbortSignal,
): AsyncGenerator<ProcessorEntry> {
  for await (const ids of pagesOf(search, span, signal)) {
    for (const transaction of (await fetch(ids)) as ListedTransaction[]) {
      // A refund whose money has come back.
      if (transaction.type === 'credit' && transaction.status === 'settlement_declined') continue
      const entry = toEntry(transaction)
      // The search includes its last second.
      if (entry.settledAt >= span.from && entry.settledAt < span.until) yield entry
    }
  }
  const days = { min: span.from.toISOString().slice(0, 10), max: span.until.toISOString().slice(0, 10) }
  for (const chargeId of await search({ disputeDate: days })) yield { kind: 'changed', chargeId }
}

export type BraintreeSearches = {
  readonly search: (criteria: object) => Promise<string[]>
  readonly fetch: (ids: readonly string[]) => Promise<unknown[]>
}

/** Ids of a time, page by page; a time with many transactions is searched in halves. */
async function* pagesOf(
  search: BraintreeSearches['search'],
  { from, until }: Span,
  signal: AbortSignal,
): AsyncGenerator<string[]> {
  signal.throwIfAborted()
  const ids = await search({ settledAt: { min: from.toISOString(), max: until.toISOString() } })
  if (ids.length < mostFound) {
    for (let at = 0; at < ids.length; at += pageSize) {
      signal.throwIfAborted()
      yield ids.slice(at, at + pageSize)
    }
    return
  }
  const middle = new Date(Math.floor((from.getTime() + until.getTime()) / 2000) * 1000)
  if (middle <= from) throw new UnclearAnswer(`Braintree settled more than ${mostFound} transactions in one second`)
  yield* pagesOf(search, { from, until: middle }, signal)
  yield* pagesOf(search, { from: middle, until }, signal)
}

function toEntry(transaction: ListedTransaction): Exclude<ProcessorEntry, { kind: 'changed' }> {
  const { id, type, orderId, currencyIsoCode: currency, refundedTransactionId, statusHistory } = transaction
  const amount = parseDecimal(transaction.amount)
  const settledAt = statusHistory?.find(({ status }) => status === 'settled')?.timestamp
  if (amount === undefined || settledAt === undefined) {
    throw new UnclearAnswer(`Braintree listed the transaction ${id} without its amount or the time of its settlement`)
  }
  const kind = type === 'credit' ? 'refund' : 'charge'
  const chargeId = kind === 'refund' ? (refundedTransactionId ?? id) : id
  return { kind, id, chargeId, reference: referenceIn(orderId), amount, currency, settledAt: new Date(settledAt) }
}
