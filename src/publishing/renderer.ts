import { setImmediate as nextTurn } from 'node:timers/promises'
import { type GraphSource, toProjectGraph } from '../store/project-graphs.js'
import type { StaleProject } from '../store/stale-projects.js'
import { mapProject, type RenderDeps, type RenderedProject, toRendered } from './render-project.js'
import { startStage } from './stages.js'

/** A stale project and its rows. */
export type RenderSource = { readonly stale: StaleProject; readonly source: GraphSource }

/** Makes and checks the texts of projects: pure work, without database and clock. */
export type Renderer = {
  /** How many batches it works on at a time beside its caller; 0: it is the caller's own thread that works. */
  readonly width: number
  /** Names the official schema that activities are checked by; undefined: there is none. */
  readonly schemaVersion: string | undefined
  /** Every text of the projects, in their order, as a run that began at `startedAt` writes them. */
  render(projects: readonly RenderSource[], startedAt: Date): Promise<RenderedProject[]>
}

/** A renderer that works in the thread of its caller, with a turn of the event loop after every project. */
export function createRenderer(deps: RenderDeps): Renderer {
  return {
    width: 0,
    schemaVersion: deps.xsd?.version,
    render: async (projects, startedAt) => await renderBatch(deps, projects, startedAt, nextTurn),
  }
}

/**
 * Renders a batch; `afterEach` is awaited between two projects. Throws only for what is wrong in the program: whatever a
 * project says becomes a text or a notice.
 */
export async function renderBatch(
  deps: RenderDeps,
  projects: readonly RenderSource[],
  startedAt: Date,
  afterEach?: () => Promise<unknown>,
): Promise<RenderedProject[]> {
  const mapped = []
  for (const { stale, source } of projects) {
    mapped.push(mapProject(deps, startedAt, stale, toProjectGraph(source)))
    await afterEach?.()
  }
  const checking = startStage(deps.onStage, 'xsd')
  const verdicts = deps.xsd?.validate(
    mapped.map(({ text }) => text),
    'activity',
  )
  checking?.()
  await afterEach?.()
  return mapped.map((one, index) => toRendered(deps, startedAt, one, verdicts?.[index] ?? []))
}
