import type { Cause } from '../src/kernel/conditions.js'
import type { Payments } from '../src/money/payments.js'
import type { Config, ConfigField } from '../src/platform/config/config.js'
import type { PublicationRunDeps } from '../src/release/run.js'
import type { ScheduledRuns } from '../src/work/due.js'
import type { Schedule } from '../src/work/schedule.js'
import type { JobQueue } from './queue.js'
import type { JobCall } from './queue-worker.js'

/** What a row of work is given when a worker starts. */
export type WorkDeps = PublicationRunDeps & {
  readonly config: Config
  readonly queue: JobQueue
  /** Checks this process's clock; false: no runs may be taken now. */
  readonly clockAgrees: () => Promise<boolean>
  /** How open payments are settled; without it they are left to other workers. */
  readonly payments?: Payments
  /** Delivers the live release to the bucket; without it that is left to other workers. */
  readonly deliver?: (signal: AbortSignal) => Promise<string>
  /** How others are told what is live; without it that is left to other workers. */
  readonly telling?: Telling
  /** What needs a person now; without it alarms are left to other workers. */
  readonly needs?: () => Promise<readonly Cause[]>
}

type Telling = {
  /** The published files. */
  readonly feedsDir: string
  /** Why the live release may not be told to others; undefined: it may. */
  readonly refusal: () => Promise<string | undefined>
  /** The address of this service, without trailing slash. */
  readonly baseUrl: () => Promise<string>
}

/** One kind of scheduled work: a row of the table in `work.ts`. */
export type Work = {
  /** Names the work in the log. */
  readonly name: string
  /** The fields of the configuration that it uses. */
  readonly fields: readonly ConfigField[]
  /**
   * Its queues, and how many jobs of each a process works on at a time. Its schedulers are in the first one. Rows may
   * share a queue; then the largest number counts, and a worker needs no further connections.
   */
  readonly queues: Readonly<Record<string, number>>
  /** When it is due, by the scheduler's name; {} when the configuration does not want it. */
  readonly schedules: (config: Config) => Readonly<Record<string, Schedule>>
  /** The work in this process; undefined when this process has no part in it. */
  readonly open: (deps: WorkDeps) => OpenWork | undefined
}

export type OpenWork = {
  /** Done before jobs are taken. */
  readonly begin?: () => Promise<void>
  /** Schedules whose due instants are runs of the ledger: their ticks enter the run. */
  readonly scheduled?: readonly ScheduledRuns[]
  /** Does what is due by all other schedules. */
  readonly tick?: (call: JobCall) => Promise<string>
  /** Its other jobs by name. */
  readonly jobs?: Readonly<Record<string, (call: JobCall) => Promise<string>>>
  /** Does a piece of what another process has begun; resolves to whether there was one. */
  readonly help?: (signal: AbortSignal) => Promise<boolean>
}

/** The queue that a row's schedulers are in. */
export function schedulerQueue({ name, queues }: { readonly name: string; readonly queues: object }): string {
  const [queue] = Object.keys(queues)
  if (queue === undefined) throw new Error(`the work "${name}" has no queue`)
  return queue
}
