import type { QueueCounts } from '../../jobs/queue.js'
import type { Cause } from '../kernel/conditions.js'
import type { FolderPlace } from '../release/operate/folder-of-store.js'
import type { ReleaseEvent } from '../release/sql/releases.js'
import type { RunSummary } from '../work/sql/runs.js'

/** The state of the service, as `giving status` prints it. */
export type Status = {
  readonly database: { readonly kind: 'given' | 'embedded'; readonly reachable: true }
  readonly migrations: { readonly pending: readonly string[] }
  readonly queue: QueueStatus
  readonly lastRun: RunSummary | undefined
  readonly lastGoodRun: RunSummary | undefined
  /** Undefined while the schedule is paused. */
  readonly nextRun: Date | undefined
  /** A scheduled publication is late. */
  readonly overdue: boolean
  /** The rollback that is in force. */
  readonly rollback: ReleaseEvent | undefined
  /** The folder that the store publishes into; undefined before it is recorded, and where any folder may be used. */
  readonly folder: FolderPlace | undefined
  /** The bucket that this process has a copy of, and when it was last compared with it; undefined where folders are shared. */
  readonly copyOf: { readonly bucket: string; readonly at: Date | undefined } | undefined
  readonly live: { readonly release: string; readonly generated: string; readonly activities: number } | undefined
  /** What extensions tell of themselves; in JSON each is a member of the status. */
  readonly extensions: readonly NamedState[]
  readonly held: { readonly count: number; readonly sample: readonly string[] }
  /** Observations that need no action yet. */
  readonly warnings: readonly string[]
  /** Problems that need a person; empty when all is well. */
  readonly needs: readonly string[]
}

/** The same with what is behind `needs`. */
export type ServiceState = Status & { readonly causes: readonly Cause[] }

export type NamedState = ExtensionState & { readonly about: string }

export type QueueStatus =
  | { readonly engine: string; readonly reachable: true; readonly workers: number; readonly jobs: QueueCounts }
  | { readonly engine: string; readonly reachable: false; readonly error: string }

export type ExtensionState = {
  /** In `giving status --json`, under `about`. */
  readonly facts?: unknown
  /** For people, behind `about`. */
  readonly line?: string
  /** What needs a person: alarms tell it. */
  readonly needs: readonly Cause[]
  /** What needs nobody yet. */
  readonly warnings: readonly string[]
}
