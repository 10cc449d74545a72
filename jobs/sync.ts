import { setTimeout as sleep } from 'node:timers/promises'
import type { ConfigOf, Secrets, UpstreamConfig } from '../src/config/config.js'
import type { Clock } from '../src/domain/dates.js'
import { ServiceError, toServiceError } from '../src/domain/errors.js'
import type { CurrencyCode } from '../src/domain/money.js'
import type { Log } from '../src/observability/log.js'
import {
  type ClaimedSync,
  claimSync,
  failSync,
  findSyncRun,
  finishSync,
  isSyncFinished,
  renewSync,
  requeueDeadSync,
  requeueSync,
  reserveSync,
  type SyncLease,
  type SyncSummary,
  takeNextSync,
} from '../src/store/runs/sync-runs.js'
import type { Store } from '../src/store/store.js'
import { runSync } from '../src/sync/sync.js'
import type { SyncProgress } from '../src/sync/sync-session.js'
import { type ClientOptions, UpstreamClient } from '../src/sync/upstream-client.js'
import type { JobQueue } from './queue.js'
import type { JobCall, JobHandler, QueueWorker } from './queue-worker.js'
import {
  adoptSyncSchedules,
  enterDueSync,
  enterFirstSync,
  enterMissedSync,
  installSyncSchedulers,
  restoreSyncSchedulers,
  syncSchedules,
} from './sync-schedules.js'
import { underLease } from './under-lease.js'
import { guarded } from './watchdog.js'

/** What the work on syncs needs, with or without a queue. */
export type SyncWork = {
  readonly store: Store
  readonly log: Log
  readonly clock: Clock
  /** Names this process in the ledger. */
  readonly owner: string
  /** A worker that gave no sign of life for so long is taken for dead. */
  readonly lockSeconds: number
  readonly upstream: UpstreamConfig
  readonly currency: CurrencyCode
  readonly client: ClientOptions
}

type QueuedSync = SyncWork & { readonly queue: JobQueue }

/** The fields of the configuration that a sync uses. */
export const syncFields = ['upstream', 'allowPrivateNetworks', 'currency', 'reportingOrg'] as const

/** The upstream and its client as configured; undefined when nothing is mirrored. */
export function syncSettings(
  config: ConfigOf<(typeof syncFields)[number]>,
  secrets: Secrets,
): Pick<SyncWork, 'upstream' | 'currency' | 'client'> | undefined {
  const { upstream, allowPrivateNetworks, currency } = config
  if (!upstream) return undefined
  const client: ClientOptions = {
    url: upstream.url,
    apiKey: secrets.upstreamApiKey ?? '',
    concurrency: upstream.concurrency,
    requestsPerSecond: upstream.requestsPerSecond,
    allowPrivateNetworks,
    userAgent: `giving-iati data sync (${config.reportingOrg.name.replace(/[^\x20-\x7e]/g, '?')})`,
  }
  return { upstream, currency, client }
}

const graceSeconds = 300

/** The part of a worker that mirrors: its consumer of the queue, and its rounds. */
export type SyncConsumer = { readonly consumers: readonly QueueWorker[]; stop(): void }

/**
 * Starts taking syncs: schedules in force, missed instants made up for, a dead worker's run taken up, the first sync
 * entered. Without an upstream only the schedulers of an earlier configuration are removed.
 */
export async function startSyncs(
  work: Omit<SyncWork, 'upstream' | 'currency' | 'client'> & {
    readonly queue: JobQueue
    readonly settings: ReturnType<typeof syncSettings>
  },
): Promise<SyncConsumer> {
  const { settings, ...rest } = work
  await installSyncSchedulers(work.queue, settings?.upstream)
  if (!settings) return { consumers: [], stop: () => undefined }
  const deps: QueuedSync = { ...rest, ...settings }
  await adoptSyncSchedules(deps)
  await enterFirstSync(deps)
  // Ticks must not wait behind a sync that takes hours; the ledger lets one sync go on at a time.
  const consumer = await deps.queue.work('sync', 4, handlerOf(deps))
  const round = guarded(deps.log, 'sync reconciliation', () => reconcileSyncs(deps))
  await round()
  const rounds = setInterval(() => void round(), (deps.lockSeconds * 1000) / 3)
  const watch = guarded(deps.log, 'sync watchdog', async () => {
    for (const name of Object.keys(syncSchedules)) await enterMissedSync(deps, name, 'watchdog', graceSeconds)
    await restoreSyncSchedulers(deps, deps.queue, graceSeconds)
  })
  const watching = setInterval(() => void watch(), 60_000)
  return {
    consumers: [consumer],
    stop: () => {
      clearInterval(rounds)
      clearInterval(watching)
    },
  }
}

/** Queues the sync of a dead worker again and gives the queue whatever is due to begin. */
async function reconcileSyncs(deps: QueuedSync): Promise<void> {
  const dead = await requeueDeadSync(deps.store.db)
  if (dead)
    deps.log.warn({ runId: dead.id, owner: dead.owner }, 'the worker of this sync is gone, it is taken up again')
  await dispatchSync(deps)
}

/** Gives the queue the oldest queued sync when none is going on. */
export async function dispatchSync(deps: Pick<QueuedSync, 'store' | 'queue' | 'lockSeconds'>): Promise<void> {
  const runId = await takeNextSync(deps.store.db, deps.lockSeconds)
  if (runId === undefined) return
  try {
    await deps.queue.addSync(runId)
  } catch (error) {
    await reserveSync(deps.store.db, runId, undefined)
    throw error
  }
}

function handlerOf(deps: QueuedSync): JobHandler {
  return {
    handle: async (call) => {
      if (call.name === 'tick') {
        const name = textOf(call.data, 'schedule')
        const entered = call.dueAt ? await enterDueSync(deps, name, call.dueAt) : 'not of a schedule'
        await dispatchSync(deps)
        return entered
      }
      if (call.name === 'sync') return await doSync(deps, call)
      throw new ServiceError('request-invalid', `no job of the queue "sync" is called "${call.name}"`)
    },
  }
}

function textOf(data: unknown, name: string): string {
  const value =
    typeof data === 'object' && data !== null ? Object.entries(data).find(([key]) => key === name) : undefined
  return String(value?.[1] ?? '')
}

async function doSync(deps: QueuedSync, call: JobCall): Promise<string> {
  const { store, log } = deps
  const runId = Number(textOf(call.data, 'runId'))
  const claim = await claimSync(
    store.db,
    { runId, owner: `${deps.owner} ${call.id}`, seconds: deps.lockSeconds },
    deps.clock(),
  )
  if (claim === 'busy') await reserveSync(store.db, runId, undefined)
  if (claim === 'busy' || claim === 'gone') return claim
  try {
    const state = await attempt(deps, claim, call.signal, everySecond(call.report))
    await settled(deps)
    return state
  } catch (failure) {
    const error = toServiceError(failure)
    if (call.signal.aborted) {
      await requeueSync(store.db, claim.lease)
      return 'handed back'
    }
    if (call.isLast(error)) {
      await fail(deps, claim.lease, error)
      await settled(deps)
    } else {
      log.warn({ runId, code: error.code, error: error.message }, 'sync failed, it will go on from where it was')
      await requeueSync(store.db, claim.lease, call.nextTryMs / 1000 + deps.lockSeconds)
    }
    throw failure
  }
}

/** One attempt under its lease; returns how the run ended. */
async function attempt(
  work: SyncWork,
  claim: ClaimedSync,
  signal: AbortSignal,
  onProgress: (progress: SyncProgress) => void,
): Promise<string> {
  const { store, log, clock, currency } = work
  const { lease } = claim
  if (claim.upstream !== work.upstream.url) {
    throw new ServiceError(
      'configuration-invalid',
      `sync ${lease.runId} was for ${claim.upstream}, UPSTREAM_URL is another`,
    )
  }
  log.info({ runId: lease.runId, attempt: lease.attempt, kind: claim.kind }, 'sync started')
  await using client = new UpstreamClient(work.client)
  const renew = () => renewSync(store.db, lease)
  const done = await underLease({ renew, seconds: lease.seconds, signal }, async (leased) =>
    runSync({ store, client, clock, currency, run: claim, signal: leased, onProgress }),
  )
  if (done.kind === 'superseded') return 'superseded'
  if (!(await finishSync(store.db, lease, done.value, clock()))) return 'superseded'
  if (done.value.state === 'held') log.warn({ runId: lease.runId, reason: done.value.reason }, 'sync held')
  else log.info({ runId: lease.runId }, 'sync done')
  return done.value.state
}

async function fail({ store, log, clock }: SyncWork, lease: SyncLease, error: ServiceError): Promise<void> {
  if (!(await failSync(store.db, lease, error, clock()))) return
  log.error({ runId: lease.runId, code: error.code, error: error.message, err: error.cause }, 'sync failed')
}

/** The next sync may begin; when the queue cannot be told now, the next round does. */
async function settled(deps: QueuedSync): Promise<void> {
  await dispatchSync(deps).catch((error: unknown) =>
    deps.log.warn({ error: toServiceError(error).message }, 'the next sync could not be given to the queue yet'),
  )
}

function everySecond(report: (progress: object) => void): (progress: SyncProgress) => void {
  let last = 0
  return (progress) => {
    if (performance.now() - last < 1000) return
    last = performance.now()
    report(progress)
  }
}

/**
 * A whole sync in this process, without a queue, but under the same ledger: it waits for one that is going on, and takes
 * over from a dead worker. Returns the run as it ended, also when it failed; throws `aborted` after handing it back.
 */
export async function syncInline(
  work: SyncWork,
  runId: number,
  options: { readonly signal: AbortSignal; readonly onProgress?: (progress: SyncProgress) => void },
): Promise<SyncSummary> {
  const { store, owner, lockSeconds, clock } = work
  for (;;) {
    await requeueDeadSync(store.db)
    const claim = await claimSync(store.db, { runId, owner: `${owner} inline`, seconds: lockSeconds }, clock())
    if (typeof claim === 'object') {
      try {
        await attempt(work, claim, options.signal, options.onProgress ?? (() => undefined))
      } catch (failure) {
        if (options.signal.aborted) {
          await requeueSync(store.db, claim.lease)
          throw failure
        }
        await fail(work, claim.lease, toServiceError(failure))
      }
    }
    const run = await findSyncRun(store.db, runId)
    if (!run) throw new ServiceError('not-found', `there is no sync ${runId}`)
    if (isSyncFinished(run)) return run
    await reserveSync(store.db, runId, lockSeconds)
    try {
      await sleep(250, undefined, { signal: options.signal })
    } catch (error) {
      await reserveSync(store.db, runId, undefined)
      throw new ServiceError('aborted', 'interrupted while waiting for another sync', { cause: error })
    }
  }
}

/** Waits until the ledger says that the sync has ended. */
export async function waitForSync(
  store: Store,
  runId: number,
  options: { readonly signal: AbortSignal; readonly onProgress?: (run: SyncSummary) => void },
): Promise<SyncSummary> {
  for (;;) {
    const run = await findSyncRun(store.db, runId)
    if (!run) throw new ServiceError('not-found', `there is no sync ${runId}`)
    if (isSyncFinished(run)) return run
    options.onProgress?.(run)
    try {
      await sleep(250, undefined, { signal: options.signal })
    } catch (error) {
      throw new ServiceError('aborted', `no longer waiting for sync ${runId}`, { cause: error })
    }
  }
}
