import type { Cause } from '../kernel/conditions.js'
import type { Clock } from '../kernel/dates.js'
import type { Store } from '../platform/database/store.js'
import { isFinished } from '../work/run.js'
import { latestDue } from '../work/schedule.js'
import { findLastGoodRun, listRuns, type RunSummary } from '../work/sql/runs.js'
import { findSchedule } from '../work/sql/schedules.js'
import { listWrongClocks } from '../work/sql/wrong-clocks.js'
import { findBucketState } from './bucket-state.js'
import { findRefusedFolder } from './operate/folder-of-store.js'
import { largeFileWarnings } from './operate/guards.js'
import { restoredProblem } from './operate/restored-database.js'
import type { ReadableRelease, ReleaseReader } from './read/release-reader.js'
import { listLeftOut } from './sql/left-out.js'
import { findStandingRollback, type ReleaseEvent } from './sql/releases.js'

/** The state of publication. */
export type PublicationHealth = {
  readonly live: ReadableRelease | undefined
  /** The newest run that ended. */
  readonly lastRun: RunSummary | undefined
  readonly lastGoodRun: RunSummary | undefined
  /** A scheduled instant passed an hour ago, and no run has succeeded since. */
  readonly overdue: boolean
  readonly rollback: ReleaseEvent | undefined
  /** Whether the bucket has another release than the live one; undefined without a bucket. */
  readonly bucketBehind: boolean | undefined
  readonly needs: readonly Cause[]
  /** What an operator should know about the live release; nothing has to be done now. */
  readonly warnings: readonly string[]
}

const scheduleName = 'publish'
// How long after its instant a scheduled publication is overdue.
const graceMs = 3_600_000
// Deliveries to the bucket are tried every minute; after so long a failure needs a person.
const bucketGraceMs = 600_000

/** Looks at the ledger and the live release. Throws `database-unavailable`. */
export async function publicationHealth(deps: {
  readonly store: Store
  readonly releases: ReleaseReader
  readonly clock: Clock
}): Promise<PublicationHealth> {
  const { db } = deps.store
  const live = await deps.releases.live()
  const lastRun = (await listRuns(db, 20)).find(isFinished)
  const lastGoodRun = await findLastGoodRun(db, deps.clock())
  const standing = await findStandingRollback(db)
  const rollback = standing?.releaseId === live?.id ? standing : undefined
  const due = await overdueSince(deps, lastGoodRun)
  const needs: Cause[] = []
  const need = (cause: Cause['cause'], message: string, about?: number | string) =>
    needs.push({ cause, message, ...(about !== undefined && { about: String(about) }) })
  if (!live) need('nothing-published', 'nothing has been published yet')
  if (lastRun?.state === 'failed' && lastRun.error?.code !== 'run-cancelled')
    need('run-failed', `run ${lastRun.id} failed: ${lastRun.error?.message}`, lastRun.id)
  if (lastRun?.state === 'held' && !lastRun.decided) need('release-held', heldMessage(lastRun), lastRun.releaseId)
  if (due) need('publication-overdue', `the publication of ${due.toISOString()} is overdue`)
  if (live && live.manifest.held.count > 0) need('activities-held', activitiesMessage(live))
  const [leftOut] = await listLeftOut(db)
  if (leftOut)
    need('organisations-held', `elements of the organisation file are left out (giving held), such as ${leftOut.path}`)
  if (rollback) need('rolled-back', `release ${rollback.otherId} was rolled back to ${rollback.releaseId}`)
  for (const { owner, skewSeconds } of await listWrongClocks(db)) {
    need(
      'clock-wrong',
      `the clock of worker ${owner} differs from the database's by ${skewSeconds} s: it takes no runs`,
    )
  }
  const refusedFolder = await findRefusedFolder(db, deps.clock())
  if (refusedFolder !== undefined) need('folder-refused', refusedFolder)
  const restored = await restoredProblem(db)
  if (restored !== undefined) need('database-restored', restored)
  const warnings = live ? largeFileWarnings(live.manifest) : []
  const bucket = await findBucketState(db)
  if (bucket?.failure) {
    const { message, since } = bucket.failure
    const behind = `the bucket has ${bucket.release ?? 'no release'}, since ${since} nothing can be delivered: ${message}`
    if (deps.clock().getTime() - Date.parse(since) >= bucketGraceMs) need('bucket-behind', behind)
    else warnings.push(behind)
  }
  const bucketBehind = bucket && bucket.release !== live?.id
  return { live, lastRun, lastGoodRun, overdue: due !== undefined, rollback, bucketBehind, needs, warnings }
}

async function overdueSince(
  { store, clock }: { readonly store: Store; readonly clock: Clock },
  lastGoodRun: RunSummary | undefined,
): Promise<Date | undefined> {
  const schedule = await findSchedule(store.db, scheduleName)
  const due = schedule && latestDue(schedule, new Date(clock().getTime() - graceMs))
  if (!due || schedule.pausedAt || due <= schedule.adoptedAt) return undefined
  return (lastGoodRun?.finishedAt ?? new Date(0)) < due ? due : undefined
}

function heldMessage({ id, releaseId, reason }: RunSummary): string {
  const what = releaseId === undefined ? `run ${id}` : `release ${releaseId}`
  const how = releaseId === undefined ? '' : ` (giving releases diff, then approve it or fix the data)`
  return `${what} is held: ${reason ?? 'no reason was recorded'}${how}`
}

function activitiesMessage({ manifest }: ReadableRelease): string {
  const { count, sample } = manifest.held
  const named = sample.slice(0, 10).map(({ identifier }) => identifier)
  return `${count} activities are held (giving held): ${[...named, ...(count > named.length ? ['…'] : [])].join(', ')}`
}
