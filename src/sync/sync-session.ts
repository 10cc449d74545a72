import type { Clock } from '../domain/dates.js'
import { ServiceError } from '../domain/errors.js'
import type { CurrencyCode } from '../domain/money.js'
import type { Lease, SyncRun } from '../domain/run.js'
import type { Db } from '../store/database/connection.js'
import {
  advanceSync,
  noCounts,
  recordSyncProblems,
  type SyncCounts,
  type SyncProblem,
} from '../store/runs/sync-runs.js'
import type { Store } from '../store/store.js'
import type { UpstreamClient } from './upstream-client.js'

/** What a sync works with. */
export type SyncDeps = {
  readonly store: Store
  readonly client: UpstreamClient
  readonly clock: Clock
  /** The platform's one currency: records name none. */
  readonly currency: CurrencyCode
  readonly lease: Lease
  readonly run: SyncRun
  readonly signal: AbortSignal
  readonly onProgress?: (progress: SyncProgress) => void
}

/** How far a sync has come; `found` is how many projects the upstream says it has. */
export type SyncProgress = {
  readonly phase: SyncPhase
  readonly pages: number
  readonly records: number
  readonly found?: number
}

export type SyncPhase = 'plan' | 'reference' | 'bulk' | 'projects' | 'vanished' | 'organisations' | 'details'

/** Where a run goes on; kept in the ledger with every page. */
export type Checkpoint = {
  readonly phase: SyncPhase
  /** A full run fetches what hardly changes as well. */
  readonly full: boolean
  /** The next page's lower bound; in the bulk file the number of records taken; in the details the last project done. */
  readonly cursor: number
  /** Only what changed since then is asked for (ISO 8601); absent: the phase walks the whole catalogue. */
  readonly since?: string
  /** The upstream's clock when the run began, which the next run's `since` is made of. */
  readonly mirroredUntil?: string
  readonly found?: number
  /** Records that the walk has met, the guard against one without end. */
  readonly walked: number
}

/** The result of a piece of work. */
export type Done = { readonly counts: Partial<SyncCounts>; readonly problems?: readonly SyncProblem[] }

/** One attempt of a sync: its place, its counts, and the one way to write anything. */
export class SyncSession {
  readonly deps: SyncDeps
  #checkpoint: Checkpoint
  #counted = 0
  #pages = 0
  #records = 0

  constructor(deps: SyncDeps, checkpoint: Checkpoint) {
    this.deps = deps
    this.#checkpoint = checkpoint
  }

  get runId(): number {
    return this.deps.lease.runId
  }

  get at(): Checkpoint {
    return this.#checkpoint
  }

  /**
   * Writes a page and where the run goes on in one transaction: after a kill either both are there or neither. Throws
   * `run-superseded`, and leaves nothing behind, when another worker has taken the run over.
   */
  async commit(next: Checkpoint, work: (db: Db) => Promise<Done>): Promise<SyncCounts> {
    const { store, client, lease, signal, onProgress } = this.deps
    signal.throwIfAborted()
    const { requests } = client
    const counts = await store.transaction(async (db) => {
      const done = await work(db)
      const all = { ...noCounts, ...done.counts, requests: requests - this.#counted }
      await recordSyncProblems(db, lease.runId, done.problems ?? [])
      if (!(await advanceSync(db, lease, next, all))) {
        throw new ServiceError('run-superseded', 'another worker has taken this sync over')
      }
      return all
    })
    this.#counted = requests
    this.#checkpoint = next
    this.#pages += counts.pages
    this.#records += counts.records
    const { phase, found } = next
    onProgress?.({ phase, pages: this.#pages, records: this.#records, ...(found !== undefined && { found }) })
    return counts
  }

  /** Moves on without having written anything. */
  async move(next: Checkpoint, done: Done = { counts: {} }): Promise<void> {
    await this.commit(next, async () => done)
  }
}
