import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import type { ProjectGraph } from '../../../src/domain/project.js'
import { newIdentifier, toActivity } from '../../../src/feeds/iati/activity.js'
import { projectGraphs } from '../../../src/store/project-graphs.js'
import { seed } from '../../../src/store/seed.js'
import type { Store } from '../../../src/store/store.js'
import { parseProjectRecord } from '../../../src/sync/project-record.js'
import { fromElement, type WireValue } from '../../../src/sync/wire-value.js'
import { validateActivity } from '../../../src/validation/index.js'
import type { Element } from '../../../src/xml/element.js'
import { parseElement, recordLimits } from '../../../src/xml/reader.js'
import { writeElement } from '../../../src/xml/writer.js'
import { listen, testApi } from '../../support/api.js'
import { aGraph, day, mappingConfig, usd } from '../../support/builders.js'
import { testDatabase } from '../../support/database.js'
import { sync } from '../../support/sync.js'
import { startUpstream, type UpstreamRecord } from '../../support/upstream-server.js'

const today = day('2026-11-21')
const clock = () => new Date('2026-11-21T09:00:00Z')

async function allGraphs(store: Store): Promise<ProjectGraph[]> {
  const { rows } = await store.db.query<{ id: number }>('select id from project order by id')
  return await projectGraphs(
    store.db,
    rows.map(({ id }) => id),
  )
}

function activityOf(graph: ProjectGraph): Element {
  return toActivity(graph, mappingConfig, today, newIdentifier(mappingConfig, graph.project.id)).element
}

// What the wire record carries of a project (wire contract 3.1); the rest is the operator's own and made equal.
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

const elementsOf = (graph: ProjectGraph) => activityOf(wireGraph(graph)).children.map((child) => writeElement(child))

describe('another instance of this service as the upstream', () => {
  let theirs: Store
  let ours: Store
  let url: string
  let apiKey: string
  let asked: string[]

  beforeAll(async () => {
    theirs = (await testDatabase()).store
    ours = (await testDatabase()).store
    await seed(theirs, {
      projects: 300,
      source: 'local',
      today,
      currency: usd,
      baseUrl: 'https://giving.example',
      firstId: 1,
    })
    // Old enough that nothing of it is a recent change.
    await theirs.db.query(`update project_version set changed_at = changed_at - interval '1 day'`)
    const api = await testApi(theirs)
    asked = []
    api.app.addHook('onRequest', async (request) => void asked.push(request.url))
    ;({ apiKey } = api)
    url = await listen(api.app)
  })

  const syncing = (kind: 'full' | 'incremental') => sync(ours, url, kind, { apiKey, clock })

  test('is mirrored whole: every element that the wire record can carry, and the money in sum', async () => {
    const run = await syncing('full')
    expect(run).toMatchObject({ state: 'done', created: 300, refused: 0 })
    const [from, to] = [await allGraphs(theirs), await allGraphs(ours)]
    expect(to).toHaveLength(300)
    for (const [index, graph] of from.entries()) {
      const mirrored = to[index]
      if (!mirrored) throw new Error(`project ${graph.project.id} is missing`)
      // Reports and galleries of inactive projects are not served (410), so they cannot be mirrored.
      const wanted = graph.project.active ? graph : { ...graph, reports: [], photos: graph.photos.slice(0, 1) }
      expect(elementsOf(mirrored), `project ${graph.project.id}`).toEqual(elementsOf(wanted))
    }
    const funds = `select project_id, sum(amount)::text as sum from donation_month where kind <> 'fee' group by 1
      having sum(amount) <> 0 order by 1`
    expect((await ours.db.query(funds)).rows).toEqual((await theirs.db.query(funds)).rows)
  })

  test('gives no more than what has changed, with no more requests than that needs', async () => {
    await theirs.db.query(`update project set title = title || ' (new)' where id % 10 = 3`)
    asked.length = 0
    const before = await ours.db.query<{ project_id: number; version: number }>(
      'select project_id, version from project_version',
    )
    expect(await syncing('incremental')).toMatchObject({
      state: 'done',
      created: 0,
      changed: 30,
      unchanged: 0,
      refused: 0,
    })
    expect(asked).toHaveLength(1)
    const versions = new Map(before.rows.map((row) => [row.project_id, row.version]))
    const after = await ours.db.query<{ project_id: number; version: number }>(
      'select project_id, version from project_version',
    )
    expect(after.rows.filter((row) => versions.get(row.project_id) !== row.version)).toHaveLength(30)
    expect(await syncing('incremental')).toMatchObject({ changed: 0 })
  })
})

// Real records of a real platform are kept beside the checkout, not in it.
const sample = path.resolve(import.meta.dirname, '../../../../shared/samples/projects.xml')
const present = existsSync(sample)
if (!present) console.info('real records by sync: skipped, ../shared/samples/projects.xml is not here')

describe.runIf(present)('real records', () => {
  const lists = new Set(['theme', 'country', 'imagelink', 'donationOption', 'video'])
  const numbers = new Set([
    'id',
    'goal',
    'funding',
    'remaining',
    'numberOfDonations',
    'numberOfReports',
    'imageGallerySize',
  ])

  /** The record as JSON servers write it: lists are lists, numbers are numbers, theme codes stay text. */
  function toJson(value: WireValue, name: string, parent: string): unknown {
    if (Array.isArray(value)) return value.flatMap((item) => toJson(item, name, parent))
    if (typeof value === 'object' && value !== null) {
      const object = Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, toJson(inner, key, name)]))
      return lists.has(name) ? [object] : object
    }
    if (numbers.has(name) && parent !== 'theme' && value !== '') return Number(value)
    return value === 'true' || value === 'false' ? value === 'true' : value
  }

  test.each(['xml', 'json'] as const)(
    'served page by page as %s arrive field for field and map to valid activities',
    async (format) => {
      const { store } = await testDatabase()
      const elements = parseElement(readFileSync(sample), recordLimits).children.filter(
        ({ name }) => name === 'project',
      )
      const values = elements.map(fromElement)
      await using upstream = Object.assign(
        await startUpstream({
          format,
          records: values
            .map((value) => toJson(value, 'project', '') as UpstreamRecord)
            .map((record) => ({ ...record, id: Number(record.id) })),
        }),
        { [Symbol.asyncDispose]: () => upstream.close() },
      )
      expect(await sync(store, upstream.url, 'full')).toMatchObject({ state: 'done', created: 50, refused: 0 })
      const graphs = new Map((await allGraphs(store)).map((graph) => [graph.project.id, graph]))
      for (const value of values) {
        const reading = parseProjectRecord(value)
        if (!('record' in reading)) throw new Error('a real record cannot be read')
        const { record } = reading
        const graph = graphs.get(record.id)
        if (!graph) throw new Error(`project ${record.id} is missing`)
        const stored: Record<string, unknown> = {
          ...graph.project,
          countries: graph.countries.map(({ code, name }) => ({ code, name })),
          themes: graph.themes.map(({ id, name }) => ({ id, name })),
          videos: graph.videos,
          donationOptions: graph.donationOptions,
          organisation: graph.organisation?.name,
          image: graph.photos[0]?.renditions,
        }
        const expected: Record<string, unknown> = {
          ...record,
          organisation: record.organisation?.name,
          image: record.image?.renditions,
        }
        for (const name of Object.keys(expected)) {
          if (name === 'unknownFields') continue
          expect(comparable(stored[name]), `${name} of project ${record.id}`).toEqual(comparable(expected[name]))
        }
        const errors = validateActivity(activityOf(graph), { today, reportingOrgRef: mappingConfig.reportingOrg.ref })
        expect(errors.filter(({ severity }) => severity === 'error')).toEqual([])
      }
    },
  )
})

/** Decimals without the zeros that a column's scale adds. */
function comparable(value: unknown): unknown {
  if (typeof value === 'string' && /^-?\d+(\.\d+)?$/.test(value)) return String(Number(value))
  if (Array.isArray(value)) return value.map(comparable)
  if (typeof value === 'object' && value !== null && !(value instanceof Date)) {
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, comparable(inner)]))
  }
  return value
}
