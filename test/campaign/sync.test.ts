import type { ServerResponse } from 'node:http'
import type { Readable } from 'node:stream'
import { json } from 'node:stream/consumers'
import { createGzip } from 'node:zlib'
import { describe, expect, onTestFinished, test } from 'vitest'
import { firstDifference, fundsOf, serviceMirror } from '../support/catalogue/service-mirror.js'
import { sync } from '../support/catalogue/sync.js'
import { forkStripped } from '../support/commands/cli.js'
import { readProjectFile, readTable } from '../support/documents/markdown-table.js'
import { apiKey, records, startUpstream, type UpstreamState } from '../support/servers/upstream-server.js'
import { testDatabase } from '../support/store/database.js'
import { killedSync } from './support/killed-sync.js'
import { record } from './support/record.js'
import { scaled } from './support/scale.js'

const hour = 3_600_000

test(
  '3,000 projects of another instance of this service are mirrored element for element',
  async () => {
    const mirror = await serviceMirror(3_000)
    expect(await mirror.sync('full')).toMatchObject({ state: 'done', created: 3_000, refused: 0 })
    expect(await firstDifference(mirror)).toBeUndefined()
    expect(await fundsOf(mirror.ours)).toEqual(await fundsOf(mirror.theirs))
  },
  hour,
)

test(
  '20 times kill -9 during one full sync repeat at most one page each and change nothing of its end',
  async () => {
    const { undisturbed, killed, repeated } = await killedSync({ projects: 1_000, kills: 20 })
    expect(repeated).toHaveLength(20)
    expect(Math.max(...repeated)).toBeLessThanOrEqual(1)
    expect(killed).toEqual(undisturbed)
  },
  hour,
)

const ten = 10_000
const costs = readTable(readProjectFile('docs/explanation/sync.md'), '| Requests |')
  .map((row) => row.map((cell) => Number(cell.replace(/,| projects/g, ''))))
  .filter(([projects = 0]) => projects <= ten || scaled(10) >= 10)

test.each(costs)(
  'what a mirror of %i projects costs its upstream: %i requests at first, %i in a night',
  async (projects, first, nightly) => {
    const { store } = await testDatabase()
    const atom = '<feed xmlns="http://www.w3.org/2005/Atom"><id>urn:x</id><title>F</title></feed>'
    const detailed = records(projects ?? 0).map((one) => ({
      ...{ ...one, funding: 100, remaining: 7_900 },
      ...{ numberOfReports: 1, imageGallerySize: 2 },
    }))
    const upstream = await startUpstream({
      ...{ since: true, pageSize: 100, records: detailed },
      reports: new Map(detailed.map(({ id }) => [id, { type: 'application/atom+xml', body: atom }])),
      galleries: new Map(detailed.map(({ id }) => [id, []])),
    })
    onTestFinished(upstream.close)
    expect(await sync(store, upstream.url, 'full')).toMatchObject({ state: 'done', created: projects, requests: first })
    const changed = detailed.slice(0, detailed.length / 100)
    for (const record of changed) {
      Object.assign(record, { numberOfReports: 2, imageGallerySize: 3 })
      upstream.state.changedAt.set(record.id, Date.now())
    }
    upstream.requests.length = 0
    const night = { state: 'done', changed: changed.length, requests: nightly }
    expect(await sync(store, upstream.url, 'incremental')).toMatchObject(night)
    expect(upstream.requests).toHaveLength(nightly ?? 0)
  },
  hour,
)

const gigabytes = 5 * 1024 ** 3

/** A full sync against such an upstream, in a process of its own. */
async function measured(state: Partial<UpstreamState>) {
  const { url } = await testDatabase()
  const upstream = await startUpstream({ records: records(200), ...state })
  try {
    const environment = {
      ...{ UPSTREAM_URL: upstream.url, UPSTREAM_API_KEY: apiKey, UPSTREAM_RATE: '10000' },
      ...{ REPORTING_ORG_REF: 'US-EIN-123456789', ALLOW_PRIVATE_NETWORKS: 'true' },
      FACTS_CONFIRMED: 'yes',
    }
    const options = [JSON.stringify({ url, environment })]
    const child = await forkStripped('test/campaign/support/sync-memory-process.ts', options, [
      'ignore',
      'pipe',
      'inherit',
      'ipc',
    ])
    return (await json(child.stdout as Readable)) as Measured
  } finally {
    await upstream.close()
  }
}

type Measured = {
  readonly state: string
  readonly created: number
  readonly records: number
  readonly reports: number
  readonly maxRssMb: number
  readonly maxDelayMs: number
  readonly error?: { readonly code: string }
}

function recordDelay(what: string, { maxDelayMs }: Measured): void {
  const outcome = `other work waited ${maxDelayMs} ms at most`
  record({ name: `a hostile upstream: ${what}`, engine: '-', tried: 1, outcome })
}

type Answer = (response: ServerResponse) => void
const onSecondPage =
  (answer: Answer): NonNullable<UpstreamState['fault']> =>
  (_request, response, url) => {
    if (url.searchParams.get('nextProjectId') !== '11') return false
    answer(response)
    return true
  }

describe('a hostile upstream takes less than 200 MB with', () => {
  test.each<[string, Answer]>([
    ['5 GB in one answer', (response) => pour(response, '<projects>', Buffer.alloc(65_536, 0x20))],
    ['5 GB behind gzip', bomb],
    ['one endless text', (response) => pour(response, '<projects><project><title>', Buffer.alloc(65_536, 0x61))],
    ['brackets without end', (response) => pour(response, '{"projects":', Buffer.alloc(65_536, 0x5b))],
  ])(
    '%s',
    async (_, answer) => {
      const run = await measured({ fault: onSecondPage(answer) })
      expect(run).toMatchObject({ state: 'failed', created: 10, error: { code: 'upstream-unusable' } })
      expect(run.maxRssMb).toBeLessThan(200)
    },
    hour,
  )

  test(
    'a bulk file of 5 GB that is one text, which is no harm',
    async () => {
      const run = await measured({
        download: '/files/all.xml',
        fault: (_request, response, url) => {
          if (url.pathname !== '/files/all.xml') return false
          pour(response, '<projects><project><title>', Buffer.alloc(65_536, 0x61))
          return true
        },
      })
      expect(run).toMatchObject({ state: 'done', created: 200 })
      expect(run.maxRssMb).toBeLessThan(200)
    },
    hour,
  )

  test(
    'a bulk file of 300 MB of good records',
    async () => {
      const [record] = records(1)
      const summary = 'a'.repeat(100_000)
      let id = 0
      const run = await measured({
        records: [],
        download: '/files/all.xml',
        fault: (_request, response, url) => {
          if (url.pathname !== '/files/all.xml') return false
          response.write('<projects>')
          const more = () => {
            while (!response.destroyed && id < 3_000) {
              const { title, funding } = record ?? { title: '', funding: 0 }
              const text = `<project><id>${++id}</id><active>true</active><status>active</status><title>${String(title).replaceAll(/[&<>]/g, '')}</title>
              <funding>${funding}</funding><summary>${summary}</summary></project>`
              if (!response.write(text)) return
            }
            if (id >= 3_000) response.end('</projects>')
          }
          response.on('drain', more)
          more()
          return true
        },
      })
      expect(run).toMatchObject({ state: 'done', created: 3_000 })
      expect(run.maxRssMb).toBeLessThan(200)
    },
    hour,
  )
})

const times = (count: number, one: (index: number) => string, between = '') =>
  Array.from({ length: count }, (_, index) => one(index)).join(between)

// Before answers were read in turns, other work waited 5 to 60 seconds for these.
describe('a hostile upstream fails the sync, beside other work, with', () => {
  const answers: readonly (readonly [what: string, body: string])[] = [
    [
      '740,000 attributes',
      `<projects>${times(7400, () => `<p${times(100, (n) => ` a${n}="12345678901"`)}/>`)}</projects>`,
    ],
    [
      '740,000 attributes of different names',
      `<projects>${times(7400, (nth) => `<p${times(100, (n) => ` a${nth}_${n}="1234567"`)}/>`)}</projects>`,
    ],
    ['1.2 million keys', `{"projects":{${times(1_200_000, (index) => `"k${index}":1`, ',')}}}`],
    ['a million levels', `{"projects":${'['.repeat(1_000_000)}`],
  ]
  test.each(answers)(
    '%s',
    async (what, body) => {
      const run = await measured({ fault: onSecondPage((response) => void response.end(body)) })
      expect(run).toMatchObject({ state: 'failed', created: 10, error: { code: 'upstream-unusable' } })
      recordDelay(`${what} (${body.length} bytes)`, run)
    },
    hour,
  )

  test(
    'reports of 750 KB that nest without end, or that are many and long',
    async () => {
      const entry = (id: number, content: string) => ({
        ...{ id: `https://a.example/${id}`, title: 'Report', published: '2026-10-02T08:00:00Z', content },
      })
      const feeds = [
        [entry(1, '<b>'.repeat(250_000)), entry(2, '<p>good</p>')],
        Array.from({ length: 100 }, (_, nth) => entry(10 + nth, '<p>long</p>'.repeat(11_000))),
        Array.from({ length: 100 }, (_, nth) => entry(200 + nth, '<'.repeat(130_000))),
      ]
      const list = records(3).map((record) => ({
        ...record,
        numberOfReports: 5,
        dateOfMostRecentReport: '2026-10-02T08:00:00Z',
      }))
      const reports = new Map(
        feeds.map((entries, index) => [
          index + 1,
          { type: 'application/json', body: JSON.stringify({ id: 'https://a.example/', entries }) },
        ]),
      )
      const run = await measured({ records: list, reports })
      expect(run).toMatchObject({ state: 'done', created: 3, reports: 1 + 33 + 30 })
      recordDelay('reports that nest without end, or are many and long', run)
    },
    hour,
  )
})

test(
  'an upstream that invents projects without end, and does not say how many, is stopped at 100,000',
  async () => {
    let from = 1
    const run = await measured({
      fault: (_request, response, url) => {
        if (!url.pathname.endsWith('/all/projects') || url.searchParams.has('modifiedSince')) return false
        const project = records(500, from)
        from += 500
        response.end(JSON.stringify({ projects: { project, hasNext: true, nextProjectId: from } }))
        return true
      },
    })
    expect(run).toMatchObject({ state: 'failed', records: 100_000, error: { code: 'upstream-unusable' } })
  },
  hour,
)

/** 5 GB as fast as they are taken. */
function pour(response: ServerResponse, head: string, block: Buffer): void {
  let left = gigabytes
  response.write(head)
  const more = () => {
    while (!response.destroyed && left > 0) {
      left -= block.length
      if (!response.write(block)) return
    }
    response.end()
  }
  response.on('drain', more)
  more()
}

function bomb(response: ServerResponse): void {
  response.writeHead(200, { 'content-encoding': 'gzip' })
  const gzip = createGzip()
  gzip.pipe(response)
  response.on('close', () => gzip.destroy())
  const block = Buffer.alloc(1024 * 1024, 0x20)
  let left = gigabytes
  const more = () => {
    while (!gzip.destroyed && left > 0) {
      left -= block.length
      if (!gzip.write(block)) return
    }
    if (!gzip.destroyed) gzip.end()
  }
  gzip.on('drain', more)
  gzip.on('error', () => undefined)
  more()
}
