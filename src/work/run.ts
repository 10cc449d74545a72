import type { ErrorCode } from '../kernel/errors.js'

/** The kinds of run that the ledger keeps. Of each kind, one run is worked on at a time. */
export type RunKind = 'publication' | 'sync'

/** Why a run exists: its schedule was due, the service started, a person asked, or the watchdog found it missing. */
export type RunTrigger = 'schedule' | 'start' | 'manual' | 'watchdog'

/** The instant of a schedule that a run stands for; a schedule has one run for each instant. */
export type DueInstant = { readonly schedule: string; readonly at: Date }

/** One attempt at a run. The ledger refuses what an older attempt writes. */
export type Attempt = { readonly kind: RunKind; readonly runId: number; readonly attempt: number }

/** The right to work on an attempt for a while, by the database's clock, so machines need not agree on the time. */
export type Lease = Attempt & { readonly owner: string; readonly seconds: number }

/** Why a run failed. */
export type RunFailure = { readonly code: ErrorCode; readonly message: string }

/** A publication as the work on it sees it. */
export type Run = {
  readonly id: number
  /** The run's time: every date and `last-updated-datetime` that it writes comes from it. */
  readonly startedAt: Date
  /** Map every project again, stale or not. */
  readonly force: boolean
  readonly trigger: RunTrigger
}

/** A range of project ids, both ends included. */
export type IdRange = { readonly fromId: number; readonly toId: number }

/** The right to render one shard of an attempt. */
export type ShardLease = Lease & { readonly shard: IdRange }

/** What rendering a range did: projects mapped, texts that changed, activities held. */
export type RenderCounts = { readonly rendered: number; readonly changed: number; readonly held: number }

/**
 * How far a publication has come. While rendering, `done` and `total` count hundredths of shards; later what the stage
 * counts.
 */
export type RunProgress = {
  readonly stage: 'render' | 'assemble' | 'commit'
  readonly done: number
  readonly total: number
}

/** How a publication ended when nothing failed; `held` counts the activities that the release leaves as they were. */
export type Outcome =
  | { readonly state: 'published' | 'unchanged'; readonly releaseId: string; readonly held: number }
  /** Superseded: `reason` names the later run. */
  | { readonly state: 'unchanged'; readonly releaseId: string; readonly held: number; readonly reason: string }
  /** `releaseId` is absent when the release was held before it had a name. */
  | { readonly state: 'held'; readonly releaseId?: string; readonly reason: string; readonly held: number }

/** `full` compares the whole catalogue; `incremental` fetches what changed since. */
export type SyncKind = 'full' | 'incremental'

/** A sync as the work on it sees it. */
export type SyncRun = {
  readonly kind: SyncKind
  readonly upstream: string
  /** A person has accepted that the upstream offers much less than before. */
  readonly acceptLoss: boolean
  /** Where the last attempt stopped; undefined at the beginning. */
  readonly checkpoint: unknown
  /** How many workers in a row were lost there. */
  readonly losses: number
}

/** Whether a run has ended, with success or failure. */
export function isFinished({ state }: { readonly state: string }): boolean {
  return state !== 'queued' && state !== 'running'
}
