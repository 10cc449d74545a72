import { projectGraphs } from '../../catalogue/sql/project-graphs.js'
import { type MappedActivity, newIdentifier, toActivity } from '../../iati/mapping/activity.js'
import { type AssumptionName, assumptions, newestEdition, statementOf } from '../../iati/mapping/assumptions.js'
import { readKept } from '../../iati/mapping/kept.js'
import type { MappingConfig } from '../../iati/mapping/mapping-config.js'
import { isoDateOf } from '../../kernel/dates.js'
import { hasError } from '../../kernel/notice.js'
import type { ProjectGraph } from '../../kernel/project.js'
import { refuseAborted } from '../../kernel/refuse-aborted.js'
import type { Element } from '../../kernel/xml/element.js'
import { writeElement } from '../../kernel/xml/writer.js'
import type { Db } from '../../platform/database/connection.js'
import { neverPublishable } from '../sql/renderings.js'
import { everyProject, type StaleProject } from '../sql/stale-projects.js'

/** How many activities, with the identifiers of the first three. */
type Counted = { count: number; examples: string[] }

/** An assumption with the activities that state it. */
export type CountedAssumption = Readonly<Counted> & {
  readonly name: AssumptionName
  readonly element: string
  readonly states: string
  readonly reason: string
  readonly clause: string
  readonly change: string
}

/** What changes in activities once the newest edition is confirmed: an element, or an attribute as `@name`. */
export type CountedChange = Readonly<Counted> & { readonly element: string }

export type CountedAssumptions = {
  readonly activities: number
  readonly facts: readonly CountedAssumption[]
  readonly changes: readonly CountedChange[]
}

type CountingDeps = {
  readonly db: Db
  readonly config: MappingConfig
  readonly now: Date
  readonly signal: AbortSignal
  readonly onProgress: (done: number, total: number | undefined) => void
}

const batch = 100

/**
 * What would be published of every project that nobody states, in the order of the declaration, and what the newest edition
 * would change. Projects that are held and were never published are left out.
 */
export async function countAssumptions(deps: CountingDeps): Promise<CountedAssumptions> {
  const { config } = deps
  const [found, changed] = [new Map<AssumptionName, Counted>(), new Map<string, Counted>()]
  const newest = config.edition === newestEdition ? undefined : { ...config, edition: newestEdition }
  let activities = 0
  for await (const { identifier, map } of mappedActivities(deps)) {
    activities += 1
    const { element, assumed } = map(config)
    for (const name of assumed) count(found, name, identifier)
    if (newest) for (const name of differences(element, map(newest).element)) count(changed, name, identifier)
  }
  const names = Object.keys(assumptions) as AssumptionName[]
  const facts = names.flatMap((name): CountedAssumption[] => {
    const counted = found.get(name)
    const { element, reason, clause, change } = assumptions[name]
    const states = statementOf(name, config)
    return counted ? [{ name, element, states, ...counted, reason, clause: `iati.md ${clause}`, change }] : []
  })
  return { activities, facts, changes: [...changed].map(([element, counted]) => ({ element, ...counted })) }
}

function count<Name>(counts: Map<Name, Counted>, name: Name, identifier: string): void {
  const known = counts.get(name) ?? { count: 0, examples: [] }
  known.count += 1
  if (known.examples.length < 3) known.examples.push(identifier)
  counts.set(name, known)
}

/** The names of attributes and children that differ. */
function differences(before: Element, after: Element): string[] {
  const [old, now] = [partsOf(before), partsOf(after)]
  return [...new Set([...old.keys(), ...now.keys()])].filter((name) => old.get(name) !== now.get(name))
}

function partsOf({ attributes, children }: Element): Map<string, string> {
  const parts = new Map(Object.entries(attributes).map(([name, value]) => [`@${name}`, value ?? '']))
  for (const child of children) parts.set(child.name, (parts.get(child.name) ?? '') + writeElement(child))
  return parts
}

/** One project as it would be published now; undefined where there is none. */
export async function mapOneProject(
  { db, config, now }: Pick<CountingDeps, 'db' | 'config' | 'now'>,
  projectId: number,
): Promise<
  { readonly graph: ProjectGraph; readonly identifier: string; readonly activity: MappedActivity } | undefined
> {
  const [one] = await everyProject(db, config.reportingOrg.ref, projectId - 1, 1)
  const [source] = await projectGraphs(db, [projectId])
  if (one?.projectId !== projectId || !source) return undefined
  const graph = await withKeptRead(source)
  const identifier = one.identifier ?? newIdentifier(config, graph.project)
  return { graph, identifier, activity: toActivity(graph, config, isoDateOf(now), identifier) }
}

async function* mappedActivities({ db, config, now, signal, onProgress }: CountingDeps) {
  const day = isoDateOf(now)
  let done = 0
  for (let after = 0; ; ) {
    refuseAborted(signal, 'counting')
    const projects = await everyProject(db, config.reportingOrg.ref, after, batch)
    const last = projects.at(-1)
    if (!last) return
    after = last.projectId
    const ids = projects.map(({ projectId }) => projectId)
    const held = await neverPublishable(db, ids)
    const known = new Map(projects.map((one) => [one.projectId, one]))
    for (const source of await projectGraphs(db, ids)) {
      const one = known.get(source.project.id)
      if (one === undefined || held.has(one.projectId)) continue
      const graph = await withKeptRead(source)
      const identifier = one.identifier ?? newIdentifier(config, graph.project)
      const map = (by: MappingConfig) => toActivity(graph, by, day, identifier)
      if (!isTaken(one, graph) && !hasError(map(config).notices)) yield { identifier, map }
    }
    done += projects.length
    onProgress(done, undefined)
  }
}

async function withKeptRead(graph: ProjectGraph): Promise<ProjectGraph> {
  const { kept } = graph
  return kept ? { ...graph, kept: { ...kept, read: await readKept(kept) } } : graph
}

/** Whether another project has the identifier that this one would get, which holds it. */
function isTaken({ identifier, defaultTakenBy }: StaleProject, { project }: ProjectGraph): boolean {
  return identifier === undefined && defaultTakenBy !== undefined && project.iatiIdentifier === undefined
}
