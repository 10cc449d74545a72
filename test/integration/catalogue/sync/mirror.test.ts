import pino from 'pino'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { decideProjectState } from '../../../../src/catalogue/sql/project-states.js'
import { listSyncProblems, listSyncRuns } from '../../../../src/catalogue/sql/sync-runs.js'
import { pruneDatabase } from '../../../../src/release/sql/pruning.js'
import { forgetSyncs, mirrorContents, sync } from '../../../support/catalogue/sync.js'
import {
  aRecord,
  records,
  startUpstream,
  type TestUpstream,
  toXml,
  type UpstreamState,
} from '../../../support/servers/upstream-server.js'
import { testDatabase } from '../../../support/store/database.js'

let upstream: TestUpstream

const { store } = await testDatabase()
beforeEach(async () => {
  await forgetSyncs(store.db)
  upstream = await startUpstream({ records: records(25) })
})
afterEach(async () => await upstream.close())

const rows = async <T extends object>(sql: string) => (await store.db.query<T>(sql)).rows
const full = (changes = {}) => sync(store, upstream.url, 'full', changes)
const incremental = (changes = {}) => sync(store, upstream.url, 'incremental', changes)

describe('what is known of syncs', () => {
  test('goes after 90 days, but never the last good one nor what came after it', async () => {
    const day = 86_400_000
    const clock = { now: new Date('2026-06-01T03:00:00Z') }
    const fails: UpstreamState['fault'] = (_, response) => {
      response.writeHead(404).end()
      return true
    }
    const syncs = []
    for (const fault of [undefined, fails, undefined, fails]) {
      upstream.state.fault = fault
      const { id, state } = await full({ clock: () => clock.now })
      syncs.push([id, state])
      clock.now = new Date(clock.now.getTime() + day)
    }
    expect(syncs).toEqual([
      [1, 'done'],
      [2, 'failed'],
      [3, 'done'],
      [4, 'failed'],
    ])
    const left = async (days: number) => {
      await pruneDatabase(store.db, new Date(Date.parse('2026-06-01T03:00:00Z') + days * day), {
        ...{ keepReleases: 3, donorRetentionDays: undefined },
      })
      return (await listSyncRuns(store.db, 10)).map(({ id }) => id)
    }
    expect([await left(90), await left(90.5), await left(400)]).toEqual([
      [4, 3, 2, 1],
      [4, 3, 2],
      [4, 3],
    ])
  })
})

describe('a full sync', () => {
  test('mirrors every project with its organisation, themes and total', async () => {
    expect(await full()).toMatchObject({
      state: 'done',
      created: 25,
      changed: 0,
      unchanged: 0,
      refused: 0,
    })
    expect(await rows('select count(*), sum(funding)::text as funding from project')).toEqual([
      { count: 25, funding: '2825.000' },
    ])
    expect(await rows(`select distinct kind, source from donation_month`)).toEqual([
      { kind: 'opening', source: 'upstream' },
    ])
    expect(await rows('select min(last_on) as day from donation_month')).toEqual([{ day: '2025-12-25' }])
    expect(await rows('select count(*) from organisation')).toEqual([{ count: 7 }])
  })

  test('asks for each page once, in order, and says who asks', async () => {
    await full()
    const asked = upstream.asked('/all/projects').map((url) => url.searchParams.get('nextProjectId'))
    expect(asked).toEqual([null, null, '11', '21'])
    expect(upstream.requests.every((url) => url.searchParams.has('api_key'))).toBe(true)
  })

  test('gives the same mirror from XML as from JSON', async () => {
    await full()
    const { upstream_project: _, ...fromJson } = await mirrorContents(store)
    await forgetSyncs(store.db)
    upstream.state.format = 'xml'
    await full()
    const { upstream_project: __, ...fromXml } = await mirrorContents(store)
    expect(fromXml).toEqual(fromJson)
  })

  test('writes nothing when nothing has changed', async () => {
    await full()
    const versions = await rows('select project_id, version from project_version order by 1')
    expect(await full()).toMatchObject({ state: 'done', created: 0, changed: 0, unchanged: 25 })
    expect(await rows('select project_id, version from project_version order by 1')).toEqual(versions)
  })

  test('fills an empty mirror from the bulk file, then fetches what the file misses', async () => {
    upstream.state.download = '/files/projects.xml'
    upstream.state.fault = (_request, response, url) => {
      if (url.pathname !== '/files/projects.xml') return false
      response.writeHead(200, { 'content-type': 'application/xml' })
      response.end(toXml({ projects: { project: records(20) } }))
      return true
    }
    expect(await full()).toMatchObject({ state: 'done', created: 25, unchanged: 20 })
    upstream.requests.length = 0
    expect(await full()).toMatchObject({ state: 'done', created: 0, unchanged: 25 })
    expect(upstream.asked('projects.xml')).toEqual([])
  })

  test.each([
    [
      'two minutes before the bulk file was made',
      { 'last-modified': 'Sat, 21 Nov 2026 02:00:00 GMT' },
      /^2026-11-21T01:58:00/,
    ],
    ['two days and two minutes before now where the bulk file has no date', {}, /^2026-11-20T07:58:00/],
  ])('asks for what changed from %s', async (_since, headers, expected) => {
    upstream.state.download = '/files/projects.xml'
    upstream.state.since = true
    upstream.state.fault = (_request, response, url) => {
      if (url.pathname !== '/files/projects.xml') return false
      response.writeHead(200, { 'content-type': 'application/xml', ...headers })
      response.end(toXml({ projects: { project: records(20) } }))
      return true
    }
    await full({ clock: () => new Date('2026-11-22T08:00:00Z') })
    const asked = upstream.requests
      .map((url) => url.searchParams.get('modifiedSince'))
      .filter((since) => since !== null)
    expect(asked).toContainEqual(expect.stringMatching(expected))
  })
})

describe('an incremental sync', () => {
  test('is a full one as long as there was none', async () => {
    expect(await incremental()).toMatchObject({ state: 'done', created: 25 })
    expect(upstream.asked('/regions')).toHaveLength(1)
  })

  test('asks only for what changed where the upstream understands modifiedSince', async () => {
    upstream.state.since = true
    await full()
    upstream.requests.length = 0
    upstream.state.records = upstream.state.records.map((record) =>
      record.id % 5 === 0 ? aRecord(record.id, { title: 'Changed' }) : record,
    )
    for (const { id } of upstream.state.records) if (id % 5 === 0) upstream.state.changedAt.set(id, Date.now())
    expect(await incremental()).toMatchObject({ state: 'done', created: 0, changed: 5, unchanged: 0, requests: 1 })
    expect(upstream.requests).toHaveLength(1)
  })

  test('walks and compares where it does not, and remembers that', async () => {
    await full()
    upstream.requests.length = 0
    upstream.state.records[3] = aRecord(4, { title: 'Changed' })
    expect(await incremental()).toMatchObject({ state: 'done', changed: 1, unchanged: 24 })
    expect(upstream.requests).toHaveLength(3)
    expect(upstream.requests.some((url) => url.searchParams.has('modifiedSince'))).toBe(false)
  })

  test('books a higher total as a gift and a lower one as a correction of the current month', async () => {
    const clock = () => new Date('2026-03-10T08:00:00Z')
    await full({ clock })
    upstream.state.records[0] = aRecord(1, { funding: '151.50', numberOfDonations: 6 })
    upstream.state.records[1] = aRecord(2, { funding: 92 })
    await incremental({ clock })
    expect(
      await rows(
        `select project_id, kind, month, amount, count from donation_month where project_id < 3 order by 1, 3`,
      ),
    ).toEqual([
      { projectId: 1, kind: 'opening', month: '2025-12-01', amount: '101.000', count: 4 },
      { projectId: 1, kind: 'gift', month: '2026-03-01', amount: '50.500', count: 2 },
      { projectId: 2, kind: 'opening', month: '2025-12-01', amount: '102.000', count: 4 },
      { projectId: 2, kind: 'refund', month: '2026-03-01', amount: '-10.000', count: 0 },
    ])
  })
})

describe('what has vanished upstream', () => {
  test('becomes inactive, is never deleted, and comes back when it comes back', async () => {
    await full()
    const [lost] = upstream.state.records.splice(7, 1)
    expect(await full()).toMatchObject({ state: 'done', deactivated: 1 })
    expect(await rows('select id, active, status from project where not active')).toEqual([
      { id: 8, active: false, status: 'retired' },
    ])
    expect(await full()).toMatchObject({ deactivated: 0 })
    upstream.state.records.push(lost ?? aRecord(8))
    expect(await full()).toMatchObject({ changed: 1 })
    expect(await rows('select id from project where not active')).toEqual([])
  })

  test('is asked for once more: what only the list had missed stays', async () => {
    await full()
    const hidden = upstream.state.records[7]
    upstream.state.fault = (_request, response, url) => {
      if (!url.pathname.endsWith('/collection/ids')) return false
      response.end(JSON.stringify({ projects: { project: [hidden] } }))
      return true
    }
    upstream.state.records.splice(7, 1)
    expect(await full()).toMatchObject({ state: 'done', deactivated: 0, unchanged: 25 })
  })

  test('holds the run when it is a tenth of the catalogue, until a person accepts it', async () => {
    await full()
    upstream.state.records = records(12)
    const run = await full()
    expect(run).toMatchObject({ state: 'held', deactivated: 0, pages: 2 })
    expect(run.reason).toMatch(/offers 12 projects, 13 fewer than the 25/)
    expect(await rows('select count(*) from project where active')).toEqual([{ count: 25 }])
    expect(await full({ acceptLoss: true })).toMatchObject({ state: 'done', deactivated: 13 })
  })

  test('holds the run also when the upstream does not say how many projects it has', async () => {
    await full()
    upstream.state.fault = (_request, response, url) => {
      if (!url.pathname.endsWith('/all/projects') || url.searchParams.has('modifiedSince')) return false
      response.end(JSON.stringify({ projects: { project: records(12) } }))
      return true
    }
    expect(await full()).toMatchObject({ state: 'held', unchanged: 12, deactivated: 0 })
  })
})

describe("the operator's own rows", () => {
  test('are never overwritten: the upstream record is refused with a notice', async () => {
    await store.db.query(`insert into organisation (id, name, source) values (703, 'Ours', 'local')`)
    await store.db.query(
      `insert into project (id, organisation_id, active, status, title, source) values (2, 703, true, 'active', 'Ours', 'local'),
         (5, null, true, 'active', 'Imported', 'import')`,
    )
    upstream.state.organisations = [
      { id: 703, name: 'Theirs' },
      { id: 900, name: 'Without projects' },
    ]
    const run = await full()
    // Projects 2 and 5, and every project of organisation 703.
    expect(run).toMatchObject({ state: 'done', refused: 6, created: 19 })
    expect(await rows(`select id, title from project where source <> 'upstream' order by id`)).toEqual([
      { id: 2, title: 'Ours' },
      { id: 5, title: 'Imported' },
    ])
    expect(await rows('select id, name from organisation where id in (703, 900) order by id')).toEqual([
      { id: 703, name: 'Ours' },
      { id: 900, name: 'Without projects' },
    ])
    expect(await listSyncProblems(store.db, run.id, 10)).toContainEqual({
      subject: 'project 2',
      field: 'id',
      expected: 'an id that is new or from upstream',
      got: 'project 2, which is local',
    })
  })
})

describe('a state that an operator has decided on', () => {
  test('stays against what the upstream says, and the sync tells of it', async () => {
    await full()
    await store.transaction((db) => decideProjectState(db, 3, 'retired'))
    upstream.state.records[2] = aRecord(3, { title: 'Another title' })
    const run = await full()
    expect(run).toMatchObject({ state: 'done', changed: 1, refused: 0 })
    expect(await rows('select title, active, status from project where id = 3')).toEqual([
      { title: 'Another title', active: false, status: 'retired' },
    ])
    expect(await listSyncProblems(store.db, run.id, 10)).toMatchObject([
      { subject: 'project 3', field: 'active', expected: expect.stringContaining('retired'), got: 'active' },
    ])
  })
})

describe('records', () => {
  test('with a wrong value are refused, named, and not taken for vanished', async () => {
    await full()
    upstream.state.records[4] = aRecord(5, { funding: '1e3' })
    const run = await full()
    expect(run).toMatchObject({ state: 'done', refused: 1, deactivated: 0 })
    expect(await listSyncProblems(store.db, run.id, 10)).toMatchObject([
      { subject: 'project 5', field: 'funding', got: '1e3' },
    ])
  })

  test('keep the fields that nobody knows', async () => {
    upstream.state.records = [aRecord(1, { futureField: { deep: [1, '2'] } })]
    await full()
    expect(await rows('select unknown_fields from project')).toEqual([
      { unknownFields: { futureField: { deep: ['1', '2'] } } },
    ])
  })
})

const atom = (...entries: string[]) => ({
  type: 'application/atom+xml',
  body: `<?xml version="1.0"?><feed xmlns="http://www.w3.org/2005/Atom" xml:base="https://giving.example/">${entries.join('')}</feed>`,
})
const entry = (id: number, html: string) => `<entry><id>https://giving.example/updates/?subid=${id}</id>
  <title type="text">Report ${id}</title><author><name>Amina</name></author><published>2026-01-0${id}T08:00:00Z</published>
  <updated>2026-01-0${id}T09:00:00+00:00</updated><content type="html">${html}</content>
  <link rel="enclosure" type="image/jpeg" href="/img/${id}.jpg"/></entry>`

describe('reports and galleries', () => {
  beforeEach(() => {
    upstream.state.records[0] = aRecord(1, {
      numberOfReports: 2,
      dateOfMostRecentReport: '2026-01-02T08:00:00Z',
      imageGallerySize: 2,
      image: { id: 0, title: 'Main', imagelink: [{ size: 'original', url: 'https://giving.example/main.jpg' }] },
    })
    upstream.state.reports.set(
      1,
      atom(entry(2, '&lt;p onclick="x()"&gt;Dry&lt;script&gt;x()&lt;/script&gt;&lt;/p&gt;'), entry(1, 'Begun')),
    )
    upstream.state.galleries.set(1, [
      { id: 40, title: 'Main', imagelink: [{ size: 'original', url: 'https://giving.example/main.jpg' }] },
      { id: 41, title: 'Pump', imagelink: [{ size: 'original', url: 'https://giving.example/pump.jpg' }] },
    ])
  })

  test('are fetched with their project, sanitised, the main picture not repeated', async () => {
    expect(await full()).toMatchObject({ state: 'done', reports: 2, galleries: 1 })
    expect(
      await rows('select id, title, author_name, content_html, url, source from progress_report order by id desc'),
    ).toEqual([
      {
        id: 2,
        title: 'Report 2',
        authorName: 'Amina',
        contentHtml: '<p>Dry</p>',
        url: 'https://giving.example/updates/?subid=2',
        source: 'upstream',
      },
      expect.objectContaining({ id: 1, contentHtml: 'Begun' }),
    ])
    expect(await rows('select report_id, url, media_type from report_image order by report_id')).toEqual([
      { reportId: 1, url: 'https://giving.example/img/1.jpg', mediaType: 'image/jpeg' },
      { reportId: 2, url: 'https://giving.example/img/2.jpg', mediaType: 'image/jpeg' },
    ])
    expect(await rows('select position, wire_id, title, consent from photo order by position')).toEqual([
      { position: 0, wireId: 0, title: 'Main', consent: false },
      { position: 1, wireId: 41, title: 'Pump', consent: false },
    ])
  })

  test('are asked for again only when their number or date has changed', async () => {
    await full()
    upstream.requests.length = 0
    upstream.state.records[0] = { ...(upstream.state.records[0] ?? aRecord(1)), title: 'Another title' }
    await full()
    expect([...upstream.asked('/reports'), ...upstream.asked('/imagegallery')]).toEqual([])
    upstream.state.records[0] = { ...upstream.state.records[0], numberOfReports: 1 }
    upstream.state.reports.set(1, atom(entry(2, 'Dry again')))
    expect(await full()).toMatchObject({ reports: 2 })
    expect(await rows('select id, content_html from progress_report')).toEqual([{ id: 2, contentHtml: 'Dry again' }])
    expect(upstream.asked('/reports')).toHaveLength(1)
  })

  test('that fail are told and fetched by the next sync', async () => {
    upstream.state.reports.set(1, { type: 'text/html', body: '<html><body>Oops</body></html>' })
    const run = await full()
    expect(run).toMatchObject({ state: 'done', created: 25, reports: 0 })
    expect(await listSyncProblems(store.db, run.id, 10)).toMatchObject([{ subject: 'project 1', field: 'details' }])
    upstream.state.reports.set(1, atom(entry(1, 'Begun')))
    expect(await full()).toMatchObject({ reports: 1 })
  })

  test('that answer 410 make the project inactive', async () => {
    upstream.state.fault = (_request, response, url) => {
      if (!url.pathname.endsWith('/reports')) return false
      response.writeHead(410).end()
      return true
    }
    expect(await full()).toMatchObject({ state: 'done', deactivated: 1 })
    expect(await rows('select id from project where not active')).toEqual([{ id: 1 }])
  })
})

describe('what a mirror costs its upstream', () => {
  const atom = {
    type: 'application/atom+xml',
    body: '<feed xmlns="http://www.w3.org/2005/Atom"><id>urn:x</id><title>F</title></feed>',
  }
  const detailed = (record: { readonly id: number }) => ({ ...record, numberOfReports: 1, imageGallerySize: 2 })
  const changed = 4

  beforeEach(() => {
    const state = { since: true, pageSize: 100, records: records(400).map(detailed) }
    Object.assign(upstream.state, state)
    for (const { id } of upstream.state.records) {
      upstream.state.reports.set(id, atom)
      upstream.state.galleries.set(id, [])
    }
  })

  test('is two requests a project at first, and then two for each that changed; what is left is told, and until when', async () => {
    let now = Date.parse('2026-06-01T03:00:00Z')
    const lines: { readonly msg: string }[] = []
    const log = pino({ level: 'info' }, { write: (line: string) => void lines.push(JSON.parse(line)) })
    const first = await full({
      log,
      clock: () => {
        now += 5_000
        return new Date(now)
      },
    })
    // Whether it knows changes, themes, regions, the bulk file that it lacks, organisations, and four pages.
    expect(first).toMatchObject({ state: 'done', created: 400, requests: 2 * 400 + 4 + 5 })
    const told = lines.map(({ msg }) => msg).join('\n')
    expect(told).toMatch(
      /^sync run: projects, \d+ records, [123] requests left until about 2026-06-01T\d\d:\d\d:\d\dZ$/m,
    )
    expect(told).toMatch(/^sync run: details, 400 records, 600 requests left until about 2026-06-01T\d\d:\d\d:\d\dZ$/m)
    upstream.requests.length = 0
    for (const record of upstream.state.records.slice(0, changed)) {
      Object.assign(record, { numberOfReports: 2, imageGallerySize: 3 })
      upstream.state.changedAt.set(record.id, Date.now())
    }
    expect(await incremental()).toMatchObject({ state: 'done', changed, requests: 2 * changed + 1 })
    expect(upstream.requests).toHaveLength(2 * changed + 1)
  })
})
