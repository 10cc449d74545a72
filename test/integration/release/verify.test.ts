import { rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import type { FastifyInstance } from 'fastify'
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { verifyPublished } from '../../../src/extensions/verify/verify-published.js'
import { rollbackRelease } from '../../../src/release/operate/operate-releases.js'
import { createReleaseReader } from '../../../src/release/read/release-reader.js'
import { listen, testApi } from '../../support/api/api.js'
import { pathOnDisk } from '../../support/release/path-on-disk.js'
import { coreFiles, type Publisher, publishedCopies } from '../../support/release/publishing.js'
import type { TestDatabase } from '../../support/store/database.js'

let database: TestDatabase
let publisher: Publisher
let baseUrl: string
let app: FastifyInstance

const signal = new AbortController().signal
const verify = (changes: Partial<Parameters<typeof verifyPublished>[0]> = {}) =>
  verifyPublished({
    baseUrl,
    maxAgeHours: 36,
    maxSeconds: 3600,
    now: publisher.now,
    last: undefined,
    signal,
    ...changes,
  })
const file = async (address: string) => {
  const found = await (await publisher.live()).find(address)
  if (!found) throw new Error(`no ${address}`)
  return found
}
const overwrite = async (target: string, text: string) => {
  // Carried files are hard links: a new inode changes this release only.
  await rm(target)
  await writeFile(target, text)
}

/** An API that has not read the releases before; returns its address. */
const serveAnew = async () => {
  const { store } = database
  return await listen((await testApi(store, { store, releases: createReleaseReader(publisher.feedsDir) })).app)
}

const copies = publishedCopies(3, coreFiles)

beforeEach(async () => {
  ;({ database, publisher } = await copies())
  const api = await testApi(database.store, { releases: createReleaseReader(publisher.feedsDir) })
  app = api.app
  baseUrl = await listen(app)
  publisher.now = new Date(publisher.now.getTime() + 3_600_000)
})

describe('giving verify', () => {
  it('finds tampering: other bytes of the same length, a shortened file, a compressed twin with other content', async () => {
    const address = '/iati/activities.xml'
    const { identity, gzip } = await file(address)
    const [target, twinTarget] = [await pathOnDisk(identity), await pathOnDisk(gzip)]
    const text = await publisher.read(address)
    await overwrite(target, text.replace('Project 2', 'Project X'))
    expect((await verify()).findings).toContainEqual(
      expect.objectContaining({ code: 'tampered', address, expected: expect.stringContaining('sha256') }),
    )
    await overwrite(target, text)
    await rm(twinTarget)
    await writeFile(twinTarget, gzipSync(text.replace('Project 2', 'Project X')).subarray(0, gzip?.length))
    const twin = expect.objectContaining({ address: expect.stringContaining('(gzip)') })
    expect((await verify()).findings).toEqual([twin])
    await rm(twinTarget)
    await writeFile(twinTarget, Buffer.concat([gzipSync(text.replace('Project 2', 'X')), Buffer.alloc(500)]))
    expect((await verify()).findings).toContainEqual(twin)
  })

  it('finds a manifest that was written again under the same name', async () => {
    const { seen } = await verify()
    const manifest = await publisher.manifest()
    const target = path.join(publisher.feedsDir, 'current/manifest.json')
    await overwrite(target, JSON.stringify({ ...manifest, totals: { activities: 3, money: { USD: '1000000' } } }))
    const { findings } = await verify({ baseUrl: await serveAnew(), last: seen })
    expect(findings).toMatchObject([{ code: 'tampered', address: '/feeds/manifest.json' }])
  })

  it('refuses a manifest with a member twice, of which each reader takes another', async () => {
    const target = path.join(publisher.feedsDir, 'current/manifest.json')
    const text = JSON.stringify(await publisher.manifest())
    await overwrite(target, text.replace('"run":', '"run":7,"run":'))
    await expect(verify({ baseUrl: await serveAnew() })).rejects.toMatchObject({
      code: 'input-unusable',
      message: expect.stringMatching(/manifest\.json is not a manifest: expected JSON with each member once$/),
    })
  })

  it('finds a rollback, and a newer release is none', async () => {
    const first = await publisher.live()
    const { seen: older } = await verify()
    await database.store.db.query(`update project set title = 'Newer' where id = 1`)
    await publisher.publish()
    const { findings, seen: newer } = await verify({ last: older })
    expect(findings).toEqual([])
    await rollbackRelease(publisher.deps, first.id)
    expect((await verify({ last: newer })).findings).toMatchObject([
      { code: 'rollback', expected: `run ${newer.run} or later`, got: `run ${older.run}` },
    ])
  })

  it('finds a set that nobody publishes any more, but not one in which nothing changes', async () => {
    publisher.now = new Date(publisher.now.getTime() + 37 * 3_600_000)
    expect((await verify()).findings).toMatchObject([{ code: 'frozen', got: '38.0 hours' }])
    expect(await publisher.publish()).toMatchObject({ state: 'unchanged' })
    expect((await verify()).findings).toEqual([])
  })

  it('finds a mix of two releases', async () => {
    await database.store.db.query(`update project set title = 'Newer' where id = 1`)
    const first = await publisher.live()
    await publisher.publish()
    const target = path.join(publisher.feedsDir, 'current/manifest.json')
    const manifest = JSON.parse(await publisher.read('/feeds/manifest.json')) as typeof first.manifest
    const files = manifest.files.map((entry) =>
      entry.path === '/iati/activities.xml' ? first.manifest.files.find(({ path }) => path === entry.path) : entry,
    )
    await overwrite(target, JSON.stringify({ ...manifest, files }))
    const { findings } = await verify({ baseUrl: await serveAnew() })
    expect(findings.map(({ code }) => code)).toContain('mixed')
  })

  it('finds a changed and a missing feed of a project, which only the index has the hash of', async () => {
    await database.store.db.query(
      `insert into progress_report (id, project_id, title, author_name, published_at, updated_at, content_html, url)
        select id, id, 'The pump runs', 'Tara', now(), now(), '<p>Water.</p>', 'https://giving.example/' || id
          from project where id < 3`,
    )
    await publisher.publish()
    expect(await verify()).toMatchObject({ findings: [], notCompared: expect.arrayContaining(['/feeds/status.json']) })
    // As a web server before the service may do.
    const proxy = createServer(async ({ url = '', method = 'GET', headers }, response) => {
      const asked = headers['accept-encoding'] ?? 'identity'
      const answer = await app.inject({ url, method: method as 'GET', headers: { 'accept-encoding': asked } })
      const ofFeed = /^\/feeds\/projects\/(\d+)\//.exec(url)?.[1]
      // The first of the index answers last.
      if (ofFeed === '1') await sleep(100)
      response.writeHead(ofFeed === '2' ? 404 : answer.statusCode, answer.headers as Record<string, string>)
      if (method === 'HEAD') response.end()
      else response.end(ofFeed === '1' ? answer.body.replace('The pump runs', 'The pump ruin') : answer.rawPayload)
    })
    await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => void proxy.close())
    const { findings } = await verify({ baseUrl: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}` })
    expect(findings).toMatchObject([
      { code: 'tampered', address: '/feeds/projects/1/reports.atom' },
      { code: 'missing', address: '/feeds/projects/2/reports.atom', got: '404' },
    ])
  })

  it('finds nothing wrong with a set as it was published, and a missing file', async () => {
    const verification = await verify()
    expect(verification.findings).toEqual([])
    expect(verification).toMatchObject({ release: (await publisher.live()).id, ageHours: 1, files: expect.any(Number) })
    await rm(await pathOnDisk((await file('/iati/organisations.xml')).identity))
    expect((await verify()).findings).toContainEqual(
      expect.objectContaining({ code: 'missing', address: expect.stringContaining('/iati/organisations.xml') }),
    )
  })

  it('says in one sentence that there is no set', async () => {
    await expect(verify({ baseUrl: 'http://127.0.0.1:9' })).rejects.toMatchObject({
      code: 'input-unusable',
      message: expect.stringMatching(/^http:\/\/127\.0\.0\.1:9\/feeds\/manifest\.json cannot be read: /),
    })
    await expect(verify({ baseUrl: `${baseUrl}/nowhere` })).rejects.toMatchObject({
      message: expect.stringContaining('answers 404'),
    })
  })
})
