import type { ConfigOf, Secrets } from '../src/config/config.js'
import type { Clock } from '../src/domain/dates.js'
import { ServiceError, toServiceError } from '../src/domain/errors.js'
import type { Log } from '../src/observability/log.js'
import type { Payments } from '../src/payments/payments.js'
import type { Publication } from '../src/publishing/publication.js'
import type { ShardRange } from '../src/store/runs/run-leases.js'
import type { Store } from '../src/store/store.js'
import { maintain, startHousekeeping } from './maintenance.js'
import { publish } from './publish.js'
import { type Attempt, openQueue, type QueueSettings, queueSettings } from './queue.js'
import type { JobCall, JobHandler } from './queue-worker.js'
import { renderShard } from './render.js'
import { createOwner, type RunDeps } from './run-deps.js'
import { adoptPublishSchedule, enterDueRun, enterOverdueRuns, installScheduler, maintenanceName } from './schedules.js'
import { dispatchNext, type QueuedDeps, recordFailure } from './settle.js'
import { startSettlement } from './settlement.js'
import { startRun } from './start-run.js'
import { startSyncs, syncFields, syncSettings } from './sync.js'
import { defaultWatchdog, guarded, reconcile, startWatchdog, type WatchdogSettings } from './watchdog.js'

/** The fields of the configuration that a worker uses. */
export const workerFields = ['publish', 'queue', 'shutdownSeconds', ...syncFields] as const

export type WorkerDeps = {
  readonly config: ConfigOf<(typeof workerFields)[number]>
  readonly secrets: Secrets
  /** Where the database is, embedded or given: the queue opens connections of its own to it. */
  readonly databaseUrl: string
  readonly store: Store
  readonly publication: Publication
  readonly log: Log
  readonly clock: Clock
  /** How open payments are settled; without it they are left to other workers. */
  readonly payments?: Payments
  readonly watchdog?: WatchdogSettings
  /** Departures from the queue's defaults. */
  readonly queue?: Partial<QueueSettings>
  /** Done every hour: the files that this process can see. */
  readonly housekeeping?: () => Promise<void>
  readonly onStage?: RunDeps['onStage']
}

/** A running worker: schedules, renders, publishes, and watches over the ledger. */
export type Worker = AsyncDisposable & {
  /** Its name in the ledger. */
  readonly owner: string
  /** Stops within `config.shutdownSeconds`: jobs at work are finished or handed back. */
  close(): Promise<void>
  /** Jobs of each queue by state. */
  queueCounts(): Promise<Record<string, Record<string, number>>>
}

/**
 * Starts a worker; resolves when it takes jobs. Makes up for the latest instant missed while the service was down,
 * takes up what a dead worker left, and puts the configured schedule in force. Throws `queue-unavailable`,
 * `database-unavailable` or `configuration-invalid`.
 */
export async function startWorker(deps: WorkerDeps): Promise<Worker> {
  const { config, store, log } = deps
  const settings = { ...queueSettings(config, deps.secrets, deps.databaseUrl), ...deps.queue }
  const queue = await openQueue(settings, log)
  const owner = createOwner()
  const work: QueuedDeps = {
    store,
    queue,
    owner,
    log,
    publication: deps.publication,
    clock: deps.clock,
    lockSeconds: settings.lockSeconds,
    ...(deps.onStage && { onStage: deps.onStage }),
  }
  try {
    return await assemble(work, deps)
  } catch (error) {
    await queue.close()
    throw error
  }
}

async function assemble(
  work: QueuedDeps,
  { config, secrets, watchdog, payments, housekeeping }: WorkerDeps,
): Promise<Worker> {
  const { queue, log, owner } = work
  const schedule = { expression: config.publish.schedule, timezone: config.publish.timezone }
  await adoptPublishSchedule(work, schedule)
  await installScheduler(queue, schedule, log)
  await enterOverdueRuns(work)
  const [publishing, rendering] = [decisions(work, config.publish.keepReleases), shards(work)]
  // Ticks and starts are moments; they must not wait behind a publication that takes minutes.
  const consumers = [await queue.work('publish', 4, publishing), await queue.work('render', 1, rendering)]
  const { store, clock, lockSeconds } = work
  const syncs = await startSyncs({
    store,
    queue,
    log,
    clock,
    owner,
    lockSeconds,
    settings: syncSettings(config, secrets),
  })
  consumers.push(...syncs.consumers)
  const settlement = payments && (await startSettlement({ queue, payments, log }))
  if (settlement) consumers.push(settlement.consumer)
  const round = guarded(log, 'reconciliation', () => reconcile(work))
  await round()
  // A dead worker's run is found as soon as its lease has run out.
  const rounds = setInterval(() => void round(), Math.min(1000, (work.lockSeconds * 1000) / 3))
  const task = startWatchdog(work, watchdog ?? defaultWatchdog)
  const keeping = housekeeping && startHousekeeping(log, housekeeping)
  log.info({ owner, schedule: schedule.expression, timezone: schedule.timezone }, 'worker ready')

  let closing: Promise<void> | undefined
  const close = async () => {
    clearInterval(rounds)
    syncs.stop()
    settlement?.stop()
    await task.destroy()
    await keeping?.destroy()
    await Promise.all(consumers.map((consumer) => consumer.pause()))
    // Time enough is kept back for aborted jobs to hand their run back and for the connections to close.
    const patienceMs = Math.max(config.shutdownSeconds * 1000 - 3000, config.shutdownSeconds * 500)
    const idle = await Promise.all(consumers.map((consumer) => consumer.idle(patienceMs)))
    if (idle.includes(false)) {
      for (const consumer of consumers) consumer.abort()
      await Promise.all(consumers.map((consumer) => consumer.idle(1000)))
    }
    await queue.close()
    log.info({ owner }, 'worker stopped')
  }
  const closeOnce = () => {
    closing ??= close()
    return closing
  }
  return { owner, close: closeOnce, queueCounts: () => queue.counts(), [Symbol.asyncDispose]: closeOnce }
}

function decisions(work: QueuedDeps, keepReleases: number): JobHandler {
  return {
    handle: async (call) => {
      if (call.name === 'tick' && isMaintenance(call.data)) return await maintain(work, keepReleases)
      if (call.name === 'tick') return await tick(work, call)
      if (call.name === 'start') return await startRun(work, call, toAttempt(call.data))
      if (call.name === 'publish') return await publish(work, call, toAttempt(call.data))
      throw new ServiceError('request-invalid', `no job of the queue "publish" is called "${call.name}"`)
    },
    onGivenUp: failRunOf(work),
  }
}

function shards(work: QueuedDeps): JobHandler {
  return {
    handle: async (call) => await renderShard(work, call, toShard(call.data)),
    onGivenUp: failRunOf(work),
  }
}

function isMaintenance(data: unknown): boolean {
  return typeof data === 'object' && data !== null && 'schedule' in data && data.schedule === maintenanceName
}

async function tick(work: QueuedDeps, call: JobCall): Promise<string> {
  const entered = call.dueAt ? await enterDueRun(work, call.dueAt) : 'not of a schedule'
  await dispatchNext(work)
  return entered
}

/**
 * A job that the queue gave up on without asking its handler (its child failed, or it stalled too often) fails its run
 * as well. For all others the ledger has it already.
 */
function failRunOf(work: QueuedDeps) {
  return (name: string, data: unknown, error: Error): void => {
    const attempt = name === 'render' || name === 'publish' ? toAttemptIfAny(data) : undefined
    if (!attempt) return
    recordFailure(work, attempt, error).catch((failure: unknown) =>
      work.log.warn({ ...attempt, error: toServiceError(failure).message }, 'a failed run could not be marked yet'),
    )
  }
}

function toAttemptIfAny(data: unknown): Attempt | undefined {
  if (typeof data !== 'object' || data === null || !('runId' in data) || !('attempt' in data)) return undefined
  const { runId, attempt } = data
  return Number.isSafeInteger(runId) && Number.isSafeInteger(attempt)
    ? { runId: runId as number, attempt: attempt as number }
    : undefined
}

function toAttempt(data: unknown): Attempt {
  const attempt = toAttemptIfAny(data)
  if (!attempt) throw new ServiceError('request-invalid', 'a job must carry the numbers runId and attempt')
  return attempt
}

function toShard(data: unknown): Attempt & ShardRange {
  const attempt = toAttempt(data)
  if (typeof data === 'object' && data !== null && 'fromId' in data && 'toId' in data) {
    const { fromId, toId } = data
    if (typeof fromId === 'number' && typeof toId === 'number') return { ...attempt, fromId, toId }
  }
  throw new ServiceError('request-invalid', 'a render job must carry the numbers fromId and toId')
}
