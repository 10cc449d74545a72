import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { gzipSync } from 'node:zlib'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { listSyncProblems } from '../../../../src/catalogue/sql/sync-runs.js'
import { forgetSyncs, type SyncChanges, sync } from '../../../support/catalogue/sync.js'
import { aRecord, records, startUpstream, type TestUpstream, toXml } from '../../../support/servers/upstream-server.js'
import { testDatabase } from '../../../support/store/database.js'
import { passingTime } from '../../../support/values/passing-time.js'

let upstream: TestUpstream

const { store } = await testDatabase()
beforeEach(async () => {
  await forgetSyncs(store.db)
  upstream = await startUpstream({ records: records(25) })
})
afterEach(async () => await upstream.close())

const quick = { tries: 3, pageBytes: 200_000 } as const
/** For answers that come too slowly; any other may take as long as a busy machine needs. */
const impatient = (answer: string) => (/slow|drip|never/.test(answer) ? { idleMs: 300, totalMs: 600 } : {})
const full = (changes: SyncChanges = {}) => sync(store, upstream.url, 'full', { ...quick, ...changes })
const ids = async () =>
  (await store.db.query<{ id: number }>('select id from project order by id')).rows.map((r) => r.id)
const upTo = (count: number) => Array.from({ length: count }, (_, index) => index + 1)

type Answer = (response: ServerResponse, request: IncomingMessage, url: URL) => void

/** Answers the second page of projects so; `times` of it, then as usual. */
function onSecondPage(answer: Answer, times = Number.POSITIVE_INFINITY): void {
  let left = times
  upstream.state.fault = (request, response, url) => {
    if (url.searchParams.get('nextProjectId') !== '11' || left-- <= 0) return false
    answer(response, request, url)
    return true
  }
}

const pageOf = (list: object[], more: object = {}) => JSON.stringify({ projects: { project: list, ...more } })

describe('trouble that passes', () => {
  test.each<[string, Answer]>([
    ['a 500', (response) => response.writeHead(500).end('oops')],
    ['a 503 without a body', (response) => response.writeHead(503).end()],
    ['a closed connection', (response) => response.destroy()],
    [
      'a body that breaks off',
      (response) => {
        response.writeHead(200, { 'content-length': 5000 })
        response.write('{"projects":{"project":[')
        setImmediate(() => response.destroy())
      },
    ],
    ['a document that ends early', (response) => response.end('{"projects":{"project":[{"id":11')],
    [
      'gzip that breaks off',
      (response) =>
        response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(pageOf(records(10, 11))).subarray(0, 60)),
    ],
    ['bytes too slow', (response) => void response.write('{')],
  ])('%s is asked for again', async (name, answer) => {
    onSecondPage(answer, 1)
    expect(await full(impatient(name))).toMatchObject({ state: 'done', created: 25 })
    expect(await ids()).toEqual(upTo(25))
  })

  test('429 is waited for as long as Retry-After says, by every request', async () => {
    const time = passingTime()
    const asked: number[] = []
    upstream.state.fault = (_, response, url) => {
      if (asked.length === 0 && url.searchParams.get('nextProjectId') !== '11') return false
      asked.push(time.now())
      if (asked.length > 1) return false
      response.writeHead(429, { 'retry-after': '7' }).end()
      return true
    }
    expect(await full({ time, concurrency: 1 })).toMatchObject({ state: 'done', created: 25 })
    const [refused = 0, ...later] = asked
    expect(later.length).toBeGreaterThan(1)
    expect(later.filter((at) => at < refused + 7000)).toEqual([])
  })
})

describe('trouble that stays', () => {
  test.each<[string, string, Answer]>([
    ['a 500', 'upstream-unavailable', (response) => response.writeHead(500).end()],
    ['a drip of bytes', 'upstream-unavailable', drip],
    ['a key that is not accepted', 'upstream-refused', (response) => response.writeHead(401).end()],
    ['a page that never comes', 'upstream-unavailable', () => undefined],
    [
      'a Retry-After of a day',
      'upstream-unavailable',
      (response) => response.writeHead(429, { 'retry-after': '86400' }).end(),
    ],
    ['an HTML page', 'upstream-unusable', (response) => response.end('<html><body>Welcome</body></html>')],
    ['plain text', 'upstream-unusable', (response) => response.end('hello')],
    ['an empty body', 'upstream-unusable', (response) => response.end()],
    ['another document', 'upstream-unusable', (response) => response.end('{"organizations":{}}')],
    ['a list of numbers', 'upstream-unusable', (response) => response.end('[1,2,3]')],
    [
      'invalid UTF-8 in JSON',
      'upstream-unusable',
      (response) =>
        response.end(Buffer.concat([Buffer.from('{"projects":{"x":"'), Buffer.from([0xc3, 0x28]), Buffer.from('"}}')])),
    ],
    [
      'invalid UTF-8 in XML',
      'upstream-unusable',
      (response) =>
        response.end(
          Buffer.concat([Buffer.from('<projects><x>'), Buffer.from([0xff]), Buffer.from('</x></projects>')]),
        ),
    ],
    [
      'an entity bomb',
      'upstream-unusable',
      (response) =>
        response.end(
          `<!DOCTYPE projects [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;">]><projects><project>&b;</project></projects>`,
        ),
    ],
    ['JSON without a bottom', 'upstream-unusable', (response) => response.end(`{"projects":${'['.repeat(90_000)}`)],
    ['a large body', 'upstream-unusable', endless],
    [
      'a body that claims 5 GB',
      'upstream-unusable',
      (response) => response.writeHead(200, { 'content-length': 5e9 }).write('{'),
    ],
    [
      'a gzip bomb',
      'upstream-unusable',
      (response) =>
        response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(Buffer.alloc(20_000_000, 0x20))),
    ],
    [
      'an encoding nobody asked for',
      'upstream-unusable',
      (response) => response.writeHead(200, { 'content-encoding': 'br' }).end('x'),
    ],
    [
      'the same cursor again',
      'upstream-unusable',
      (response) => response.end(pageOf(records(10, 11), { hasNext: true, nextProjectId: 11 })),
    ],
    [
      'the first page again',
      'upstream-unusable',
      (response) => response.end(pageOf(records(10), { hasNext: true, nextProjectId: 11 })),
    ],
    [
      'a cursor inside the page',
      'upstream-unusable',
      (response) => response.end(pageOf(records(10, 11), { hasNext: true, nextProjectId: 15 })),
    ],
    [
      'empty pages that go on',
      'upstream-unusable',
      (response) => response.end(pageOf([], { hasNext: true, nextProjectId: 31 })),
    ],
    [
      'a next page without a cursor',
      'upstream-unusable',
      (response) => response.end(pageOf(records(10, 11), { hasNext: true })),
    ],
    [
      'redirects in a circle',
      'upstream-unusable',
      (response, _, url) => response.writeHead(302, { location: url.href.replace('http://upstream.test', '') }).end(),
    ],
  ])('%s fails the sync with %s; the pages before it stay whole', async (name, code, answer) => {
    let asked = 0
    onSecondPage((...question) => {
      asked++
      answer(...question)
    })
    const run = await full({ ...impatient(name), tries: 2 })
    expect(run).toMatchObject({ state: 'failed', created: 10, error: { code } })
    // What an upstream refuses it refuses again.
    if (code === 'upstream-refused') expect(asked).toBe(1)
    expect(JSON.stringify(run)).not.toContain('5a0c1d2e')
    expect(await ids()).toEqual(upTo(10))
    // The next sync finds everything as it should be.
    upstream.state.fault = undefined
    expect(await full()).toMatchObject({ state: 'done', created: 15, unchanged: 10 })
  })

  test('pages that go on for ever with ever new projects are stopped', async () => {
    let from = 1
    upstream.state.fault = (_request, response, url) => {
      if (!url.pathname.endsWith('/all/projects') || url.searchParams.has('modifiedSince')) return false
      const page = { project: records(100, from), hasNext: true, nextProjectId: from + 100, numberFound: 50 }
      from += 100
      response.end(JSON.stringify({ projects: page }))
      return true
    }
    expect(await full()).toMatchObject({ state: 'failed', error: { code: 'upstream-unusable' } })
    expect(from).toBeLessThan(2000)
  })
})

describe('labels', () => {
  test('do not matter: the body decides', async () => {
    onSecondPage((response) => {
      response.writeHead(200, { 'content-type': 'text/html' })
      response.end(toXml({ projects: { hasNext: 'true', nextProjectId: 21, project: records(10, 11) } }))
    })
    expect(await full()).toMatchObject({ state: 'done', created: 25 })
  })

  test('one record in place of a list, and a list of nothing, are read', async () => {
    onSecondPage((response) =>
      response.end(
        '{"projects":{"project":{"id":11,"active":"true","status":"active","title":"One","funding":"1"},"hasNext":"true","nextProjectId":"21"}}',
      ),
    )
    expect(await full()).toMatchObject({ state: 'done', created: 16 })
    upstream.state.records = []
    upstream.state.fault = (_request, response, url) => {
      if (!url.pathname.endsWith('/all/projects')) return false
      response.end('<projects/>')
      return true
    }
    expect(await full({ acceptLoss: true })).toMatchObject({ state: 'done', deactivated: 16 })
  })
})

describe('addresses that come from data', () => {
  let asked: string[]
  let inside: ReturnType<typeof createServer>
  let insideUrl: string

  beforeEach(async () => {
    asked = []
    inside = createServer((request, response) => {
      asked.push(request.url ?? '')
      response.end(toXml({ projects: { project: [aRecord(77)] } }))
    })
    await new Promise<void>((resolve) => inside.listen(0, '127.0.0.1', resolve))
    insideUrl = `http://127.0.0.1:${(inside.address() as AddressInfo).port}/secret`
  })
  afterEach(() => {
    inside.closeAllConnections()
    inside.close()
  })

  test.each([
    ['an address', (url: string) => url],
    ['a name', (url: string) => url.replace('127.0.0.1', 'localhost')],
    ['an IPv6 address', (url: string) => url.replace('127.0.0.1', '[::ffff:127.0.0.1]')],
    ['another protocol', () => 'file:///etc/passwd'],
  ])('a redirect into a private network by %s is not followed', async (_, change) => {
    onSecondPage((response) => response.writeHead(302, { location: change(insideUrl) }).end())
    expect(await full({ allowPrivateNetworks: false })).toMatchObject({
      state: 'failed',
      error: { code: 'address-refused' },
    })
    expect(asked).toEqual([])
  })

  test.each<[readonly string[], string]>([
    [['files.example.org', 'localhost'], 'done'],
    [['files.example.org'], 'failed'],
  ])('a redirect to localhost, where the hosts are %j: %s', async (hosts, state) => {
    const other = insideUrl.replace('127.0.0.1', 'localhost')
    onSecondPage((response) => response.writeHead(302, { location: other }).end())
    const run = await full({ hosts })
    expect(run).toMatchObject(state === 'done' ? { state } : { state, error: { code: 'address-refused' } })
    expect(asked.length > 0).toBe(state === 'done')
  })

  test('a link to a bulk file in a private network is refused with a notice, and the list is walked', async () => {
    upstream.state.download = insideUrl
    const run = await full({ allowPrivateNetworks: false })
    expect(run).toMatchObject({ state: 'done', created: 25 })
    expect(asked).toEqual([])
    expect(await listSyncProblems(store.db, run.id, 5)).toMatchObject([
      { subject: 'bulk file of projects', field: 'file' },
    ])
  })

  test('are fetched where the operator allows it, without the API key', async () => {
    upstream.state.download = insideUrl
    expect(await full()).toMatchObject({ state: 'done', created: 26 })
    expect(asked).toEqual(['/secret'])
  })
})

describe('a bulk file', () => {
  const serve = (answer: (response: ServerResponse) => void) => {
    upstream.state.download = '/files/projects.xml'
    upstream.state.fault = (_request, response, url) => {
      if (url.pathname !== '/files/projects.xml') return false
      answer(response)
      return true
    }
  }

  test.each<[string, (response: ServerResponse) => void]>([
    ['is missing', (response) => response.writeHead(404).end()],
    ['breaks off', (response) => response.end(toXml({ projects: { project: records(8) } }).slice(0, -200))],
    ['is no XML', (response) => response.end('no')],
    ['is a bomb', (response) => response.end('<!DOCTYPE a [<!ENTITY x "y">]><projects>&x;</projects>')],
    ['never ends', endless],
  ])('that %s is no harm', async (_, answer) => {
    serve(answer)
    const run = await full({ bulkTotalMs: 2000, bulkBytes: 5_000_000 })
    expect(run).toMatchObject({ state: 'done' })
    expect(await ids()).toEqual(upTo(25))
    expect(await listSyncProblems(store.db, run.id, 5)).toMatchObject([{ subject: 'bulk file of projects' }])
  })

  test('is not called broken where the store fails while it is read', async () => {
    serve((response) => response.end(toXml({ projects: { project: records(25) } })))
    await store.db.query(`
      create function full_disk() returns trigger language plpgsql as
        $$ begin raise exception 'the disk is full' using errcode = 'disk_full'; end $$;
      create trigger full_disk before insert on project execute function full_disk()`)
    try {
      const run = await full()
      expect(run).toMatchObject({ state: 'failed' })
      expect(await listSyncProblems(store.db, run.id, 5)).toEqual([])
    } finally {
      await store.db.query('drop function full_disk cascade')
    }
  })
})

test('a record that the database refuses costs no other of its page', async () => {
  await store.db.query('alter table project add constraint not_seven check (id <> 7)')
  try {
    expect(await full()).toMatchObject({ state: 'done', created: 24, changed: 0, unchanged: 0, refused: 1 })
    expect(await ids()).toEqual(upTo(25).filter((id) => id !== 7))
  } finally {
    await store.db.query('alter table project drop constraint not_seven')
  }
})

/** A byte now and then: never silent for long, never done. */
function drip(response: ServerResponse): void {
  const timer = setInterval(() => response.write(' '), 50)
  response.on('close', () => clearInterval(timer))
}

/** Blanks without end, as fast as they are taken. */
function endless(response: ServerResponse): void {
  const block = Buffer.alloc(65_536, 0x20)
  response.write('<projects>')
  const more = () => {
    while (!response.destroyed && response.write(block));
  }
  response.on('drain', more)
  more()
}
