import type { MappingConfig } from '../iati/mapping/mapping-config.js'
import type { activityChecks, XsdValidator } from '../iati/validation/index.js'
import type { Clock } from '../kernel/dates.js'
import type { SigningKey } from '../kernel/release-chain.js'
import type { Store } from '../platform/database/store.js'
import type { IdRange, Outcome, RenderCounts, Run, RunProgress } from '../work/run.js'
import type { AddFiles } from './plan/added-files.js'
import type { StageListener } from './render/stages.js'

export type Progress = (stage: RunProgress['stage'], done: number, total: number) => void

export type WorkOptions = { readonly signal: AbortSignal; readonly onProgress?: Progress }

/** Steps of a publication that leave something behind; a process may die after any of them. */
type PublicationStep = 'rendered' | 'begun' | 'written' | 'promised' | 'sealed' | 'switched' | 'recorded'

/** The work of a publication, without any queue; every step may be repeated after a crash. */
export type Publication = {
  /** Cuts the stale projects into shards of about `size`; [] when nothing is stale. */
  planShards(run: Run, size?: number): Promise<IdRange[]>
  renderShard(run: Run, shard: IdRange, options: WorkOptions): Promise<RenderCounts>
  /** Assembles, checks and commits a release of everything rendered; throws ServiceError for failures. */
  publishRelease(run: Run, options: WorkOptions): Promise<Outcome>
}

/** What rendering needs. */
export type RenderDeps = {
  readonly store: Store
  readonly mappingConfig: MappingConfig
  /** Checks every rendered batch by the official schema, when its files are there. */
  readonly xsd?: XsdValidator
  /** What checks a mapped activity; `activityChecks` when not given. A bench compares without. */
  readonly check?: typeof activityChecks
  /** Receives every step once it is done; tests end the process there. */
  readonly onStep?: (step: PublicationStep) => void
  /** Receives the milliseconds that a stage of rendering took; benches add them up. */
  readonly onStageMs?: StageListener
}

/** A folder that each machine has a copy of; one shared record names what is live, kept and held (docs/adr/0029). */
export type SharedFolder = {
  /** Copies what the record names into this folder; others may be writing there. */
  follow(): Promise<void>
  /** As `follow`, and removes what the record does not name. The caller holds the publishing lock. */
  pull(): Promise<void>
  /**
   * Records what this folder has, with this release as the live one (`null`: none; undefined: as before), in one step. Throws
   * `server-busy` when the record has changed since `pull`, which the caller has called.
   */
  push(live?: string | null): Promise<void>
}

/** The folders that machines share, where they have copies: of releases, and of files beside them by name. */
export type SharedFolders = {
  readonly releases: SharedFolder
  readonly beside: (name: string) => SharedFolder
  /** Shares what was seen of the database with the other machines. */
  readonly shareSeen: () => Promise<void>
}

/** What work on the folder of published files needs. */
export type FolderDeps = {
  readonly store: Store
  readonly feedsDir: string
  readonly clock: Clock
  /** Where machines share no folder. */
  readonly shared?: SharedFolders | undefined
}

/** What operating releases needs: their folder, and how many superseded ones stay. */
export type OperateDeps = FolderDeps & { readonly keepReleases: number }

export type PublicationDeps = RenderDeps &
  OperateDeps & {
    /** Does the work that takes most memory: writing a large release of which nothing is there. */
    readonly sparingly?: <T>(work: () => Promise<T>) => Promise<T>
    /** What releases are signed with. */
    readonly signer?: SigningKey
    readonly maxLossPercent: number
    /** What extensions add to each release, in this order. */
    readonly addFiles: readonly AddFiles[]
    readonly beside: readonly FilesBeside[]
    /** How long publishing waits for another holder of its lock before it takes the lock over; 10 s when not given. */
    readonly lockPatienceMs?: number
    /** The size at which a file of activities takes no new ones; tests make several files of few. */
    readonly segmentBytes?: number
  }

/**
 * Sets of files that an extension keeps beside releases, in the folder `name` of the published files: built after each release;
 * withdrawn, none is offered until the next.
 */
export type FilesBeside = {
  readonly name: string
  readonly build: (deps: PublicationDeps, run: Run, options: WorkOptions) => Promise<void>
  readonly withdraw: (deps: Omit<FolderDeps, 'clock'>) => Promise<void>
}
