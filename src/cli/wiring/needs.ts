import { listSyncRuns } from '../../catalogue/sql/sync-runs.js'
import { isoInstantOf } from '../../kernel/dates.js'
import { donorNeeds } from '../../money/donors/donor-needs.js'
import { paymentNeeds } from '../../money/payment-needs.js'
import type { Payments } from '../../money/payments.js'
import { reconciliationNeeds } from '../../money/reconcile.js'
import type { Cause } from '../../outbound/alarms.js'
import type { Store } from '../../platform/database/store.js'
import type { Need } from '../../release/health.js'
import { isFinished } from '../../work/run.js'
import { listSchedules } from '../../work/sql/schedules.js'
import { describeSync } from '../sync.js'

/** Everything but the queue that needs a person, beginning with what the publication needs. */
export async function findNeeds(
  { db }: Store,
  { publication, registry }: { readonly publication: readonly Need[]; readonly registry: readonly string[] },
  payments: Payments,
  mirrors: boolean,
): Promise<Cause[]> {
  const of = (cause: string, messages: readonly string[]) => messages.map((message) => ({ cause, message }))
  return [
    ...publication.map(({ code, message }) => ({ cause: code, message })),
    ...of('schedule-paused', await scheduleNeeds(db)),
    ...of('registry', registry),
    ...of('sync', mirrors ? await syncNeeds(db) : []),
    ...of('donors', await donorNeeds(db, payments.donors)),
    ...of('payments', await paymentNeeds(db)),
    ...of('books', await reconciliationNeeds(payments)),
  ]
}

/** A paused schedule waits for the person who paused it. */
async function scheduleNeeds(db: Store['db']): Promise<string[]> {
  return (await listSchedules(db)).flatMap(({ name, pausedAt }) =>
    pausedAt ? [`schedule ${name} is paused since ${isoInstantOf(pausedAt)}: giving schedules resume ${name}`] : [],
  )
}

/** A mirror whose last sync was held or has failed needs a person. */
async function syncNeeds(db: Store['db']): Promise<string[]> {
  const last = (await listSyncRuns(db, 20)).find(isFinished)
  return last?.state === 'held' || last?.state === 'failed' ? [describeSync(last)] : []
}
