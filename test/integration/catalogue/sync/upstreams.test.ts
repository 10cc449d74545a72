import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, expect, onTestFinished, test } from 'vitest'
import { listSyncProblems } from '../../../../src/catalogue/sql/sync-runs.js'
import { forgetSyncs, type SyncChanges, sync } from '../../../support/catalogue/sync.js'
import { selfSigned } from '../../../support/servers/self-signed.js'
import { aRecord, records, startUpstream, type TestUpstream } from '../../../support/servers/upstream-server.js'
import { testDatabase } from '../../../support/store/database.js'
import { passingTime } from '../../../support/values/passing-time.js'

// The rows of "What upstreams do" (docs/explanation/sync.md) that no other file of this folder tries.
let upstream: TestUpstream

const { store } = await testDatabase()
beforeEach(async () => {
  await forgetSyncs(store.db)
  upstream = await startUpstream({ records: records(25) })
})
afterEach(async () => await upstream.close())

const full = (changes: SyncChanges = {}) => sync(store, upstream.url, 'full', { tries: 3, ...changes })
const incremental = () => sync(store, upstream.url, 'incremental', { tries: 3 })
const rows = async (sql: string) => (await store.db.query(sql)).rows
const active = async () => (await rows('select id from project where active')).length

/** Changes what the list of projects answers. */
function onList(change: (list: { project: object[]; numberFound?: number }, url: URL) => void): void {
  upstream.state.fault = (_, response, url) => {
    if (!url.pathname.endsWith('/all/projects') || url.searchParams.has('modifiedSince')) return false
    const from = Number(url.searchParams.get('nextProjectId') ?? 0)
    const rest = upstream.state.records.filter(({ id }) => id >= from)
    const [page, next] = [rest.slice(0, 10), rest[10]]
    const list = { project: page, numberFound: 25, ...(next && { hasNext: true, nextProjectId: next.id }) }
    change(list, url)
    response.end(JSON.stringify({ projects: list }))
    return true
  }
}

test('a list that changes while it is read is whole with the next sync', async () => {
  upstream.state.records = upstream.state.records.map(({ id }) => aRecord(id * 10))
  onList((_, url) => {
    // As the second page is asked for, a project of the first goes and another comes before the cursor.
    if (url.searchParams.get('nextProjectId') !== '110' || upstream.state.records[2]?.id !== 30) return
    upstream.state.records.splice(2, 1, aRecord(35))
  })
  expect(await full()).toMatchObject({ state: 'done', created: 25 })
  upstream.state.fault = undefined
  expect(await full()).toMatchObject({ state: 'done', created: 1, deactivated: 1 })
  expect(await rows('select array_agg(id::integer order by id) as ids from project where active')).toEqual([
    { ids: upstream.state.records.map(({ id }) => id) },
  ])
})

test.each([
  ['more', 900],
  ['fewer', 24],
])('a total of %s projects than the list has ends with the list', async (_, numberFound) => {
  onList((list) => {
    list.numberFound = numberFound
  })
  expect(await full()).toMatchObject({ state: 'done', created: 25 })
  expect(await full()).toMatchObject({ state: 'done', unchanged: 25, deactivated: 0 })
})

test('429 without Retry-After is waited for as a 500 is', async () => {
  let refused = 2
  upstream.state.fault = (_, response) => {
    if (refused-- <= 0) return false
    response.writeHead(429).end()
    return true
  }
  expect(await full({ time: passingTime() })).toMatchObject({ state: 'done', created: 25 })
})

test('a project that answers 410 today and 200 tomorrow is inactive for a day', async () => {
  Object.assign(upstream.state.records[0] ?? {}, { numberOfReports: 1 })
  upstream.state.fault = (_, response, url) => {
    if (!url.pathname.endsWith('/projects/1/reports')) return false
    response.writeHead(410).end()
    return true
  }
  await full()
  expect(await active()).toBe(24)
  upstream.state.fault = undefined
  upstream.state.reports.set(1, {
    type: 'application/atom+xml',
    body: '<feed xmlns="http://www.w3.org/2005/Atom"><id>urn:x</id><title>F</title></feed>',
  })
  expect(await full()).toMatchObject({ state: 'done' })
  expect(await active()).toBe(25)
})

test('an id that is used for another project is that project from then on, and the months add up to its total', async () => {
  await full()
  const { id } = upstream.state.records[4] ?? aRecord(5)
  upstream.state.records[4] = aRecord(id, {
    title: 'Another one',
    funding: 7,
    organization: { id: 990, name: 'Other' },
  })
  expect(await full()).toMatchObject({ state: 'done', changed: 1 })
  expect(
    await rows(`select p.title, p.organisation_id, p.funding::text, sum(case m.kind when 'refund' then -abs(m.amount) else m.amount end)::text as months
      from project p join donation_month m on m.project_id = p.id where p.id = ${id} group by p.id`),
  ).toEqual([{ title: 'Another one', organisationId: 990, funding: '7.000', months: '7.000' }])
})

test('a field of another name refuses the records by name, and takes nothing away', async () => {
  await full()
  upstream.state.records = upstream.state.records.map(({ title, ...record }) => ({ ...record, headline: title }))
  const run = await full()
  expect(run).toMatchObject({ refused: 25, deactivated: 0, changed: 0 })
  expect(await active()).toBe(25)
  expect((await listSyncProblems(store.db, run.id, 1))[0]).toMatchObject({ subject: 'project 1', field: 'title' })
})

test('a clock that is ahead loses nothing that changes before that clock', async () => {
  upstream.state.since = true
  const ahead = (hours: number) => new Date(Date.now() + hours * 3_600_000)
  const answer = upstream.state
  answer.fault = (_, response) => {
    response.setHeader('date', ahead(24).toUTCString())
    response.setHeader('x-modified-until', ahead(24).toISOString())
    return false
  }
  await full()
  // Its operator has set the clock right, and a project changes.
  answer.fault = undefined
  Object.assign(answer.records[2] ?? {}, { title: 'Changed' })
  answer.changedAt.set(3, Date.now())
  expect(await incremental()).toMatchObject({ state: 'done', changed: 1 })
})

test('a certificate that nobody vouches for, or that has ended, fails by its reason and writes nothing', async () => {
  const server = createServer(selfSigned, (_, response) => response.end('{}'))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  const run = await sync(store, `https://localhost:${(server.address() as AddressInfo).port}`, 'full', { tries: 2 })
  expect(run).toMatchObject({ state: 'failed', created: 0, error: { code: 'upstream-unavailable' } })
  expect(run.error?.message).toMatch(/certificate/)
})

test('twenty projects in a row whose reports cannot be read end the sync; with one between them that can, none does', async () => {
  const oops = { type: 'text/html', body: '<html><body>Oops</body></html>' }
  upstream.state.records = records(40).map((one) => ({ ...one, numberOfReports: 1 }))
  for (const { id } of upstream.state.records) upstream.state.reports.set(id, oops)
  expect(await full()).toMatchObject({ state: 'failed', error: { code: 'upstream-unusable' }, created: 40 })
  upstream.state.reports.set(15, {
    type: 'application/atom+xml',
    body: '<feed xmlns="http://www.w3.org/2005/Atom"><id>urn:x</id><title>F</title></feed>',
  })
  upstream.state.reports.set(30, upstream.state.reports.get(15) ?? oops)
  expect(await full()).toMatchObject({ state: 'done', unchanged: 40 })
})
