import { setImmediate as nextTurn } from 'node:timers/promises'
import { type GraphSource, graphSources, toProjectGraph } from '../../catalogue/sql/project-graphs.js'
import { saveTexts } from '../../catalogue/sql/ready-texts/ready-texts.js'
import { projectRecordVersion } from '../../catalogue/wire/write/project.js'
import { inputKey } from '../../iati/input-key.js'
import { isoDateOf } from '../../kernel/dates.js'
import { ServiceError } from '../../kernel/errors.js'
import type { Notice } from '../../kernel/notice.js'
import type { ProjectGraph } from '../../kernel/project.js'
import { sanitizeReports } from '../../kernel/report-html.js'
import { givenOfEach, ofEach } from '../../kernel/rows.js'
import type { IdRange, RenderCounts, Run } from '../../work/run.js'
import type { RenderDeps, WorkOptions } from '../publication.js'
import { saveRenderings } from '../sql/save-renderings.js'
import {
  planStaleRanges,
  type StaleCriteria,
  type StaleProject,
  staleIds,
  staleProjects,
} from '../sql/stale-projects.js'
import { renderFailed } from './failed-project.js'
import {
  bytesOf,
  failedProject,
  type MappedProject,
  mapProject,
  type RenderedProject,
  toRendered,
} from './render-project.js'
import { startStage } from './stages.js'

/** Cuts the stale projects into shards of about `size`, in id order. */
export async function planShards(deps: RenderDeps, run: Run, size: number): Promise<IdRange[]> {
  return await planStaleRanges(deps.store.db, staleCriteria(deps, run), size)
}

/**
 * Maps, checks and stores every stale project of the shard in batches. While one batch is mapped, the next is read and the
 * one before it is stored, in one transaction: an interruption loses at most two batches. Throws `aborted` on the signal;
 * all work has ended when it returns or throws.
 */
export async function renderShard(
  deps: RenderDeps,
  run: Run,
  shard: IdRange,
  { signal, onProgress }: WorkOptions,
): Promise<RenderCounts> {
  const stale = staleCriteria(deps, run)
  const ids = await staleIds(deps.store.db, stale, shard)
  const expected = ids.length
  const total = { rendered: 0, changed: 0, held: 0 }
  const store = async (rendered: readonly RenderedProject[]) => {
    await storeBatch(deps, run, stale, rendered)
    deps.onStep?.('rendered')
    total.rendered += rendered.length
    total.changed += rendered.filter(({ rendering }) => rendering.content).length
    total.held += rendered.filter(({ rendering }) => rendering.errors > 0).length
    onProgress?.('render', total.rendered, expected)
  }
  let size = firstBatch
  const readNext = () => beside(readBatch(deps, stale, ids.splice(0, size)))
  let reading = readNext()
  let storing = Promise.resolve()
  try {
    for (;;) {
      if (signal.aborted) throw interrupted()
      const batch = await reading
      if (!batch) break
      reading = readNext()
      const rendered = await renderBatch(deps, run, batch, signal)
      size = nextSize(rendered)
      await storing
      storing = beside(store(rendered))
    }
    await storing
    return total
  } finally {
    await Promise.allSettled([reading, storing])
  }
}

function interrupted(): ServiceError {
  return new ServiceError('aborted', 'rendering was interrupted; it will be continued')
}

/** Starts now; rejections surface when awaited. */
function beside<T>(work: Promise<T>): Promise<T> {
  work.catch(() => undefined)
  return work
}

// Batches are small, since three are in memory at a time, API and worker may share one event loop, and libxml2 never frees its
// memory.
const firstBatch = 20
const leastBatch = 10
const maxBatch = 100
const batchBytes = 1_000_000
// Projects that the official schema checks in one turn of the event loop: requests wait as long.
const schemaBatch = 10

/** How many projects like these make about `batchBytes` of text. */
function nextSize(rendered: readonly RenderedProject[]): number {
  const bytes = rendered.reduce((sum, project) => sum + bytesOf(project), 0)
  return Math.min(maxBatch, Math.max(leastBatch, Math.round((rendered.length * batchBytes) / (bytes + 1))))
}

/** The version of the schemas is part of the key: once the official ones are pulled, every activity is checked again. */
function staleCriteria(deps: RenderDeps, run: Run): StaleCriteria {
  const key = [inputKey(deps.mappingConfig), ...(deps.xsd ? [deps.xsd.version] : [])].join('+')
  const publisherRef = deps.mappingConfig.reportingOrg.ref
  return { inputKey: key, day: isoDateOf(run.startedAt), force: run.force, publisherRef }
}

type RenderSource = { readonly stale: StaleProject; readonly source: GraphSource }

/** What the next projects are rendered from; undefined after the last. */
async function readBatch(
  deps: RenderDeps,
  stale: StaleCriteria,
  ids: readonly number[],
): Promise<RenderSource[] | undefined> {
  if (ids.length === 0) return undefined
  const endRead = startStage(deps.onStageMs, 'read')
  const { db } = deps.store
  const found = await staleProjects(db, stale, ids)
  const sources = await graphSources(db, ofEach(found, 'projectId'))
  endRead()
  // A project that was deleted in between has no source.
  return found.flatMap((one) => {
    const source = sources.get(one.projectId)
    return source === undefined ? [] : [{ stale: one, source }]
  })
}

async function renderBatch(
  deps: RenderDeps,
  run: Run,
  projects: readonly RenderSource[],
  signal: AbortSignal,
): Promise<RenderedProject[]> {
  const mapped = []
  for (const project of projects) {
    mapped.push(await mapOrHold(deps, run, project, signal))
    // Between two projects the event loop reads and stores the other batches, renews the lease and answers requests.
    await nextTurn()
  }
  const rendered: RenderedProject[] = []
  for (let at = 0; at < mapped.length; at += schemaBatch) {
    const part = mapped.slice(at, at + schemaBatch)
    const endXsd = startStage(deps.onStageMs, 'xsd')
    const verdicts = askSchema(deps, run, part)
    endXsd()
    rendered.push(...part.map((one) => toRendered(deps, one, verdicts.get(one) ?? [])))
    await nextTurn()
  }
  return rendered
}

/** What the official schema says of the activities that it has to be asked about. */
function askSchema({ xsd }: RenderDeps, { force }: Run, projects: readonly MappedProject[]): Map<unknown, Notice[]> {
  const asked = projects.flatMap((project) => {
    const { shape, text } = project
    return shape && (force || shape.shapes.isAsked(shape, text.length)) ? [{ project, shape, text }] : []
  })
  const texts = asked.map(({ text }) => text)
  const verdicts = xsd?.validate(texts, 'activity') ?? []
  return new Map(
    asked.map(({ project, shape }, index) => {
      const verdict = verdicts[index] ?? []
      shape.shapes.learn(shape, verdict)
      return [project, verdict]
    }),
  )
}

/** The project with its texts; when they cannot be made, a notice that holds it. */
async function mapOrHold(
  deps: RenderDeps,
  run: Run,
  { stale, source }: RenderSource,
  signal: AbortSignal,
): Promise<MappedProject> {
  let graph: ProjectGraph | undefined
  try {
    graph = toProjectGraph(source)
    const endFeeds = startStage(deps.onStageMs, 'feeds')
    const reports = await sanitizeReports(graph.reports)
    endFeeds()
    return await mapProject(deps, run.startedAt, stale, graph, { reports, signal })
  } catch (error) {
    if (signal.aborted) throw interrupted()
    const { version } = graph ?? (JSON.parse(source) as Pick<ProjectGraph, 'version'>)
    return failedProject(stale, version, renderFailed(stale, graph, deps.mappingConfig, error))
  }
}

async function storeBatch(
  deps: RenderDeps,
  run: Run,
  stale: StaleCriteria,
  rendered: readonly RenderedProject[],
): Promise<void> {
  const endStore = startStage(deps.onStageMs, 'store')
  await deps.store.transaction(async (db) => {
    const renderings = rendered.map(({ rendering }) => rendering)
    await saveRenderings(db, renderings, stale.inputKey, run)
    // The API's texts cost little here, where the graph is in memory; bulk files need all of them.
    await saveTexts(db, 'project', projectRecordVersion, givenOfEach(rendered, 'readyTexts'))
  })
  endStore()
}
