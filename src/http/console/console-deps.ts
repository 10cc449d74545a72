import type { Operator } from '../../accounts/sql/audit-events.js'
import type { ImportOptions } from '../../catalogue/import/import.js'
import type { UploadLimits } from '../../catalogue/import/uploads.js'
import type { SourceDefinition } from '../../catalogue/sql/import-sources.js'
import type { SyncSummary } from '../../catalogue/sql/sync-runs.js'
import type { Cause } from '../../kernel/conditions.js'
import type { Clock } from '../../kernel/dates.js'
import type { Donor } from '../../kernel/donor.js'
import type { CurrencyCode, Decimal } from '../../kernel/money.js'
import type { OperatorToken } from '../../platform/config/operator-token.js'
import type { Store } from '../../platform/database/store.js'
import type { Log } from '../../platform/observability/log.js'
import type { Metrics } from '../../platform/observability/metrics.js'
import type { ReleaseReader } from '../../release/read/release-reader.js'
import type { HeldFilter } from '../../release/sql/renderings.js'
import type { RunSummary } from '../../work/sql/runs.js'
import type { ApiLimits, ServerDeps } from '../api/deps.js'
import type { ExplainedProject } from '../portal/explained.js'
import type { Facts } from './pages/facts.js'
import type { HeldProject, HeldRule } from './pages/held.js'

/** Everything that the console works with. */
export type ConsoleDeps = {
  readonly store: Store
  readonly releases: ReleaseReader
  readonly feedsDir: string
  readonly clock: Clock
  readonly log: Log
  readonly metrics: Metrics
  /** Aborted when the process is asked to stop: `/readyz` is 503 from then on. */
  readonly stopping: AbortSignal
  readonly look: Looks
  readonly actions: OperatorActions
  /** What moving in needs. */
  readonly imports: {
    /** With statements of any length, as imports have them. */
    readonly store: Store
    readonly options: Pick<ImportOptions, 'currency' | 'zone' | 'publisherRef' | 'publisherName' | 'publisherType'>
    readonly dataDir: string
    readonly limits: UploadLimits
  }
  /** Donations and what operators do with them. */
  readonly money: {
    readonly gateway: string
    /** Whether no money moves at the gateway. */
    readonly isTest: boolean
    readonly currency: CurrencyCode
    /** What differs from the processor by day, in words. */
    readonly differences: () => Promise<readonly string[]>
    /** The most that the console and everybody else give back in a UTC day; undefined: the console gives nothing back. */
    readonly refundLimit: Decimal | undefined
    refund(donationId: number, amount: Decimal | undefined, mostInDay: Decimal, operator: Operator): Promise<unknown>
    mailReceipt(donationId: number, operator: Operator): Promise<unknown>
    endPlan(id: number, operator: Operator): Promise<unknown>
    /** As `giving payments follow`. */
    compare(donationId: number, operator: Operator): Promise<unknown>
    /** Each look is entered in the audit trail. */
    donor(donationId: number, operator: Operator): Promise<Donor | undefined>
    /** Numbers of a person's donations. */
    donationsOf(email: string, operator: Operator): Promise<readonly number[]>
  }
  /** Who may use the console; nobody named: everybody who reaches it, which must be this machine only. */
  readonly operators: readonly OperatorToken[]
  readonly config: ServerDeps['config'] & { readonly limits: Pick<ApiLimits, 'requestsPerAddress'> }
}

/** What commands print, as the console shows it. */
export type Looks = {
  /** As `giving status`. */
  readonly status: () => Promise<ServiceState>
  /** As `giving held`, of those that a filter asks for. */
  readonly held: (
    limit: number,
    filter: HeldFilter,
  ) => Promise<{ readonly count: number; readonly projects: readonly HeldProject[] }>
  readonly heldByRule: () => Promise<readonly HeldRule[]>
  /** As `giving held ID`. */
  readonly heldProject: (id: number) => Promise<HeldProject | undefined>
  /** As `giving facts`; of many projects how many have been looked at so far. */
  readonly facts: () => Promise<Facts | { readonly done: number }>
  /** As `giving explain ID`. */
  readonly explain: (id: number) => Promise<ExplainedProject | undefined>
  /** As `giving sync status`; undefined: nothing is mirrored. */
  readonly mirror: () => Promise<Mirror | undefined>
  /** The newest failed jobs of all queues, and when each scheduler's next job is due. */
  readonly jobs: () => Promise<{ readonly failed: readonly GivenUpJob[]; readonly schedulers: readonly NextJob[] }>
}

export type ServiceState = {
  readonly live: { readonly release: string; readonly generated: string; readonly activities: number } | undefined
  readonly lastRun: RunSummary | undefined
  readonly lastGoodRun: RunSummary | undefined
  readonly nextRun: Date | undefined
  readonly held: { readonly count: number }
  readonly queue: QueueState
  readonly warnings: readonly string[]
  readonly causes: readonly Cause[]
}

export type QueueState =
  | {
      readonly engine: string
      readonly reachable: true
      readonly workers: number
      readonly jobs: Readonly<Record<string, Readonly<Record<string, number>>>>
    }
  | { readonly engine: string; readonly reachable: false; readonly error: string }

export type Mirror = {
  readonly upstream: string
  readonly lagSeconds: number | undefined
  readonly runs: readonly SyncSummary[]
}

export type GivenUpJob = {
  readonly queue: string
  readonly name: string
  readonly failedAt: Date | undefined
  readonly tries: number
  readonly reason: string
}

export type NextJob = { readonly queue: string; readonly name: string; readonly next: Date | undefined }

/** What the commands of the same names do; each enters its audit row. */
export type OperatorActions = {
  publish(options: { readonly force: boolean }, operator: Operator): Promise<unknown>
  approve(id: string, options: { readonly acceptLoss: boolean }, operator: Operator): Promise<unknown>
  rollback(id: string, operator: Operator): Promise<unknown>
  switchSchedule(name: string, to: 'paused' | 'resumed', operator: Operator): Promise<unknown>
  cancelRun(id: number, operator: Operator): Promise<unknown>
  testAlarm(operator: Operator): Promise<unknown>
  confirmFacts(operator: Operator): Promise<unknown>
  addSource(definition: SourceDefinition, operator: Operator): Promise<unknown>
  removeSource(name: string, operator: Operator): Promise<unknown>
  requestSource(name: string, operator: Operator): Promise<unknown>
  decideSource(name: string, decision: 'approve' | 'refuse', operator: Operator): Promise<unknown>
}
