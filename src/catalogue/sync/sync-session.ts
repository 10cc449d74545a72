import type { Clock } from '../../kernel/dates.js'
import { ServiceError } from '../../kernel/errors.js'
import type { CurrencyCode } from '../../kernel/money.js'
import type { Db } from '../../platform/database/connection.js'
import type { Store } from '../../platform/database/store.js'
import type { Lease, SyncRun } from '../../work/run.js'
import { advanceSync, noCounts, recordSyncProblems, type SyncCounts, type SyncProblem } from '../sql/sync-runs.js'
import type { UpstreamClient } from './upstream-client.js'

/** Media types that a sync asks for; JSON is cheaper to read. */
export const accept = 'application/json, application/xml;q=0.9'

/** What a sync works with. */
export type SyncDeps = {
  readonly store: Store
  readonly client: UpstreamClient
  readonly clock: Clock
  /** The platform's one currency; records do not name one. */
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
  /** Requests that are left, as far as is known by now. */
  readonly left?: number
}

type SyncPhase = 'plan' | 'reference' | 'bulk' | 'projects' | 'vanished' | 'organisations' | 'details'

/** Where a run continues; saved in the ledger with every page. */
export type Checkpoint = {
  readonly phase: SyncPhase
  /** A full run also fetches what rarely changes. */
  readonly full: boolean
  /** The next page's lower bound; of the bulk file the number of saved records; of details the last finished project. */
  readonly cursor: number
  /** The run asks only for what changed since then (ISO 8601); absent: for the whole catalogue. */
  readonly since?: string
  /** The instant up to which changes are mirrored; the next run's `since`. */
  readonly mirroredUntil?: string
  readonly found?: number
  /** How many projects the mirror had when the walk began. */
  readonly known?: number
  /** Records of the list so far; a limit on them ends an endless list. */
  readonly walked: number
  /** The record that is saved alone, since a worker was lost here. */
  readonly alone?: string
}

/** The result of a piece of work. */
export type Done = { readonly counts: Partial<SyncCounts>; readonly problems?: readonly SyncProblem[] }

/** One attempt of a sync: its checkpoint, its counts, and the only way to write anything. */
export class SyncSession {
  readonly deps: SyncDeps
  #checkpoint: Checkpoint
  #counted = 0
  #pages = 0
  #records = 0
  #left: number | undefined
  readonly #lostAt: string | undefined
  /** Whether a worker was lost where this attempt begins: then the first page is saved record by record. */
  careful: boolean

  constructor(deps: SyncDeps, checkpoint: Checkpoint) {
    const { alone, ...rest } = checkpoint
    this.deps = deps
    this.#checkpoint = rest
    this.careful = deps.run.losses > 0
    this.#lostAt = this.careful ? alone : undefined
  }

  get runId(): number {
    return this.deps.lease.runId
  }

  get at(): Checkpoint {
    return this.#checkpoint
  }

  /** States how many requests are left; each that is made counts from then on. */
  expectRequests(left: number): void {
    this.#left = left
  }

  /**
   * Writes a page and the next checkpoint in one transaction, so that a kill leaves both or neither. Throws
   * `run-superseded`, and writes nothing, when another worker has taken the run over.
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
    if (next.phase !== this.#checkpoint.phase) this.#left = undefined
    else if (this.#left !== undefined) this.#left = Math.max(0, this.#left - (requests - this.#counted))
    this.#counted = requests
    this.#checkpoint = next
    this.#pages += counts.pages
    this.#records += counts.records
    const { phase, found } = next
    const left = this.#left
    onProgress?.({
      ...{ phase, pages: this.#pages, records: this.#records },
      ...(found !== undefined && { found }),
      ...(left !== undefined && { left }),
    })
    return counts
  }

  /**
   * Notes that a record is saved alone, for the next attempt in case this worker is lost too. Returns a reason to refuse the
   * record when a worker was already lost while it saved this record alone.
   */
  async workAlone(subject: string): Promise<SyncProblem | undefined> {
    if (subject === this.#lostAt) {
      return { subject, field: 'record', expected: 'one that can be worked on', got: 'two workers were lost over it' }
    }
    await this.move({ ...this.at, alone: subject })
    return undefined
  }

  /** Moves on without having written anything but problems. */
  async move(next: Checkpoint, problems: readonly SyncProblem[] = []): Promise<void> {
    await this.commit(next, async () => ({ counts: {}, problems }))
  }
}
