import { setTimeout as sleep } from 'node:timers/promises'
import type { ConfigOf } from '../platform/config/config.js'
import { type RunDeps, underLease } from '../work/attempt.js'
import type { EnteringDeps, ScheduledRuns } from '../work/due.js'
import { runInline } from '../work/inline.js'
import type { IdRange, Lease, RenderCounts, Run, RunProgress, RunTrigger } from '../work/run.js'
import { nextDue, type Schedule } from '../work/schedule.js'
import { createRun, getRun, type RunSummary } from '../work/sql/runs.js'
import { findSchedule } from '../work/sql/schedules.js'
import {
  beginPublishing,
  finishRun,
  recordShardCounts,
  recordShardProgress,
  recordShards,
  renewPublishing,
  renewRendering,
} from '../work/sql/shards.js'
import type { Publication } from './publication.js'

/** What the work on publications needs. */
export type PublicationRunDeps = RunDeps & {
  readonly publication: Publication
  /** Called with the seconds that a stage of a publication took, by the process in which it ended. */
  readonly onStageSeconds?: (stage: string, seconds: number) => void
}

type StepOptions = {
  readonly signal: AbortSignal
  readonly onProgress?: (progress: RunProgress) => void
}

/** The name of the publication schedule in the ledger and in the queue. */
const scheduleName = 'publish'

/** When publications are due, as configured. */
export function publicationSchedule({ publish }: ConfigOf<'publish'>): Schedule {
  return { expression: publish.schedule, timezone: publish.timezone }
}

/** When the schedule in force is due next; undefined while it is paused, and before a worker has put one in force. */
export async function nextPublication({
  store,
  clock,
}: Pick<EnteringDeps, 'store' | 'clock'>): Promise<Date | undefined> {
  const schedule = await findSchedule(store.db, scheduleName)
  return schedule && !schedule.pausedAt ? nextDue(schedule, clock()) : undefined
}

/** The runs of the publication schedule. */
export function scheduledPublications(deps: EnteringDeps): ScheduledRuns {
  const { store, clock } = deps
  return {
    ...deps,
    kind: 'publication',
    schedule: scheduleName,
    enter: (due, trigger) => createRun(store.db, { trigger, at: clock(), due }),
  }
}

/** Plans the shards of a claimed attempt; undefined when another worker has taken it over. */
export async function planShardsUnderLease(
  { store, log, publication }: PublicationRunDeps,
  lease: Lease,
  run: Run,
  signal: AbortSignal,
): Promise<IdRange[] | undefined> {
  log.info({ runId: lease.runId, attempt: lease.attempt }, 'publication run started')
  const renew = async () => (await renewRendering(store.db, lease)) !== undefined
  return await underLease({ lease, renew, signal }, async (leased) => {
    const shards = await publication.planShards(run)
    leased.throwIfAborted()
    await recordShards(store.db, lease, shards)
    return shards
  })
}

/**
 * Renders one shard of an attempt; undefined when the attempt is over. A shard that is rendered again finds only what is
 * still stale.
 */
export async function renderShardUnderLease(
  { store, publication }: PublicationRunDeps,
  lease: Lease,
  shard: IdRange,
  { signal, onProgress }: StepOptions,
): Promise<RenderCounts | undefined> {
  const run = await renewRendering(store.db, lease)
  if (!run) return undefined
  let percent = 0
  const renew = async () => {
    if (percent > 0) await recordShardProgress(store.db, lease, shard, percent)
    return (await renewRendering(store.db, lease)) !== undefined
  }
  const counts = await underLease({ lease, renew, signal }, (leased) =>
    publication.renderShard(run, shard, {
      signal: leased,
      onProgress: (stage, done, total) => {
        percent = total > 0 ? (100 * done) / total : 0
        onProgress?.({ stage, done: Math.floor(percent), total: 100 })
      },
    }),
  )
  if (counts) await recordShardCounts(store.db, lease, shard, counts)
  return counts
}

/**
 * Publishes the release of an attempt whose shards are all rendered, and ends its run. The queue may deliver this job
 * again while the worker that had it is merely slow: then it waits until this owner is the attempt's only publisher.
 * Returns how the run ended, or `superseded`.
 */
export async function publishUnderLease(deps: PublicationRunDeps, lease: Lease, options: StepOptions): Promise<string> {
  for (;;) {
    const claim = await beginPublishing(deps.store.db, lease)
    if (claim.kind === 'claimed') return await publishAs(deps, lease, claim.run, options)
    if (claim.kind === 'gone' || options.signal.aborted) return 'superseded'
    await sleep(250)
  }
}

async function publishAs(
  deps: PublicationRunDeps,
  lease: Lease,
  run: Run,
  { signal, onProgress }: StepOptions,
): Promise<string> {
  const { store, log, clock } = deps
  const renderSeconds = (clock().getTime() - run.startedAt.getTime()) / 1000
  const entered: EnteredStage[] = []
  let progress: RunProgress | undefined
  const renew = async () => (await renewPublishing(store.db, lease, progress)) !== undefined
  const outcome = await underLease({ lease, renew, signal }, (leased) =>
    deps.publication.publishRelease(run, {
      signal: leased,
      onProgress: (stage, done, total) => {
        progress = { stage, done, total }
        if (entered.at(-1)?.stage !== stage) entered.push({ stage, at: performance.now() })
        onProgress?.(progress)
      },
    }),
  )
  const timings = stageSeconds(renderSeconds, entered)
  if (!outcome || !(await finishRun(store.db, lease, outcome, clock(), timings))) return 'superseded'
  for (const [stage, seconds] of Object.entries(timings)) deps.onStageSeconds?.(stage, seconds)
  const event = { runId: lease.runId, attempt: lease.attempt, ...outcome }
  if (outcome.state === 'held') log.warn(event, 'release held: it needs approval')
  else log.info(event, 'publication run finished')
  return outcome.state
}

type EnteredStage = { readonly stage: string; readonly at: number }

/** Seconds by stage, to the millisecond: `render` is everything since the run was begun, by whichever workers. */
function stageSeconds(renderSeconds: number, entered: readonly EnteredStage[]): Readonly<Record<string, number>> {
  const now = performance.now()
  const round = (seconds: number) => Math.round(seconds * 1000) / 1000
  const seconds: Record<string, number> = { render: round(Math.max(0, renderSeconds)) }
  for (const [index, { stage, at }] of entered.entries()) {
    seconds[stage] = round(((entered[index + 1]?.at ?? now) - at) / 1000)
  }
  return seconds
}

export type InlineOptions = StepOptions & {
  readonly trigger: RunTrigger
  readonly force: boolean
  /** A run that is already in the ledger; without it a new one is entered. */
  readonly runId?: number
}

/** A whole publication in this process, without a queue; see `runInline`. */
export async function publishInline(deps: PublicationRunDeps, options: InlineOptions): Promise<RunSummary> {
  const { store, clock, lockSeconds } = deps
  const { trigger, force, signal, onProgress } = options
  const runId =
    options.runId ?? (await createRun(store.db, { trigger, force, at: clock(), reserveSeconds: lockSeconds })).id
  return await runInline(
    deps,
    {
      kind: 'publication',
      runId,
      look: () => getRun(store.db, runId),
      attempt: async (lease, run) => {
        const shards = await planShardsUnderLease(deps, lease, run, signal)
        for (const [index, shard] of shards?.entries() ?? []) {
          const rendered = await renderShardUnderLease(deps, lease, shard, {
            signal,
            onProgress: ({ stage, done }) =>
              onProgress?.({ stage, done: index * 100 + done, total: (shards?.length ?? 0) * 100 }),
          })
          if (!rendered) return
        }
        if (shards) await publishUnderLease(deps, lease, options)
      },
    },
    { signal, onProgress: ({ progress }) => progress && onProgress?.(progress) },
  )
}
