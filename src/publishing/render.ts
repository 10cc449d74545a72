import { isoDateOf } from '../domain/dates.js'
import { ServiceError } from '../domain/errors.js'
import { inputKey } from '../feeds/iati/mapping.js'
import { graphSources } from '../store/project-graphs.js'
import { saveRenderings } from '../store/save-renderings.js'
import { countStale, planStaleRanges, type StaleCriteria, staleProjects } from '../store/stale-projects.js'
import { saveProjectTexts } from '../store/wire-records.js'
import { projectMapping } from '../wire/project.js'
import type { PublicationDeps, RenderCounts, RunHandle, Shard, WorkOptions } from './publication.js'
import { bytesOf, type RenderedProject } from './render-project.js'
import { createRenderer, type Renderer, type RenderSource } from './renderer.js'
import { startStage } from './stages.js'

/** Cuts the stale projects into shards of about `size`, in id order. */
export async function planShards(deps: PublicationDeps, run: RunHandle, size: number): Promise<Shard[]> {
  return await planStaleRanges(deps.store.db, staleCriteria(deps, run), size)
}

/**
 * Renders and stores every stale project of the shard, a batch at a time: while the renderer works on some, the next is
 * read and the one before them stored, in one transaction. An interruption loses what is in work. Throws `aborted` on
 * the signal; when it returns or throws, nothing of it goes on.
 */
export async function renderShard(
  deps: PublicationDeps,
  run: RunHandle,
  shard: Shard,
  { signal, onProgress }: WorkOptions,
): Promise<RenderCounts> {
  const renderer = rendererOf(deps)
  const stale = staleCriteria(deps, run)
  const expected = onProgress ? await countStale(deps.store.db, stale, shard) : 0
  const total = { rendered: 0, changed: 0, held: 0 }
  const store = async (rendered: readonly RenderedProject[]) => {
    await storeBatch(deps, run, stale, rendered)
    deps.onStep?.('rendered')
    total.rendered += rendered.length
    total.changed += rendered.filter(({ rendering }) => rendering.content).length
    total.held += rendered.filter(({ rendering }) => rendering.errors > 0).length
    onProgress?.('render', total.rendered, Math.max(expected, total.rendered))
  }
  let size = firstBatch
  let reading = beside(readBatch(deps, stale, shard, { after: shard.fromId - 1, limit: size }))
  let storing = Promise.resolve()
  const inWork: Promise<RenderedProject[]>[] = []
  const storeOldest = async (): Promise<void> => {
    const rendered = (await inWork[0]) ?? []
    inWork.shift()
    size = nextSize(rendered)
    await storing
    storing = beside(store(rendered))
  }
  try {
    for (;;) {
      if (signal.aborted) throw new ServiceError('aborted', 'rendering was interrupted; it will be continued')
      const batch = await reading
      if (batch.lastId === undefined) break
      reading = beside(readBatch(deps, stale, shard, { after: batch.lastId, limit: size }))
      inWork.push(beside(renderer.render(batch.projects, run.startedAt)))
      // One batch more than it works on, so that it never waits for the next.
      while (inWork.length > renderer.width) await storeOldest()
    }
    while (inWork.length > 0) await storeOldest()
    await storing
    return total
  } finally {
    await Promise.allSettled([reading, storing, ...inWork])
  }
}

function rendererOf(deps: PublicationDeps): Renderer {
  return deps.renderer ?? createRenderer({ mapping: deps.mapping, onStage: deps.onStage })
}

/** The same promise; that it fails is noticed where it is awaited, not before. */
function beside<T>(work: Promise<T>): Promise<T> {
  work.catch(() => undefined)
  return work
}

// Batches are small because several are in memory at a time, and libxml2 keeps the memory it has taken.
const firstBatch = 20
const leastBatch = 10
const mostBatch = 100
const batchBytes = 300_000

/** How many projects like these make about `batchBytes` of text. */
function nextSize(rendered: readonly RenderedProject[]): number {
  const bytes = rendered.reduce((sum, project) => sum + bytesOf(project), 0)
  return Math.min(mostBatch, Math.max(leastBatch, Math.round((rendered.length * batchBytes) / (bytes + 1))))
}

/** What was checked by other schemas, or by none, is checked again: a pull of the official ones reaches every activity. */
function staleCriteria(deps: PublicationDeps, run: RunHandle): StaleCriteria {
  const { schemaVersion } = rendererOf(deps)
  const key = schemaVersion === undefined ? inputKey(deps.mapping) : `${inputKey(deps.mapping)}+${schemaVersion}`
  return { inputKey: key, day: isoDateOf(run.startedAt), force: run.force }
}

async function readBatch(
  deps: PublicationDeps,
  stale: StaleCriteria,
  shard: Shard,
  { after, limit }: { after: number; limit: number },
): Promise<{ lastId: number | undefined; projects: RenderSource[] }> {
  const reading = startStage(deps.onStage, 'read')
  const { db } = deps.store
  const found = await staleProjects(db, stale, shard, after, limit)
  const sources = await graphSources(
    db,
    found.map(({ projectId }) => projectId),
  )
  reading?.()
  // One that was deleted in between has no source.
  const projects = found.flatMap((one) => {
    const source = sources.get(one.projectId)
    return source === undefined ? [] : [{ stale: one, source }]
  })
  return { lastId: found.at(-1)?.projectId, projects }
}

async function storeBatch(
  deps: PublicationDeps,
  run: RunHandle,
  stale: StaleCriteria,
  rendered: readonly RenderedProject[],
): Promise<void> {
  const storing = startStage(deps.onStage, 'store')
  await deps.store.transaction(async (db) => {
    const renderings = rendered.map(({ rendering }) => rendering)
    await saveRenderings(db, renderings, stale.inputKey, run)
    // With the rendering, for where the graph is, the API's records cost little; bulk files need all of them.
    await saveProjectTexts(
      db,
      projectMapping,
      rendered.map(({ record }) => record),
    )
  })
  storing?.()
}
