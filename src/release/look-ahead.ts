import { hash } from 'node:crypto'
import { projectGraphs } from '../catalogue/sql/project-graphs.js'
import { inputKey } from '../iati/input-key.js'
import { type MappedActivity, newIdentifier, toActivity } from '../iati/mapping/activity.js'
import { type AssumptionName, assumptions, newestEdition, statementOf } from '../iati/mapping/assumptions.js'
import { readKept } from '../iati/mapping/kept.js'
import type { MappingConfig } from '../iati/mapping/mapping-config.js'
import { isoDateOf } from '../kernel/dates.js'
import { hasError } from '../kernel/notice.js'
import type { ProjectGraph } from '../kernel/project.js'
import { refuseAborted } from '../kernel/refuse-aborted.js'
import type { Element } from '../kernel/xml/element.js'
import { parseElement, recordLimits } from '../kernel/xml/reader.js'
import { writeElement } from '../kernel/xml/writer.js'
import type { Db } from '../platform/database/connection.js'
import {
  type ChangedElement,
  differences,
  differing,
  type IndexedRelease,
  publishedActivity,
} from './read/changed-elements.js'
import { neverPublishable } from './sql/renderings.js'
import { everyProject, madeByOtherRules, type StaleProject } from './sql/stale-projects.js'

/** How many activities, with the identifiers of the first three. */
type Counted = { count: number; readonly examples: string[] }

/** An assumption with the activities that state it. */
export type CountedAssumption = Readonly<Counted> & {
  readonly name: AssumptionName
  readonly element: string
  readonly states: string
  readonly reason: string
  readonly clause: string
  readonly change: string
}

/** An element, or an attribute as `@name`, with the activities in which it changes and the first three of them. */
export type CountedChange = {
  readonly element: string
  readonly count: number
  readonly examples: readonly { readonly identifier: string; readonly before: string; readonly after: string }[]
}

/** What the next publication would change in the activities of the live release. */
type NextChanges = {
  readonly release: string | undefined
  readonly changed: number
  readonly added: number
  readonly elements: readonly CountedChange[]
}

export type LookAhead = {
  readonly activities: number
  readonly facts: readonly CountedAssumption[]
  /** What the newest edition of the assumptions would change. */
  readonly changes: readonly CountedChange[]
  readonly next: NextChanges
}

type MappingDeps = {
  readonly db: Db
  readonly config: MappingConfig
  readonly now: Date
}

type LookingDeps = MappingDeps & {
  /** The live release; undefined: there is none. */
  readonly live: IndexedRelease | undefined
  readonly signal: AbortSignal
  readonly onProgress: (done: number) => void
}

const batch = 100
const longestExample = 120

/**
 * What would be published of every project that nobody states, in the order of the declaration, what the newest edition
 * would change, and what differs from the live release. Projects that are held and were never published are left out.
 */
export async function lookAhead(deps: LookingDeps): Promise<LookAhead> {
  const { config } = deps
  const found = new Map<AssumptionName, Counted>()
  const [edition, next] = [new Changes(), new LiveChanges(deps.live)]
  const newest = config.edition === newestEdition ? undefined : { ...config, edition: newestEdition }
  let activities = 0
  for await (const { identifier, map } of mappedActivities(deps)) {
    activities += 1
    const { element, assumed } = map(config)
    for (const name of assumed) count(found, name, identifier)
    if (newest) edition.add(identifier, differences(element, map(newest).element))
    await next.add(identifier, element)
  }
  const names = Object.keys(assumptions) as AssumptionName[]
  const facts = names.flatMap((name): CountedAssumption[] => {
    const counted = found.get(name)
    const { element, reason, clause, change } = assumptions[name]
    const states = statementOf(name, config)
    return counted ? [{ name, element, states, ...counted, reason, clause: `iati.md ${clause}`, change }] : []
  })
  return { activities, facts, changes: edition.counted(), next: next.value() }
}

/** What rules or a configuration that are new since the last publication would change. */
export type RuleChanges = NextChanges & {
  /** How many activities were made by other rules or another configuration, and how many of them were looked at. */
  readonly stale: number
  readonly looked: number
}

/** Looks at `most` of the activities that were made by other rules; undefined: there are none. */
export async function lookAtNewRules(
  deps: MappingDeps,
  openLive: () => Promise<IndexedRelease | undefined>,
  most: number,
): Promise<RuleChanges | undefined> {
  const { count: stale, sample } = await madeByOtherRules(deps.db, inputKey(deps.config), most)
  if (stale === 0) return undefined
  const next = new LiveChanges(await openLive())
  for (const id of sample) {
    const one = await mapOneProject(deps, id)
    if (one && !hasError(one.activity.notices)) await next.add(one.identifier, one.activity.element)
  }
  return { stale, looked: sample.length, ...next.value() }
}

function count(counts: Map<AssumptionName, Counted>, name: AssumptionName, identifier: string): void {
  const known = counts.get(name) ?? { count: 0, examples: [] }
  known.count += 1
  if (known.examples.length < 3) known.examples.push(identifier)
  counts.set(name, known)
}

/** Changes of activities, counted by element. */
class Changes {
  readonly #counts = new Map<string, { count: number; examples: CountedChange['examples'][number][] }>()

  add(identifier: string, changed: readonly ChangedElement[]): void {
    for (const one of changed) {
      const known = this.#counts.get(one.name) ?? { count: 0, examples: [] }
      known.count += 1
      if (known.examples.length < 3) known.examples.push({ identifier, ...differing(one, longestExample) })
      this.#counts.set(one.name, known)
    }
  }

  /** The most frequent first. */
  counted(): CountedChange[] {
    return [...this.#counts].map(([element, counted]) => ({ element, ...counted })).sort((a, b) => b.count - a.count)
  }
}

/** Changes of activities of the live release, by what they would be. */
class LiveChanges {
  readonly #live: IndexedRelease | undefined
  readonly #changes = new Changes()
  #changed = 0
  #added = 0

  constructor(live: IndexedRelease | undefined) {
    this.#live = live
  }

  async add(identifier: string, element: Element): Promise<void> {
    const row = this.#live?.index?.rowOf(identifier)
    if (!this.#live?.index || row === undefined) {
      this.#added += 1
      return
    }
    const text = Buffer.from(writeElement(element))
    if (this.#live.index.entry(row).hash === hash('sha256', text, 'base64url')) return
    const published = await publishedActivity(this.#live, identifier)
    // Read back, as the published one is.
    const changed = published ? differences(published, parseElement(text, recordLimits)) : []
    if (changed.length > 0) this.#changed += 1
    this.#changes.add(identifier, changed)
  }

  value(): NextChanges {
    const elements = this.#changes.counted()
    return { release: this.#live?.release.id, changed: this.#changed, added: this.#added, elements }
  }
}

/** One project as it would be published now; undefined where there is none. */
export async function mapOneProject(
  { db, config, now }: MappingDeps,
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

async function* mappedActivities({ db, config, now, signal, onProgress }: LookingDeps) {
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
    onProgress(done)
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
