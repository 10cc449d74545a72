import { type Clock, isoInstantOf } from '../../kernel/dates.js'
import { ServiceError } from '../../kernel/errors.js'
import type { CurrencyCode } from '../../kernel/money.js'
import type { Config, UpstreamConfig } from '../../platform/config/config.js'
import { type RunDeps, underLease } from '../../work/attempt.js'
import type { EnteringDeps, ScheduledRuns } from '../../work/due.js'
import { runInline } from '../../work/inline.js'
import type { Lease, SyncKind, SyncRun } from '../../work/run.js'
import { renewLease } from '../../work/sql/leases.js'
import { createSyncRun, finishSync, getSyncRun, type SyncSummary } from '../sql/sync-runs.js'
import type { SyncProgress } from './sync-session.js'
import type { ClientOptions } from './upstream-client.js'

export type SyncSettings = {
  readonly upstream: UpstreamConfig
  readonly currency: CurrencyCode
  readonly client: ClientOptions
}

/** What the work on syncs needs. */
export type SyncRunDeps = RunDeps & SyncSettings

export const syncFields = ['upstream', 'allowPrivateNetworks', 'currency', 'reportingOrg'] as const

/** The settings as configured; undefined when nothing is mirrored. */
export function syncSettings(config: Config): SyncSettings | undefined {
  const { upstream, allowPrivateNetworks, currency } = config
  if (!upstream) return undefined
  const client: ClientOptions = {
    url: upstream.url,
    apiKey: config.secrets.upstreamApiKey ?? '',
    concurrency: upstream.concurrency,
    requestsPerSecond: upstream.requestsPerSecond,
    allowPrivateNetworks,
    hosts: upstream.hosts,
    userAgent: `giving-iati data sync (${config.reportingOrg.name.replace(/[^\x20-\x7e]/g, '?')})`,
  }
  return { upstream, currency, client }
}

/** The runs of both sync schedules. */
export function scheduledSyncs(deps: EnteringDeps, upstream: UpstreamConfig): ScheduledRuns[] {
  const scheduled = (schedule: string, kind: SyncKind): ScheduledRuns => ({
    ...deps,
    kind: 'sync',
    schedule,
    enter: (due, trigger) =>
      createSyncRun(deps.store.db, { kind, trigger, upstream: upstream.url, at: deps.clock(), due }),
  })
  return [scheduled('sync', 'incremental'), scheduled('full-sync', 'full')]
}

/**
 * A mirror that never began begins at once, not at its first due instant. One run, however many processes start
 * together: it has an instant that no schedule has.
 */
export async function enterFirstSync({ store, clock }: EnteringDeps, { url }: UpstreamConfig): Promise<void> {
  const due = { schedule: `first sync of ${url}`, at: new Date(0) }
  await createSyncRun(store.db, { kind: 'full', trigger: 'start', upstream: url, at: clock(), due })
}

/** How far a sync has come, with what is left as words. */
export type ForeseenProgress = SyncProgress & { readonly stage: string }

/** Works on a claimed sync; returns how the run ended, or `superseded`. */
export async function syncOnce(
  { store, log, clock, currency, upstream, client: clientOptions }: SyncRunDeps,
  lease: Lease,
  run: SyncRun,
  { signal, onProgress }: { readonly signal: AbortSignal; readonly onProgress?: (progress: ForeseenProgress) => void },
): Promise<string> {
  const { runId, attempt } = lease
  if (run.upstream !== upstream.url) {
    const message = `sync ${runId} mirrors ${run.upstream}, but UPSTREAM_URL is ${upstream.url}`
    throw new ServiceError('configuration-invalid', message)
  }
  log.info({ runId, attempt, kind: run.kind }, 'sync run started')
  // Loaded here: a service that mirrors nobody, and every look at the table of work, does without them.
  const [{ runSync }, { UpstreamClient }] = await Promise.all([import('./sync.js'), import('./upstream-client.js')])
  await using client = new UpstreamClient(clientOptions)
  const renew = () => renewLease(store.db, lease)
  const tell = tellingProgress(clock, (details, message) => log.info({ runId, ...details }, message), onProgress)
  const outcome = await underLease({ lease, renew, signal }, (leased) =>
    runSync({
      ...{ store, client, clock, currency, lease, run, signal: leased },
      onProgress: tell,
    }),
  )
  if (!outcome || !(await finishSync(store.db, lease, outcome, clock()))) return 'superseded'
  if (outcome.state === 'held') log.warn({ runId, reason: outcome.reason }, 'sync run held')
  else log.info({ runId }, 'sync run finished')
  return outcome.state
}

// How often the log says how far a sync has come.
const tellEveryMs = 15_000

/** Tells `listen` how far a sync has come, and the log now and then: what is left, and until when at the pace so far. */
function tellingProgress(
  clock: Clock,
  log: (details: object, message: string) => void,
  listen?: (progress: ForeseenProgress) => void,
) {
  const begun = clock().getTime()
  let [toldAt, phase, since, leftThen] = [begun, '', begun, 0]
  return (progress: SyncProgress) => {
    const now = clock().getTime()
    if (progress.phase !== phase || (progress.left ?? 0) > leftThen) {
      phase = progress.phase
      since = now
      leftThen = progress.left ?? 0
    }
    const { left } = progress
    const made = leftThen - (left ?? 0)
    const until = left !== undefined && made > 0 ? new Date(now + ((now - since) / made) * left) : undefined
    const rest =
      left === undefined ? '' : `, ${left} requests left${until ? ` until about ${isoInstantOf(until)}` : ''}`
    const stage = `${phase}, ${progress.records} records${rest}`
    listen?.({ ...progress, stage })
    if (now - toldAt < tellEveryMs) return
    toldAt = now
    log({ ...progress, ...(until && { until }) }, `sync run: ${stage}`)
  }
}

/** A whole sync in this process, without a queue; see `runInline`. */
export async function syncInline(
  deps: SyncRunDeps,
  runId: number,
  options: { readonly signal: AbortSignal; readonly onProgress?: (progress: ForeseenProgress) => void },
): Promise<SyncSummary> {
  return await runInline(
    deps,
    {
      kind: 'sync',
      runId,
      look: () => getSyncRun(deps.store.db, runId),
      attempt: (lease, run) => syncOnce(deps, lease, run, options),
    },
    { signal: options.signal },
  )
}
