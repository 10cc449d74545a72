import { createHash } from 'node:crypto'
import { statSync } from 'node:fs'
import { mkdir, readdir, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { gunzipSync, gzipSync } from 'node:zlib'
import fc from 'fast-check'
import type { FastifyInstance } from 'fastify'
import { beforeAll, describe, expect, it } from 'vitest'
import { deliverRelease } from '../../../src/extensions/bucket/deliver-release.js'
import { verifyPublished } from '../../../src/extensions/verify/verify-published.js'
import { readParts } from '../../../src/release/folder/joined-file.js'
import { createReleaseReader } from '../../../src/release/read/release-reader.js'
import { listen, testApi, testConfig } from '../../support/api/api.js'
import { pathOnDisk } from '../../support/release/path-on-disk.js'
import { faultsOf } from '../../support/release/published-folder.js'
import { type Publisher, testPublisher } from '../../support/release/publishing.js'
import { newSigner } from '../../support/release/signer.js'
import { filesOf, openTables, rowsOf } from '../../support/release/table-reader.js'
import { startBucketServer } from '../../support/servers/bucket-server.js'
import { insertProjects } from '../../support/store/catalogue.js'
import { testDatabase } from '../../support/store/database.js'

const url = '/iati/bulk/activities.xml'
const signal = new AbortController().signal
const sha256 = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex')

/** A release of two files of activities, so that the file of all of them is joined. */
async function publishJoined(projects: number, secondSegment = 2) {
  const { store } = await testDatabase()
  const publisher = await testPublisher(store)
  const ids = Array.from({ length: projects }, (_, index) => ({ id: index + 1 }))
  const publishChange = async (project: number) => {
    await store.db.query(`update project set title = title || '!' where id = $1`, [project])
    publisher.now = new Date(publisher.now.getTime() + 3_600_000)
    expect((await publisher.publish()).state).toBe('published')
  }
  await insertProjects(store.db, ids)
  await publisher.publish()
  await store.db.query('update rendering set segment = $2 where project_id > $1', [projects / 2, secondSegment])
  await publishChange(1)
  return { store, publisher, publishChange }
}

async function wholeOf(publisher: Publisher) {
  const file = (await (await publisher.live()).find(url)) ?? expect.fail('it is not there')
  return { file, body: await file.identity.bytes() }
}

async function bytesOf(publisher: Publisher, address: string): Promise<Buffer> {
  const file = (await (await publisher.live()).find(address)) ?? expect.fail(`${address} is not there`)
  return await file.identity.bytes()
}

describe('a file that is joined from others, over HTTP', async () => {
  const { store, publisher } = await publishJoined(12)
  let app: FastifyInstance
  let base: string
  let body: Buffer
  let sha: string
  let borders: number[]
  let verify: () => Promise<string[]>

  beforeAll(async () => {
    const releases = createReleaseReader(publisher.feedsDir)
    ;({ app } = await testApi(store, { releases }))
    base = await listen(app)
    const whole = await wholeOf(publisher)
    ;({ body } = whole)
    sha = sha256(body)
    borders = [0]
    for (const { length } of whole.file.identity.parts) borders.push((borders.at(-1) ?? 0) + length)
    verify = async () => {
      const { findings } = await verifyPublished({
        ...{ baseUrl: base, maxAgeHours: 36, maxSeconds: 600, now: publisher.now, last: undefined, signal },
      })
      return findings.map(({ code, address }) => `${code} ${address}`)
    }
  })

  const ask = async (headers: Record<string, string> = {}, method: 'GET' | 'HEAD' = 'GET') => {
    const { statusCode, headers: answered, rawPayload } = await app.inject({ url, method, headers })
    return { status: statusCode, headers: answered, body: rawPayload }
  }

  it('has the records of all files and lies on disk once', async () => {
    const { id, manifest } = await publisher.live()
    const entry = manifest.files.find(({ path: one }) => one === url)
    expect(entry).toMatchObject({ bytes: body.length, sha256: sha, records: 12 })
    const undated = body.toString().replace(/ generated-datetime="[^"]*"/, '')
    expect(entry?.contentSha256).toBe(sha256(Buffer.from(undated)))
    expect(body.toString().match(/<iati-identifier>/g)?.length).toBe(12)
    expect(await readdir(path.join(publisher.feedsDir, 'releases', id, 'iati'))).not.toContain('bulk')
  })

  it('is one body with its length, tag and date; HEAD says the same', async () => {
    const whole = await ask()
    expect([whole.status, sha256(whole.body)]).toEqual([200, sha])
    expect(whole.headers).toMatchObject({
      'content-length': String(body.length),
      etag: `"${sha}"`,
      'accept-ranges': 'bytes',
    })
    const head = await ask({}, 'HEAD')
    const { date: _, ...same } = whole.headers
    expect(head).toMatchObject({ status: 200, body: Buffer.alloc(0), headers: same })
    expect((await ask({ 'if-none-match': `"${sha}"` })).status).toBe(304)
    expect((await ask({ 'if-modified-since': String(whole.headers['last-modified']) })).status).toBe(304)
  })

  it('is one gzip member', async () => {
    const { body: twin, headers } = await ask({ 'accept-encoding': 'gzip' })
    expect(headers).toMatchObject({
      'content-encoding': 'gzip',
      'content-length': String(twin.length),
      etag: `"${sha}-gz"`,
    })
    expect(gunzipSync(twin).equals(body)).toBe(true)
    expect((await ask({ 'accept-encoding': 'gzip' }, 'HEAD')).headers['content-length']).toBe(String(twin.length))
  })

  it('is served in part, across the borders of its parts', async () => {
    expect(borders.length).toBe(5)
    const place = fc.oneof(fc.constantFrom(...borders.slice(0, -1)), fc.nat(body.length - 1))
    await fc.assert(
      fc.asyncProperty(place, place, async (one, other) => {
        const [start, end] = [Math.min(one, other), Math.max(one, other)]
        const { status, headers, body: part } = await ask({ range: `bytes=${start}-${end}` })
        expect([status, headers['content-range']]).toEqual([206, `bytes ${start}-${end}/${body.length}`])
        expect(part.equals(body.subarray(start, end + 1))).toBe(true)
      }),
      { numRuns: 40 },
    )
    for (const border of borders.slice(1)) {
      const { body: suffix } = await ask({ range: `bytes=-${border}` })
      expect(suffix.equals(body.subarray(body.length - border))).toBe(true)
    }
    expect((await ask({ range: `bytes=${body.length}-` })).status).toBe(416)
  })

  it('is not left to a proxy, which would find no such file', async () => {
    const proxyFiles = { location: '/giving-files/', folder: publisher.feedsDir }
    const releases = createReleaseReader(publisher.feedsDir)
    const { app: behind } = await testApi(publisher.deps.store, {
      store: publisher.deps.store,
      releases,
      config: { ...testConfig, proxyFiles },
    })
    expect((await behind.inject('/iati/activities-2.xml')).headers['x-accel-redirect']).toBeDefined()
    const { headers, rawPayload } = await behind.inject(url)
    expect([headers['x-accel-redirect'], sha256(rawPayload)]).toEqual([undefined, sha])
  })

  it('is what giving verify expects, until a byte of a part changes or a part is gone', async () => {
    expect(await verify()).toEqual([])
    const target = await pathOnDisk((await (await publisher.live()).find('/iati/activities-2.xml'))?.identity)
    const text = await publisher.read('/iati/activities-2.xml')
    await rm(target)
    await writeFile(target, text.replace('Project 8', 'Project X'))
    expect(await verify()).toEqual(expect.arrayContaining([`tampered ${url}`]))
    await rm(target)
    await writeFile(target, text.slice(0, -100))
    expect((await ask()).status).toBe(500)
    await rm(target)
    expect((await ask()).status).toBe(500)
    await writeFile(target, text)
    expect(await verify()).toEqual([])
  })

  it('is one object of a bucket', async () => {
    await using server = await startBucketServer()
    const { feedsDir, clock } = publisher.deps
    await deliverRelease({ store, feedsDir, clock, bucket: server.settings }, signal)
    const sent = Buffer.from(await (await fetch(server.url + url)).arrayBuffer())
    expect(sha256(sent)).toBe(sha)
  })
})

describe('a change of one activity', async () => {
  const { publisher, publishChange } = await publishJoined(12, 5)

  it('writes the parts that have it, and no other part', async () => {
    const inodes = async () => {
      const directory = path.join(publisher.feedsDir, 'releases', (await publisher.live()).id)
      const files = await readdir(directory, { recursive: true, withFileTypes: true })
      return new Map(
        files
          .filter((file) => file.isFile())
          .map((file) => path.join(file.parentPath, file.name))
          .map((file) => [path.relative(directory, file), statSync(file).ino]),
      )
    }
    const before = await inodes()
    await publishChange(12)
    const written = [...(await inodes())].filter(([file, inode]) => before.get(file) !== inode).map(([file]) => file)
    expect(written.filter((file) => !file.endsWith('.gz')).sort()).toEqual([
      'data/activities.csv.part-2',
      'data/activities.parquet.end',
      'data/activities.parquet.part-2',
      'feeds/releases.json',
      'iati/activities-5.xml',
      'iati/index.json.part-2',
      'layers.json',
      'manifest.json',
      'parts.json',
    ])
    const index = JSON.parse(await publisher.read('/iati/index.json'))
    expect(index.files.map((file: { activities: { title: string }[] }) => file.activities.at(-1)?.title)).toEqual([
      'Project 6',
      'Project 12!',
    ])
    expect(await faultsOf(publisher.feedsDir, publisher.deps.store)).toEqual([])
    const duck = await openTables()
    const titles = ['1!', '2', '3', '4', '5', '6', '7', '8', '9', '10', '11', '12!'].map((name) => `Project ${name}`)
    for (const source of Object.values(await filesOf(publisher, 'activities'))) {
      const rows = await rowsOf(duck, `select title_narrative as title from ${source}`)
      expect(rows.map(({ title }) => title)).toEqual(titles)
    }
    duck.closeSync()
  })
})

describe('a release of an earlier version', async () => {
  const { store, publisher, publishChange } = await publishJoined(4)
  const signing = await testPublisher(store, { feedsDir: publisher.feedsDir, signer: newSigner() })

  it('keeps its own copy of all activities, until one of them changes', async () => {
    const asEarlierVersion = await publisher.live()
    const directory = path.join(publisher.feedsDir, 'releases', asEarlierVersion.id)
    const { body } = await wholeOf(publisher)
    const { joined: joinedBefore } = await readParts(directory)
    // Files of their own, and twins of one stream.
    const files = await Promise.all(
      asEarlierVersion.manifest.files.map(async (entry) => {
        if (!(entry.path in joinedBefore) && !/activities(-2)?\.xml$/.test(entry.path)) return entry
        const bytes = await bytesOf(publisher, entry.path)
        const twin = gzipSync(bytes, { level: 1 })
        const target = path.join(directory, entry.path)
        await mkdir(path.dirname(target), { recursive: true })
        for (const name of [target, `${target}.gz`]) await rm(name, { force: true })
        await writeFile(target, bytes)
        if (entry.gzipBytes === 0) return entry
        await writeFile(`${target}.gz`, twin)
        return { ...entry, gzipBytes: twin.length }
      }),
    )
    await writeFile(path.join(directory, 'manifest.json'), JSON.stringify({ ...asEarlierVersion.manifest, files }))
    await rm(path.join(directory, 'parts.json'))
    expect(await faultsOf(publisher.feedsDir, store)).toEqual([])
    expect((await wholeOf(publisher)).body.equals(body)).toBe(true)

    // Another file of the release changes: those of activities are carried over.
    signing.now = new Date(publisher.now.getTime() + 3_600_000)
    publisher.now = signing.now
    expect((await signing.publish()).state).toBe('published')
    expect((await wholeOf(publisher)).body.equals(body)).toBe(true)
    expect((await wholeOf(publisher)).file.identity.parts.length).toBe(1)
    expect(await faultsOf(publisher.feedsDir, store)).toEqual([])

    await publishChange(3)
    const joined = await wholeOf(publisher)
    expect(joined.file.identity.parts.length).toBe(4)
    expect(joined.body.toString()).toContain('Project 3!')
    expect(await faultsOf(publisher.feedsDir, store)).toEqual([])
  })
})
