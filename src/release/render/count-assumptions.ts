import { projectGraphs } from '../../catalogue/sql/project-graphs.js'
import { newIdentifier, toActivity } from '../../iati/mapping/activity.js'
import { type AssumptionName, assumptions, statementOf } from '../../iati/mapping/assumptions.js'
import { readKept } from '../../iati/mapping/kept.js'
import type { MappingConfig } from '../../iati/mapping/mapping-config.js'
import { isoDateOf } from '../../kernel/dates.js'
import { hasError } from '../../kernel/notice.js'
import type { ProjectGraph } from '../../kernel/project.js'
import { refuseAborted } from '../../kernel/refuse-aborted.js'
import type { Db } from '../../platform/database/connection.js'
import { neverPublishable } from '../sql/renderings.js'
import { everyProject, type StaleProject } from '../sql/stale-projects.js'

/** An assumption with the activities that state it. */
export type CountedAssumption = {
  readonly name: AssumptionName
  readonly element: string
  readonly states: string
  readonly count: number
  /** Identifiers of the first three. */
  readonly examples: readonly string[]
  readonly reason: string
  readonly clause: string
  readonly change: string
}

type CountingDeps = {
  readonly db: Db
  readonly config: MappingConfig
  readonly now: Date
  readonly signal: AbortSignal
  readonly onProgress: (done: number, total: number | undefined) => void
}

const batch = 100

/** What would be published of every project that nobody states, in the order of the declaration. */
export async function countAssumptions(
  deps: CountingDeps,
): Promise<{ readonly activities: number; readonly facts: readonly CountedAssumption[] }> {
  const found = new Map<AssumptionName, { count: number; examples: string[] }>()
  let activities = 0
  for await (const { identifier, assumed } of assumedOfActivities(deps)) {
    activities += 1
    for (const name of assumed) {
      const known = found.get(name) ?? { count: 0, examples: [] }
      known.count += 1
      if (known.examples.length < 3) known.examples.push(identifier)
      found.set(name, known)
    }
  }
  const names = Object.keys(assumptions) as AssumptionName[]
  const facts = names.flatMap((name): CountedAssumption[] => {
    const counted = found.get(name)
    const { element, reason, clause, change } = assumptions[name]
    const states = statementOf(name, deps.config)
    return counted ? [{ name, element, states, ...counted, reason, clause: `iati.md ${clause}`, change }] : []
  })
  return { activities, facts }
}

/** Maps every project that is not held without ever having been published. */
async function* assumedOfActivities({ db, config, now, signal, onProgress }: CountingDeps) {
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
    for (const graph of await projectGraphs(db, ids)) {
      const one = known.get(graph.project.id)
      if (one === undefined || held.has(one.projectId)) continue
      const mapped = await mapAlone(graph, one, config, now)
      if (mapped) yield mapped
    }
    done += projects.length
    onProgress(done, undefined)
  }
}

async function mapAlone(source: ProjectGraph, stale: StaleProject, config: MappingConfig, now: Date) {
  const { kept } = source
  const graph = kept ? { ...source, kept: { ...kept, read: await readKept(kept) } } : source
  const identifier = stale.identifier ?? newIdentifier(config, graph.project)
  const { assumed, notices } = toActivity(graph, config, isoDateOf(now), identifier)
  const isTaken = stale.identifier === undefined && stale.defaultTakenBy !== undefined && !graph.project.iatiIdentifier
  return hasError(notices) || isTaken ? undefined : { identifier, assumed }
}
