import { withLessGarbage } from '../../src/cli/wiring/process.js'
import { buildBulkFiles } from '../../src/extensions/bulk/bulk-files.js'
import { ofExtensions } from '../../src/extensions.js'
import { createXsdValidator } from '../../src/iati/validation/index.js'
import type { Store } from '../../src/platform/database/store.js'
import { createPublication } from '../../src/release/create-publication.js'
import { publishRelease } from '../../src/release/operate/publish-release.js'
import type { PublicationDeps } from '../../src/release/publication.js'
import type { RenderStage, StageListener } from '../../src/release/render/stages.js'
import type { IdRange, Outcome, RenderCounts, Run } from '../../src/work/run.js'
import { createRun } from '../../src/work/sql/runs.js'
import { mappingConfig } from './settings.js'

/** Milliseconds by stage. */
type Stages = Partial<Record<RenderStage, number>>

export type Rendered = { readonly seconds: number; readonly rendered: number; readonly stages: Stages }

/** The two steps of publishing, timed apart: the release, and the API's bulk files. */
export type Published = {
  readonly state: Outcome['state']
  readonly releaseSeconds: number
  readonly bulkSeconds: number
}

/** The program's own publication, wired as `giving` wires it, with a fixed clock. */
export type BenchPublisher = AsyncDisposable & {
  readonly deps: PublicationDeps
  /** Enters a run of that time. */
  begin(at: Date, force?: boolean): Promise<Run>
  render(run: Run): Promise<Rendered>
  planShards(run: Run): Promise<IdRange[]>
  renderShard(run: Run, shard: IdRange): Promise<RenderCounts>
  publish(run: Run): Promise<Published>
}

export type BenchPublisherOptions = {
  readonly store: Store
  readonly feedsDir: string
  /** `none`: neither our checks nor the official schema. */
  readonly checks: 'all' | 'none'
  /** Folder with the official schemas, if there are any. */
  readonly standardDir: string | undefined
}

const { signal } = new AbortController()

export async function openBenchPublisher(options: BenchPublisherOptions): Promise<BenchPublisher> {
  const { store, feedsDir, checks, standardDir } = options
  const stages: Stages = {}
  const time = { now: new Date(0) }
  const onStageMs: StageListener = (stage, ms) => {
    stages[stage] = (stages[stage] ?? 0) + ms
  }
  const xsd = checks === 'all' && standardDir !== undefined ? await createXsdValidator(standardDir) : undefined
  const deps: PublicationDeps = {
    ...{ store, mappingConfig, feedsDir, keepReleases: 3, maxLossPercent: 5, onStageMs },
    addFiles: ofExtensions('addFiles'),
    beside: ofExtensions('beside'),
    sparingly: withLessGarbage,
    ...(xsd && { xsd }),
    ...(checks === 'none' && { check: unchecked }),
    clock: () => time.now,
  }
  const publication = createPublication(deps)
  return {
    deps,
    [Symbol.asyncDispose]: async () => xsd?.dispose(),
    begin: async (at, force = false) => {
      time.now = at
      const { id } = await createRun(store.db, { trigger: 'schedule', at, force })
      return { id, startedAt: at, force, trigger: 'schedule' }
    },
    render: async (run) => {
      for (const stage of Object.keys(stages) as RenderStage[]) delete stages[stage]
      const began = performance.now()
      let rendered = 0
      for (const shard of await publication.planShards(run)) {
        rendered += (await publication.renderShard(run, shard, { signal })).rendered
      }
      return { seconds: (performance.now() - began) / 1000, rendered, stages: { ...stages } }
    },
    planShards: (run) => publication.planShards(run),
    renderShard: (run, shard) => publication.renderShard(run, shard, { signal }),
    publish: async (run) => {
      const began = performance.now()
      const { state } = await publishRelease(deps, run, { signal })
      const releasedAt = performance.now()
      // Built once a UTC day: each run has one of its own, since the clock of a bench moves by hours only.
      const startedAt = new Date(run.startedAt.getTime() + run.id * 86_400_000)
      await buildBulkFiles(deps, { ...run, startedAt }, { signal })
      return {
        state,
        releaseSeconds: (releasedAt - began) / 1000,
        bulkSeconds: (performance.now() - releasedAt) / 1000,
      }
    },
  }
}

function* unchecked(): Generator<void, never[]> {
  yield
  return []
}
