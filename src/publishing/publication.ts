import type { Clock } from '../domain/dates.js'
import type { MappingConfig } from '../feeds/iati/mapping-config.js'
import type { Store } from '../store/store.js'
import type { validateActivity, XsdValidator } from '../validation/index.js'
import type { StageListener } from './render/stages.js'

/** A publication run as the work on it sees it. */
export type RunHandle = {
  readonly id: number
  /** The run's time: every date and `last-updated-datetime` that it writes comes from it. */
  readonly startedAt: Date
  /** Map every project again, stale or not. */
  readonly force: boolean
}

/** An inclusive range of project ids. */
export type Shard = { readonly fromId: number; readonly toId: number }

/** What rendering a shard did: projects mapped, texts that changed, activities held. */
export type RenderCounts = { readonly rendered: number; readonly changed: number; readonly held: number }

export type PublishOutcome =
  | { readonly state: 'published' | 'unchanged'; readonly releaseId: string; readonly held: number }
  | { readonly state: 'held'; readonly releaseId?: string; readonly reason: string; readonly held: number }

export type Progress = (stage: 'render' | 'assemble' | 'commit', done: number, total: number) => void

export type WorkOptions = { readonly signal: AbortSignal; readonly onProgress?: Progress }

/** Steps of a publication that leave something behind; a process may die after any of them. */
export type PublicationStep = 'rendered' | 'begun' | 'written' | 'promised' | 'sealed' | 'switched' | 'recorded'

/** The work of a publication, without any queue; every step may be repeated after a crash. */
export type Publication = {
  /** Cuts the stale projects into shards of about `size`; [] when nothing is stale. */
  planShards(run: RunHandle, size?: number): Promise<Shard[]>
  renderShard(run: RunHandle, shard: Shard, options: WorkOptions): Promise<RenderCounts>
  /** Assembles, checks and commits a release of everything rendered; throws ServiceError for failures. */
  publishRelease(run: RunHandle, options: WorkOptions): Promise<PublishOutcome>
}

/** What rendering needs. */
export type RenderDeps = {
  readonly store: Store
  readonly mapping: MappingConfig
  /** Checks every rendered batch by the official schema, when its files are there. */
  readonly xsd?: XsdValidator
  /** What checks a mapped activity; `validateActivity` when not given. A bench compares without. */
  readonly check?: typeof validateActivity
  /** Receives every step once it is done; tests end the process there. */
  readonly onStep?: (step: PublicationStep) => void
  /** Receives the milliseconds that a stage of rendering took; benches add them up. */
  readonly onStage?: StageListener
}

/** What work on the folder of published files needs. */
export type FolderDeps = { readonly store: Store; readonly feedsDir: string; readonly clock: Clock }

/** What operating releases needs: their folder, and how many superseded ones stay. */
export type OperateDeps = FolderDeps & { readonly keepReleases: number }

export type PublicationDeps = RenderDeps &
  OperateDeps & {
    readonly maxLossPercent: number
    /** How long publishing waits for another holder of its lock before it takes the lock over; 10 s when not given. */
    readonly lockPatienceMs?: number
  }
