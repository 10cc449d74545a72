import { setTimeout as sleep } from 'node:timers/promises'
import { ServiceError } from '../kernel/errors.js'
import type { Config } from '../platform/config/config.js'
import { type RunDeps, tellOfRun, underLease } from '../work/attempt.js'
import type { EnteringDeps, ScheduledRuns } from '../work/due.js'
import { runInline } from '../work/inline.js'
import type { Lease, Run, RunProgress, RunTrigger, ShardLease } from '../work/run.js'
import { nextDue, type Schedule } from '../work/schedule.js'
import { findOvertaking } from '../work/sql/run-sequence.js'
import { cancelledBecause, createRun, getRun, type RunSummary } from '../work/sql/runs.js'
import { findSchedule } from '../work/sql/schedules.js'
import {
  countOpenShards,
  finishRun,
  finishShard,
  recordShards,
  releaseShard,
  renewPublication,
  renewShard,
  takeOthersShard,
  takeShard,
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

// How often the owner of a run looks whether another process has rendered its shard, or failed.
const waitMs = 250

/** The name of the publication schedule in the ledger and in the queue. */
const scheduleName = 'publish'

/** When publications are due, as configured. */
export function publicationSchedule({ publish }: Pick<Config, 'publish'>): Schedule {
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

/**
 * Works on a claimed publication: renders its shards, together with every process that asks for some, and publishes the
 * release. With `alone` nobody else renders. Returns how the run ended, or `superseded`.
 */
export async function publishUnderLease(
  deps: PublicationRunDeps,
  lease: Lease,
  run: Run,
  { signal, onProgress, alone = false }: StepOptions & { readonly alone?: boolean },
): Promise<string> {
  const { store, clock, publication } = deps
  const { runId, attempt } = lease
  const tell = (level: 'info' | 'warn', message: string, details: object = {}) =>
    tellOfRun(deps, { runId, kind: 'publication', level }, message, { attempt, ...details })
  await tell('info', 'publication run started', { owner: lease.owner })
  const overtaking = await findOvertaking(store.db, runId)
  if (overtaking) {
    const { id, releaseId, held, forced } = overtaking
    await store.transaction(async (db) => {
      const superseded = `superseded by run ${id}, which has published since`
      // The release of the later run has what is new, and not what force asks for.
      const again = run.force && !forced && (await createRun(db, { trigger: run.trigger, force: true, at: clock() }))
      const reason = again ? `${superseded}; run ${again.id} maps every project again` : superseded
      await finishRun(db, lease, { state: 'unchanged', releaseId, held, reason }, clock())
    })
    await tell('info', 'publication run superseded', { supersededBy: id })
    return 'superseded'
  }
  const entered: EnteredStage[] = []
  let renderSeconds = 0
  let progress: RunProgress | undefined
  const cancelled = new AbortController()
  const renew = async () => {
    const renewed = await renewPublication(store.db, lease, progress)
    if (renewed === 'cancel') cancelled.abort()
    return renewed !== 'lost'
  }
  const work = underLease({ lease, renew, signal: AbortSignal.any([signal, cancelled.signal]) }, async (leased) => {
    const shards = await publication.planShards(run)
    await recordShards(store.db, lease, shards, alone ? lease.owner : undefined)
    await renderShards(deps, lease, run, shards.length, { signal: leased, ...(onProgress && { onProgress }) })
    renderSeconds = (clock().getTime() - run.startedAt.getTime()) / 1000
    return await publication.publishRelease(run, {
      signal: leased,
      onProgress: (stage, done, total) => {
        progress = { stage, done, total }
        if (entered.at(-1)?.stage !== stage) entered.push({ stage, at: performance.now() })
        onProgress?.(progress)
      },
    })
  })
  const outcome = await work.catch((error: unknown) => {
    if (!cancelled.signal.aborted || signal.aborted) throw error
    throw new ServiceError('run-cancelled', cancelledBecause, { cause: error })
  })
  const timings = stageSeconds(renderSeconds, entered)
  if (!outcome || !(await finishRun(store.db, lease, outcome, clock(), timings))) return 'superseded'
  for (const [stage, seconds] of Object.entries(timings)) deps.onStageSeconds?.(stage, seconds)
  if (outcome.state === 'held') await tell('warn', 'release held: it needs approval', outcome)
  else await tell('info', 'publication run finished', outcome)
  return outcome.state
}

/** Renders what nobody else has taken, until all `count` shards of the attempt are done. */
async function renderShards(
  deps: PublicationRunDeps,
  lease: Lease,
  run: Run,
  count: number,
  { signal, onProgress }: StepOptions,
): Promise<void> {
  const { db } = deps.store
  for (let open = count; open > 0; open = await countOpenShards(db, lease)) {
    const taken = await takeShard(db, lease)
    if (!taken) {
      await sleep(waitMs, undefined, { signal })
      continue
    }
    const done = (count - open) * 100
    await renderShard(deps, taken, run, signal, (percent) =>
      onProgress?.({ stage: 'render', done: done + Math.floor(percent), total: count * 100 }),
    )
  }
}

/**
 * Renders a shard of a run that another process works on, if there is one that nobody has taken; returns whether there was.
 * One that cannot be rendered here is left to that process, whose failure decides about the run.
 */
export async function helpRendering(deps: PublicationRunDeps, signal: AbortSignal): Promise<boolean> {
  const { store, owner, lockSeconds } = deps
  const taken = await takeOthersShard(store.db, { owner, seconds: lockSeconds })
  if (!taken) return false
  try {
    await renderShard(deps, taken.lease, taken.run, signal)
    return true
  } catch (error) {
    await releaseShard(store.db, taken.lease, signal.aborted ? 'everybody' : 'owner')
    throw error
  }
}

/** Renders a shard; one that is rendered again has only what is still stale. Stops when its attempt is over. */
async function renderShard(
  { store, publication }: PublicationRunDeps,
  lease: ShardLease,
  run: Run,
  signal: AbortSignal,
  onPercent?: (percent: number) => void,
): Promise<void> {
  let percent = 0
  const renew = () => renewShard(store.db, lease, percent)
  const counts = await underLease({ lease, renew, signal }, (leased) =>
    publication.renderShard(run, lease.shard, {
      signal: leased,
      onProgress: (_, done, total) => {
        percent = total > 0 ? (100 * done) / total : 0
        onPercent?.(percent)
      },
    }),
  )
  if (counts) await finishShard(store.db, lease, counts)
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
      attempt: (lease, run) => publishUnderLease(deps, lease, run, { ...options, alone: true }),
    },
    { signal, onProgress: ({ progress }) => progress && onProgress?.(progress) },
  )
}
