import { addDays, earlier, type IsoDate, isoDateOf } from '../kernel/dates.js'
import { toServiceError } from '../kernel/errors.js'
import { followCharge } from './follow-charge.js'
import type { Payments } from './payments.js'
import { removeUnlistedEntries, type SettledEntry, saveProcessorEntries } from './sql/processor-entries.js'
import {
  findLastReconciliation,
  findReconciliation,
  listUnreconciledDays,
  listUnsettledCharges,
  type ReconciledDay,
  type ReconciliationDifference,
  reconcileEntries,
} from './sql/reconciliation.js'

/** How the processor and the books compare on some days. */
export type Reconciliation = {
  readonly days: readonly ReconciledDay[]
  readonly differences: readonly ReconciliationDifference[]
}

const atATime = 500
// More corrections than this are no single mistake: a person must look first.
const mostFollowed = 500

/**
 * Compares what the processor settled on these UTC days with the books, and keeps the result. A charge that was booked on one
 * of them is missing when the processor has not settled it within its time. Charges that differ, and those to which something
 * happened at the processor, are followed there first.
 */
export async function reconcileDays(
  payments: Payments,
  { from, to }: { readonly from: IsoDate; readonly to: IsoDate },
  signal: AbortSignal,
): Promise<Reconciliation> {
  const { gateway, store, clock, currency } = payments
  const { settlesWithinDays } = gateway
  const now = clock()
  const days = { gateway: gateway.name, from, to }
  const last = earlier(addDays(to, settlesWithinDays), isoDateOf(now))
  const changed = await readEntries(payments, { from, to: last }, signal)
  const before = new Date(now.getTime() - Math.min(settlesWithinDays, usuallySettled) * dayMs)
  const unsettled = await listUnsettledCharges(store.db, { ...days, before })
  const compare = async () => {
    await store.transaction((db) => reconcileEntries(db, { ...days, now, settlesWithinDays, currency }))
    return await findReconciliation(store.db, days)
  }
  await followAll(payments, new Set([...changed, ...unsettled]), signal)
  const found = await compare()
  const differing = new Set(found.differences.flatMap(({ chargeId }) => chargeId ?? []))
  const corrected = await followAll(payments, differing, signal)
  return corrected > 0 ? await compare() : found
}

const dayMs = 86_400_000
// A charge that has not settled after so many days has usually failed.
const usuallySettled = 2

/** Brings the books in line with the processor's charges, as far as that is possible; returns the number of corrections. */
async function followAll(payments: Payments, chargeIds: ReadonlySet<string>, signal: AbortSignal): Promise<number> {
  const { warn } = payments
  let corrected = 0
  for (const chargeId of [...chargeIds].slice(0, mostFollowed)) {
    signal.throwIfAborted()
    try {
      if ((await followCharge(payments, chargeId)) === 'corrected') corrected++
    } catch (error) {
      warn({ chargeId, error: toServiceError(error).message }, 'a charge could not be looked up at the processor')
    }
  }
  if (chargeIds.size > mostFollowed) {
    warn(
      { charges: chargeIds.size, followed: mostFollowed },
      'too many charges differ to look each up at the processor',
    )
  }
  return corrected
}

// A worker that was down for a week misses nothing.
const nightlyDays = 7

/** The days that are compared each night: those of the last week, and of the time in which charges settle. */
export function nightlySpan({ gateway, clock }: Payments): { readonly from: IsoDate; readonly to: IsoDate } {
  const to = addDays(isoDateOf(clock()), -1)
  return { from: addDays(to, 1 - nightlyDays - gateway.settlesWithinDays), to }
}

const lateMs = 2 * dayMs

/** What needs a person: days that differ, and an overdue comparison. */
export async function reconciliationNeeds({ store, gateway, clock }: Payments): Promise<string[]> {
  const days = await listUnreconciledDays(store.db)
  const last = await findLastReconciliation(store.db, gateway.name)
  return [
    ...days.map(
      ({ gateway: name, day, differences }) =>
        `${name} and the books differ in ${differences} charges or refunds of ${day}: run giving books reconcile --day ${day}`,
    ),
    ...(last && last.getTime() < clock().getTime() - lateMs
      ? [`${gateway.name} and the books have not been compared since ${last.toISOString()}: the log says why`]
      : []),
  ]
}

/** Keeps what the processor lists for these days, and returns the charges to which something else happened. */
async function readEntries(
  { gateway, store, clock }: Payments,
  { from, to }: { readonly from: IsoDate; readonly to: IsoDate },
  signal: AbortSignal,
): Promise<Set<string>> {
  const read = {
    ...{ gateway: gateway.name, readAt: clock() },
    ...{ from: new Date(`${from}T00:00:00Z`), until: new Date(`${addDays(to, 1)}T00:00:00Z`) },
  }
  const changed = new Set<string>()
  let entries: SettledEntry[] = []
  for await (const entry of gateway.settledBetween(read.from, read.until, signal)) {
    if (entry.kind === 'changed') changed.add(entry.chargeId)
    else entries.push(entry)
    if (entries.length < atATime) continue
    await saveProcessorEntries(store.db, read, entries)
    entries = []
  }
  await saveProcessorEntries(store.db, read, entries)
  await removeUnlistedEntries(store.db, read)
  return changed
}
