import path from 'node:path'
import type { JobQueue } from '../../../jobs/queue.js'
import { queueNames, work } from '../../../jobs/work.js'
import { listSyncRuns } from '../../catalogue/sql/sync-runs.js'
import { ofExtensions } from '../../extensions.js'
import type { Cause } from '../../kernel/conditions.js'
import { isoInstantOf } from '../../kernel/dates.js'
import { toServiceError } from '../../kernel/errors.js'
import { donorNeeds } from '../../money/donors/donor-needs.js'
import { paymentNeeds, paymentWarnings } from '../../money/payment-needs.js'
import type { Payments } from '../../money/payments.js'
import { receiptWarnings } from '../../money/receipts/receipt-warnings.js'
import { reconciliationNeeds } from '../../money/reconcile.js'
import type { Config } from '../../platform/config/config.js'
import { pendingMigrations } from '../../platform/database/migrate.js'
import { backupState } from '../../platform/database/scheduled-backup.js'
import type { Store } from '../../platform/database/store.js'
import { lastFollowed, releaseFolder } from '../../release/folder/release-folder.js'
import { publicationHealth } from '../../release/health.js'
import { findFolderOfStore, recordRefusedFolder } from '../../release/operate/folder-of-store.js'
import { createReleaseReader, type ReadableRelease } from '../../release/read/release-reader.js'
import { publicationSchedule } from '../../release/run.js'
import { isFinished } from '../../work/run.js'
import { nextDue } from '../../work/schedule.js'
import { findSchedule, listSchedules } from '../../work/sql/schedules.js'
import type { NamedState, QueueStatus, Status } from '../service-state.js'
import { lookAtChangedRules, olderEdition } from './assumed-facts.js'
import { type Condition, conditionOfCertificate, conditionOfDisk, conditionOfWorkers } from './conditions.js'
import { anyFolderBecause, ownFolderRefusal } from './folder.js'
import { mappingFields } from './mapping.js'
import { paymentFields } from './payments.js'
import { publisherCauses, tellingRefusals } from './publisher.js'
import { describeSync } from './runs.js'
import type { Runtime } from './runtime.js'

// Processes compare their folder every 2 s.
const oldCopyMs = 60_000

const told = ofExtensions('state')
const extensionFields = told.flatMap(({ fields }) => [...fields])

/** The fields of the configuration that the state of the service follows from. */
export const statusFields = [
  ...['publish', 'backup', 'queue', 'upstreamUrl', 'tls'],
  ...extensionFields,
  ...mappingFields,
  ...paymentFields,
] as const

/** Looks at everything; `causes` are behind what needs a person. Payments are opened once the schema is known to fit. */
export async function lookAtService(
  runtime: Runtime,
  queue: QueueStatus,
  openPayments: () => Promise<Payments>,
): Promise<{ readonly status: Status; readonly causes: readonly Cause[] }> {
  const { config, store, clock, feedsDir } = runtime
  const pending = await pendingMigrations(store.db)
  const next = nextDue(publicationSchedule(config), clock())
  const nothing: Status = {
    database: { kind: config.database.kind, reachable: true },
    migrations: { pending },
    ...{ queue, lastRun: undefined, lastGoodRun: undefined, nextRun: next, overdue: false, rollback: undefined },
    ...{ folder: undefined, copyOf: undefined, live: undefined, extensions: [], held: { count: 0, sample: [] } },
    ...{ warnings: [], needs: [] },
  }
  if (pending.length > 0) {
    const message = `migrations are pending: run giving migrate (${pending.join(', ')})`
    return { status: { ...nothing, needs: [message] }, causes: [{ cause: 'migrations', message }] }
  }
  const health = await publicationHealth({ store, releases: createReleaseReader(feedsDir), clock })
  const { live: release, lastRun, lastGoodRun, overdue, rollback } = health
  const held = release?.manifest.held
  const payments = await openPayments()
  const states = await statesOfExtensions(config, store, release)
  const publisher = await tellingRefusals(runtime)
  const copyOf = config.bucket?.isFolder
    ? { bucket: config.bucket.name, at: await lastFollowed(releaseFolder(feedsDir)) }
    : undefined
  const copyAge = copyOf && clock().getTime() - (copyOf.at?.getTime() ?? 0)
  const closedBecause = await payments.closedBecause?.()
  const found = await findNeeds(runtime, payments, {
    publisher,
    // The refusal of the folder is named already.
    publication: health.needs.filter(({ message }) => publisher.every((one) => one.message !== message)),
    states,
    conditions: [
      ...(queue.reachable ? [await conditionOfWorkers(store.db, queue.workers)] : []),
      await conditionOfDisk(path.dirname(feedsDir)),
      ...(config.tls ? [await conditionOfCertificate(config.tls.certFile, clock())] : []),
    ],
  })
  const isLate = {
    cause: 'queue',
    message: queue.reachable ? '' : `the queue cannot be reached: ${queue.error}`,
  } as const
  const causes = queue.reachable ? found : [isLate, ...found]
  const status = {
    ...nothing,
    ...{ lastRun, lastGoodRun, overdue, rollback, copyOf, extensions: states },
    nextRun: (await findSchedule(store.db, 'publish'))?.pausedAt ? undefined : next,
    folder: anyFolderBecause(config) === undefined ? await findFolderOfStore(store.db) : undefined,
    live: release && {
      release: release.id,
      generated: release.manifest.generated,
      activities: release.manifest.totals.activities,
    },
    held: { count: held?.count ?? 0, sample: held?.sample.map((activity) => activity.identifier).slice(0, 10) ?? [] },
    warnings: [
      ...health.warnings,
      ...ofTexts(
        await olderEdition(runtime),
        config.reportingOrg.ref === undefined ? undefined : await changedRules(runtime),
      ),
      ...(copyAge !== undefined && copyAge > oldCopyMs
        ? [
            `the folder of this process is not compared with the bucket ${copyOf?.bucket}: the API and workers do that while they run, and log why they cannot`,
          ]
        : []),
      ...states.flatMap(({ warnings }) => warnings),
      ...(closedBecause === undefined ? [] : [`no donations are taken: ${closedBecause}`]),
      ...(await receiptWarnings(store.db, payments, closedBecause, clock())),
      ...(await paymentWarnings(store.db, payments.gateway)),
    ],
    needs: causes.map(({ message }) => message),
  }
  return { status, causes }
}

/** What the extensions that are configured tell, without asking anybody. */
async function statesOfExtensions(
  config: Config,
  { db }: Store,
  live: ReadableRelease | undefined,
): Promise<readonly NamedState[]> {
  const states: NamedState[] = []
  for (const { about, look } of told) {
    const found = await look({ config, db, live })
    if (found) states.push({ about, ...found })
  }
  return states
}

/** What an upgrade, or another configuration, will change in what is published. */
async function changedRules(runtime: Runtime): Promise<string | undefined> {
  const found = await lookAtChangedRules(runtime)
  if (found === undefined || found.changed === 0) return undefined
  const { stale, looked, changed, elements } = found
  const named = elements.map(
    ({ element, count, examples }) =>
      `${element} in ${count} (${examples.map(({ identifier }) => identifier).join(', ')})`,
  )
  const of = looked === stale ? `of ${stale} activities` : `of ${looked} of ${stale} activities that were looked at,`
  return `rules or configuration are others than at the last publication: ${of} the next one changes ${changed}: ${named.join('; ')} (giving publish --dry-run)`
}

function ofTexts(...texts: readonly (string | undefined)[]): string[] {
  return texts.filter((text) => text !== undefined)
}

/** The live workers and the jobs of the queue. */
export async function readQueue(queue: JobQueue) {
  const [workers, jobs] = await Promise.all([queue.liveWorkers('publish'), queue.counts(queueNames(work))])
  return { workers, jobs }
}

/** The state of the queue by what `readQueue` returned; a failure is a state too. */
export async function queueStatus(engine: string, answer: ReturnType<typeof readQueue>): Promise<QueueStatus> {
  try {
    return { engine, reachable: true, ...(await answer) }
  } catch (error) {
    return { engine, reachable: false, error: toServiceError(error).message }
  }
}

/** What a worker sends alarms about. */
export async function needsToTell(runtime: Runtime, payments: Payments): Promise<Cause[]> {
  const { config, store, clock, feedsDir } = runtime
  const ownFolder = await ownFolderRefusal(runtime)
  if (ownFolder !== undefined) await recordRefusedFolder(store.db, ownFolder, clock())
  const { needs, live } = await publicationHealth({ store, releases: createReleaseReader(feedsDir), clock })
  return await findNeeds(runtime, payments, {
    // Every process may send the alerts. A folder that only one of them has would open an alert and close it in turn.
    publisher: (await tellingRefusals(runtime)).filter(({ code }) => code !== 'folder-differs'),
    publication: needs.filter(({ cause }) => ownFolder === undefined || cause !== 'nothing-published'),
    states: await statesOfExtensions(config, store, live),
    conditions: [await conditionOfDisk(path.dirname(feedsDir))],
  })
}

type Looked = {
  readonly publisher: Awaited<ReturnType<typeof tellingRefusals>>
  readonly publication: readonly Cause[]
  readonly states: readonly NamedState[]
  readonly conditions: readonly Condition[]
}

/** Everything but queue and migrations that needs a person, beginning with what the publication needs. */
async function findNeeds(
  { config, store: { db }, clock, fence }: Runtime,
  payments: Payments,
  { publisher, publication, states, conditions }: Looked,
): Promise<Cause[]> {
  const behind = fence?.problem(clock())
  const of = (cause: Cause['cause'], found: readonly (string | Omit<Cause, 'cause'>)[]): Cause[] =>
    found.map((one) => ({ cause, ...(typeof one === 'string' ? { message: one } : one) }))
  return [
    ...of('database-behind', behind === undefined ? [] : [behind]),
    ...publisher.map(({ code, message }) => ({ cause: publisherCauses[code], message })),
    ...publication,
    ...conditions.flatMap(({ cause, message, problem }) => (problem ? [{ cause, message }] : [])),
    ...of('schedule-paused', await scheduleNeeds(db)),
    ...states.flatMap(({ needs }) => needs),
    ...of('backup', config.backup ? (await backupState(db, clock())).needs : []),
    ...of('sync', config.upstreamUrl !== undefined ? await syncNeeds(db) : []),
    ...of('donors', await donorNeeds(db, payments.donors)),
    ...of('payments', await paymentNeeds(db)),
    ...of('books', await reconciliationNeeds(payments)),
  ]
}

/** A paused schedule waits for the person who paused it. */
async function scheduleNeeds(db: Store['db']): Promise<Omit<Cause, 'cause'>[]> {
  return (await listSchedules(db)).flatMap(({ name: about, pausedAt }) => {
    if (!pausedAt) return []
    const since = isoInstantOf(pausedAt)
    return [{ about, message: `schedule ${about} is paused since ${since}: giving schedules resume ${about}` }]
  })
}

/** A mirror whose last sync was held or has failed needs a person. */
async function syncNeeds(db: Store['db']): Promise<string[]> {
  const last = (await listSyncRuns(db, 20)).find(isFinished)
  return last?.state === 'held' || last?.state === 'failed' ? [describeSync(last)] : []
}
