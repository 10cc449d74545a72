import { readFileSync } from 'node:fs'
import { beforeAll, describe, expect, test } from 'vitest'
import { fromElement, type ParsedValue } from '../../../../src/catalogue/wire/read/parsed-value.js'
import { parseProjectRecord } from '../../../../src/catalogue/wire/read/project-record.js'
import { validateActivity } from '../../../../src/iati/validation/index.js'
import { isoDateOf } from '../../../../src/kernel/dates.js'
import type { ProjectGraph } from '../../../../src/kernel/project.js'
import { parseElement, recordLimits } from '../../../../src/kernel/xml/reader.js'
import {
  activityOf,
  allGraphs,
  firstDifference,
  fundsOf,
  type ServiceMirror,
  serviceMirror,
  today,
} from '../../../support/catalogue/service-mirror.js'
import { sync } from '../../../support/catalogue/sync.js'
import { startUpstream, type UpstreamRecord } from '../../../support/servers/upstream-server.js'
import { testDatabase } from '../../../support/store/database.js'
import { realRecords } from '../../../support/values/borrowed-files.js'
import { mappingConfig } from '../../../support/values/builders.js'

describe('another instance of this service as the upstream', { shuffle: false }, () => {
  let mirror: ServiceMirror

  beforeAll(async () => {
    mirror = await serviceMirror(300)
  })

  test('is mirrored whole: every element that the wire record can carry, and the money in sum', async () => {
    expect(await mirror.sync('full')).toMatchObject({ state: 'done', created: 300, refused: 0 })
    expect(await firstDifference(mirror)).toBeUndefined()
    expect(await fundsOf(mirror.ours)).toEqual(await fundsOf(mirror.theirs))
  })

  test('gives no more than what has changed, with no more requests than that needs', async () => {
    const { theirs, ours, asked } = mirror
    const versions = async () => {
      const { rows } = await ours.db.query<{ id: number; version: number }>(
        'select project_id as id, version from project_version',
      )
      return new Map(rows.map(({ id, version }) => [id, version]))
    }
    const before = await versions()
    await theirs.db.query(`update project set title = title || ' (new)' where id % 10 = 3`)
    asked.length = 0
    expect(await mirror.sync('incremental')).toMatchObject({
      state: 'done',
      created: 0,
      changed: 30,
      unchanged: 0,
      refused: 0,
    })
    expect(asked).toHaveLength(1)
    expect([...(await versions())].filter(([id, version]) => before.get(id) !== version)).toHaveLength(30)
    expect(await firstDifference(mirror)).toBeUndefined()
  })
})

const sample = realRecords('a sync of real records') ?? ''

describe.runIf(sample !== '')('real records', () => {
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
  function toJson(value: ParsedValue, name: string, parent: string): unknown {
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
      const graphs = new Map<number, ProjectGraph>()
      for await (const graph of allGraphs(store)) graphs.set(graph.project.id, graph)
      for (const value of values) {
        const reading = parseProjectRecord(value, isoDateOf(new Date()))
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
