import type { Command } from 'commander'
import type { FailedJob, Scheduler } from '../../jobs/queue.js'
import type { Work } from '../../jobs/work-row.js'
import type { AddRoutes } from '../http/api/create-api.js'
import type { OpenPortal } from '../http/api/deps.js'
import type { Gateway } from '../money/gateways/gateway.js'
import type { Payments } from '../money/payments.js'
import type { Config, ConfigField } from '../platform/config/config.js'
import type { Db } from '../platform/database/connection.js'
import type { Metrics } from '../platform/observability/metrics.js'
import type { AddFiles } from '../release/plan/added-files.js'
import type { FilesBeside, SharedFolders } from '../release/publication.js'
import type { ReadableRelease } from '../release/read/release-reader.js'
import type { CommandLine } from './command-line.js'
import type { Finding } from './finding.js'
import type { ExtensionState, ServiceState } from './service-state.js'
import type { CleanupStack } from './wiring/cleanup-stack.js'
import type { Runtime } from './wiring/runtime.js'

/** Adds the commands of one file to the program. */
export type Register = (program: Command, commandLine: CommandLine) => void

/** The commands of a file, which is loaded when one of them is called. */
export type CommandFile = readonly [names: readonly string[], load: () => Promise<Register>]

/** What `giving doctor` examines. */
export type Inspection = {
  readonly about: string
  /** Whether it opens the database. */
  readonly ofDatabase?: true
  readonly inspect: (commandLine: CommandLine) => Promise<readonly Finding[]>
}

/**
 * The face of `src/extensions/NAME/`: what the folder adds to the service. `src/extensions.ts` lists all of them, and the
 * composition root concatenates what they say; without its folder and its line the service compiles, runs and publishes
 * (docs/adr/0036-extensions.md).
 */
export type Extension = {
  readonly name: string
  readonly work?: Work
  readonly commands?: CommandFile
  readonly inspection?: Inspection
  readonly state?: StateOf
  /** A gauge of all processes. */
  readonly gauge?: ExtensionGauge
  readonly processor?: Processor
  readonly addFiles?: AddFiles
  readonly beside?: FilesBeside
  readonly addRoutes?: AddRoutes
  /** The pages for people. */
  readonly openPortal?: OpenPortal
  readonly server?: Server
  /** Encrypts with the first of DONOR_KEYS what it keeps, for `giving donors rekey`. */
  readonly rekey?: (runtime: Runtime) => Promise<void>
  /** Nothing else opens the bucket. A person who is `waiting` gets an answer in seconds. */
  readonly openDelivery?: (runtime: Runtime, waiting?: 'person') => Promise<Delivery | undefined>
}

/** What `giving status`, alarms and the console tell of it. */
type StateOf = {
  readonly about: string
  readonly fields: readonly ConfigField[]
  /** Undefined while it is not configured. Asks nobody but the store. */
  readonly look: (deps: StateDeps) => Promise<ExtensionState | undefined>
}

export type StateDeps = {
  readonly config: Config
  readonly db: Db
  readonly live: ReadableRelease | undefined
}

type ExtensionGauge = {
  readonly name: string
  readonly help: string
  readonly label: string
  readonly read: (db: Db) => Promise<Readonly<Record<string, number>>>
}

/** Donations are charged by it where `PAYMENT_GATEWAY` is its name. */
type Processor = {
  readonly name: string
  /** Loads the processor's library. */
  readonly open: (config: Config) => Promise<Gateway>
}

/** What is live is delivered to a bucket. */
export type Delivery = {
  /** Delivers the live release; returns what became of it. */
  readonly deliver: (signal: AbortSignal) => Promise<string>
  /** Removes everything that was delivered. */
  readonly withdraw: () => Promise<void>
  /** The folders of this process as copies of what the bucket says; undefined where machines share a folder. */
  readonly shared: SharedFolders | undefined
}

/** What an API process serves beside the API, on a port of its own. */
type Server = {
  readonly about: string
  /** Besides those of an API process. */
  readonly fields: readonly ConfigField[]
  /** Returns its address; it is closed with the runtime. */
  readonly serve: (deps: ServingDeps) => Promise<string>
}

/** What follows from the list of extensions is handed to a server, since none of them may read the list. */
export type ServingDeps = {
  readonly runtime: Runtime
  readonly metrics: Metrics
  readonly openPayments: (runtime: Runtime) => Promise<Payments>
  readonly openLooks: (runtime: Runtime, payments: Payments, cleanup: CleanupStack) => Looks
  readonly deliveryOf: NonNullable<Extension['openDelivery']>
}

/** What commands print, for pages. */
export type Looks = {
  /** As `giving status`. */
  readonly status: () => Promise<ServiceState>
  readonly jobs: () => Promise<QueueJobs>
}

/** The newest failed jobs of all queues, and when each scheduler's next job is due. */
export type QueueJobs = {
  readonly failed: readonly FailedJob[]
  readonly schedulers: readonly (Scheduler & { readonly queue: string })[]
}
