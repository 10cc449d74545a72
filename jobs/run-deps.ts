import { randomBytes } from 'node:crypto'
import { hostname } from 'node:os'
import type { Clock } from '../src/domain/dates.js'
import type { Log } from '../src/observability/log.js'
import type { Publication } from '../src/publishing/publication.js'
import type { Lease } from '../src/store/runs/run-leases.js'
import type { Store } from '../src/store/store.js'
import type { Attempt } from './queue.js'

/** What the work on runs needs, with or without a queue. */
export type RunDeps = {
  readonly store: Store
  readonly publication: Publication
  readonly log: Log
  readonly clock: Clock
  /** Names this process in the ledger; see `createOwner`. */
  readonly owner: string
  /** A worker that gave no sign of life for so long is taken for dead. */
  readonly lockSeconds: number
  /** Hears how many seconds a stage of a publication took that ended in this process. */
  readonly onStage?: (stage: string, seconds: number) => void
}

/** A name for this process that no other has: host, process id and chance. */
export function createOwner(): string {
  return `${hostname()}:${process.pid}:${randomBytes(4).toString('hex')}`
}

/** A lease on one attempt, as long as a lock; `part` tells apart the jobs of one process. */
export function leaseOn(deps: RunDeps, { runId, attempt }: Attempt, part: string): Lease {
  return { runId, attempt, owner: `${deps.owner} ${part}`, seconds: deps.lockSeconds }
}
