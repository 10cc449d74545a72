import type { FastifyInstance } from 'fastify'
import { projectGraphs } from '../../../src/catalogue/sql/project-graphs.js'
import type { SyncSummary } from '../../../src/catalogue/sql/sync-runs.js'
import { seed } from '../../../src/demo/sql/seed.js'
import { newIdentifier, toActivity } from '../../../src/iati/mapping/activity.js'
import type { ProjectGraph } from '../../../src/kernel/project.js'
import type { Element } from '../../../src/kernel/xml/element.js'
import { writeElement } from '../../../src/kernel/xml/writer.js'
import type { Store } from '../../../src/platform/database/store.js'
import type { SyncKind } from '../../../src/work/run.js'
import { listen, testApi } from '../api/api.js'
import { testDatabase } from '../store/database.js'
import { aGraph, day, mappingConfig, usd } from '../values/builders.js'
import { sync } from './sync.js'

/** The day that mirrors of tests are mapped on. */
export const today = day('2026-11-21')

/** Everything in the store that activities are made of, in id order, a thousand at a time. */
export async function* allGraphs(store: Store): AsyncGenerator<ProjectGraph> {
  const { rows } = await store.db.query<{ id: number }>('select id from project order by id')
  for (let from = 0; from < rows.length; from += 1000) {
    const ids = rows.slice(from, from + 1000).map(({ id }) => id)
    yield* await projectGraphs(store.db, ids)
  }
}

export function activityOf(graph: ProjectGraph): Element {
  return toActivity(graph, mappingConfig, today, newIdentifier(mappingConfig, graph.project)).element
}

// What the wire record carries of a project (wire.md 3.1); the rest is the operator's own and made equal.
const onTheWire = new Set(
  `id active status type title summary need longTermImpact activities notice additionalDocumentation contactName
  contactTitle contactAddress contactAddress2 contactCity contactState contactPostal contactCountry contactUrl projectLink
  progressReportLink themeName countryName countryCode regionName goal funding remaining numberOfDonations
  numberOfReports dateOfMostRecentReport imageLink imageTitle imageGallerySize latitude longitude approvedDate
  modifiedDate`.split(/\s+/),
)

/** The graph with what no record carries made equal: money by month, payouts, shares, consent, the operator's decisions. */
function wireGraph(graph: ProjectGraph): ProjectGraph {
  const { organisation, themes, videos, donationOptions, reports } = graph
  // Where people are at risk the record has no coordinates.
  const hidden = graph.project.locationPrecision === 'country' ? ['latitude', 'longitude'] : []
  const fields = Object.entries(graph.project).filter(([name]) => onTheWire.has(name) && !hidden.includes(name))
  const { organisation: _, ...blank } = aGraph()
  return {
    ...blank,
    project: {
      ...(Object.fromEntries(fields) as ProjectGraph['project']),
      paused: false,
      locationPrecision: 'point',
      firstSeenOn: today,
      source: 'upstream',
    },
    ...(organisation && { organisation: withoutIdentity(organisation) }),
    ...{ themes, videos, donationOptions, reports },
    countries: graph.countries.map(({ code, name }) => ({ code, name })),
    photos: graph.photos.map(({ takenOn: __, ...photo }) => ({
      ...photo,
      // A picture without a title of its own is served under its project's.
      title: photo.title ?? graph.project.title,
      consent: true,
    })),
  }
}

function withoutIdentity<T extends { orgRef?: unknown; orgType?: unknown }>({ orgRef: _, orgType: __, ...rest }: T) {
  return rest
}

/** The activity's elements as text, what no record carries made equal. */
const elementsOf = (graph: ProjectGraph) => activityOf(wireGraph(graph)).children.map((child) => writeElement(child))

/** An instance of this service with invented projects as the upstream, and an empty mirror of it. */
export type ServiceMirror = {
  readonly theirs: Store
  readonly ours: Store
  readonly app: FastifyInstance
  /** Paths that were asked for; empty it to begin counting. */
  readonly asked: string[]
  sync(kind: SyncKind): Promise<SyncSummary>
}

export async function serviceMirror(projects: number): Promise<ServiceMirror> {
  const theirs = (await testDatabase()).store
  const ours = (await testDatabase()).store
  await seed(theirs, { projects, source: 'local', today, currency: usd, baseUrl: 'https://giving.example', firstId: 1 })
  // Old enough that nothing of it is a recent change.
  await theirs.db.query(`update project_version set changed_at = changed_at - interval '1 day'`)
  const { app, apiKey } = await testApi(theirs)
  const asked: string[] = []
  app.addHook('onRequest', async (request) => void asked.push(request.url))
  const url = await listen(app)
  return { theirs, ours, app, asked, sync: (kind) => sync(ours, url, kind, { apiKey }) }
}

/** The first project of which the mirror's activity differs in what the record carries, and both texts. */
export async function firstDifference({ theirs, ours }: Pick<ServiceMirror, 'theirs' | 'ours'>) {
  const mirrored = allGraphs(ours)
  for await (const graph of allGraphs(theirs)) {
    // Reports and galleries of inactive projects are not served (410), so they cannot be mirrored.
    const wanted = graph.project.active ? graph : { ...graph, reports: [], photos: graph.photos.slice(0, 1) }
    const next = await mirrored.next()
    const is = next.done ? ['missing'] : elementsOf(next.value)
    const should = elementsOf(wanted)
    if (JSON.stringify(is) !== JSON.stringify(should)) return { project: graph.project.id, is, should }
  }
  return undefined
}

/** Incoming funds of each project. */
export async function fundsOf(store: Store): Promise<object[]> {
  const { rows } = await store.db.query<object>(
    `select project_id, sum(amount)::text as sum from donation_month where kind <> 'fee' group by 1
     having sum(amount) <> 0 order by 1`,
  )
  return rows
}
