import { cp, rm } from 'node:fs/promises'
import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import { openBucket } from '../../../src/extensions/bucket/bucket.js'
import { deliverRelease } from '../../../src/extensions/bucket/deliver-release.js'
import { verifyPublished } from '../../../src/extensions/verify/verify-published.js'
import { findBucketState } from '../../../src/release/bucket-state.js'
import { publicationHealth } from '../../../src/release/health.js'
import { createReleaseReader } from '../../../src/release/read/release-reader.js'
import { testPublisher } from '../../support/release/publishing.js'
import { newSigner } from '../../support/release/signer.js'
import { followedRelease, killDelivery, startBucketServer } from '../../support/servers/bucket-server.js'
import { insertProjects } from '../../support/store/catalogue.js'
import { copyDatabase, testDatabase } from '../../support/store/database.js'
import { temporaryFolder } from '../../support/values/temporary-folder.js'

const signer = newSigner()
const server = await startBucketServer()
afterAll(() => server[Symbol.asyncDispose]())
let database = await testDatabase()
let publisher = await testPublisher(database.store, { signer })

const busy = 'another process delivers'
const tryToDeliver = () => {
  const { store, feedsDir, clock } = publisher.deps
  return deliverRelease({ store, feedsDir, clock, bucket: server.settings }, new AbortController().signal)
}
/** The lock of a delivery that failed is free when the database has noticed the end of its session. */
const deliver = async () => {
  for (;;) {
    const said = await tryToDeliver()
    if (said !== busy) return said
  }
}
const verify = async () => {
  const { findings, release } = await verifyPublished({
    ...{ baseUrl: server.url, maxAgeHours: 36, maxSeconds: 600, now: publisher.now, last: undefined },
    ...{ publicKey: signer.publicKey, signal: new AbortController().signal },
  })
  return { findings, release }
}
const publishChange = async (title: string) => {
  await database.store.db.query('update project set title = $1 where id = 1', [title])
  publisher.now = new Date(publisher.now.getTime() + 24 * 3_600_000)
  await publisher.publish()
  return (await publisher.live()).id
}

/** Keeps store, release and bucket as they are; what it returns gives the next test its own copy of them. */
const keepAll = async () => {
  const [folder, source] = [await temporaryFolder(), database]
  const copy = (from: string, to: string) => cp(from, to, { recursive: true, verbatimSymlinks: true })
  await copy(publisher.feedsDir, `${folder}/feeds`)
  await copy(server.directory, `${folder}/bucket`)
  return async () => {
    const feedsDir = await temporaryFolder()
    await copy(`${folder}/feeds`, feedsDir)
    await rm(server.directory, { recursive: true })
    await copy(`${folder}/bucket`, server.directory)
    server.requests.length = 0
    Object.assign(server, { onWrite: () => true, conditions: undefined })
    database = await copyDatabase(source)
    publisher = await testPublisher(database.store, { signer, feedsDir })
  }
}
await insertProjects(database.store.db, [{ id: 1 }, { id: 2 }, { id: 3 }])
await publisher.publish()
const asPublished = await keepAll()
await asPublished()
await deliver()
const asDelivered = await keepAll()

describe('a bucket', () => {
  beforeEach(asPublished)

  it('has the whole release, as giving verify sees it, then what changed, and tells that it is up to date', async () => {
    await deliver()
    const { id: first } = await publisher.live()
    expect(await verify()).toEqual({ findings: [], release: first })
    const headers = async (address: string) => {
      const answer = await fetch(server.url + address)
      await answer.arrayBuffer()
      const names = ['content-type', 'content-encoding', 'cache-control']
      return [answer.status, ...names.map((name) => answer.headers.get(name))]
    }
    const xml = 'application/xml; charset=utf-8'
    const forEver = 'public, max-age=31536000, immutable'
    expect(await headers('/iati/activities.xml')).toEqual([200, xml, null, 'public, no-cache'])
    expect(await headers('/iati/activities.xml.gz')).toEqual([200, xml, 'gzip', 'public, no-cache'])
    expect(await headers(`/feeds/releases/${first}/iati/activities.xml`)).toEqual([200, xml, null, forEver])
    expect(await headers(`/feeds/releases/${first}/data/activities.parquet`)).toEqual([
      200,
      'application/vnd.apache.parquet',
      null,
      forEver,
    ])
    // What never changes comes first, then permanent names, the manifest after all others.
    const keys = server.writes().map((write) => write.split(' ')[1] ?? '')
    const firstName = keys.findIndex((key) => !key.startsWith('feeds/releases/'))
    expect(keys.slice(0, firstName).length).toBeGreaterThan(20)
    expect(keys.slice(firstName).filter((key) => key.startsWith('feeds/releases/'))).toEqual([])
    expect(keys.slice(-3)).toEqual(['feeds/manifest.json', 'feeds/status.json', 'feeds/checked.json'])

    // Nothing is sent twice: what did not change is copied inside it, or left.
    server.requests.length = 0
    expect(await deliver()).toBe('up to date')
    expect(server.requests).toEqual([])
    const id = await publishChange('Another title')
    await deliver()
    const sent = server.writes().filter((write) => write.startsWith('PUT'))
    const changed = (await publisher.manifest()).files.filter(({ lastModified }) =>
      lastModified.startsWith('2026-11-22'),
    )
    const expected = [...changed.map(({ path }) => path), '/feeds/releases.json', '/feeds/manifest.json']
    const twins = changed.filter(({ gzipBytes }) => gzipBytes > 0).map(({ path }) => `${path}.gz`)
    expect(sent.sort()).toEqual(
      [
        ...[...expected, ...twins].map((path) => `PUT feeds/releases/${id}${path}`),
        'PUT feeds/manifest.json',
        'PUT feeds/status.json',
        'PUT feeds/checked.json',
      ].sort(),
    )
    expect(changed.length).toBeLessThan((await publisher.manifest()).files.length)
    expect(server.writes()).not.toContain('COPY iati/organisations.xml')
    expect(await verify()).toEqual({ findings: [], release: id })

    // After a run without changes it tells that it is up to date.
    publisher.now = new Date(publisher.now.getTime() + 48 * 3_600_000)
    expect((await verify()).findings).toMatchObject([{ code: 'frozen' }])
    await publisher.publish()
    server.requests.length = 0
    await deliver()
    expect(server.writes()).toEqual(['PUT feeds/status.json', 'PUT feeds/checked.json'])
    expect((await verify()).findings).toEqual([])
  })

  it('is completed although every seventh write breaks off', async () => {
    let writes = 0
    server.onWrite = () => ++writes % 7 !== 0
    await deliver()
    expect(await verify()).toMatchObject({ findings: [], release: (await publisher.live()).id })
    expect(writes).toBeGreaterThan(14)
  })

  it('keeps what a delivery left that was not completed, also for the release after it', async () => {
    server.onWrite = ({ key }) => key.startsWith('feeds/releases/')
    await expect(deliver()).rejects.toMatchObject({ code: 'bucket-unavailable' })
    const { id } = await publisher.live()
    await publishChange('Another title')
    server.onWrite = () => true
    server.requests.length = 0
    await deliver()
    const copied = server.writes().filter((write) => write.startsWith('COPY feeds/releases/'))
    expect(copied.length).toBeGreaterThan(5)
    expect(await verify()).toMatchObject({ findings: [] })
    expect((await publisher.live()).id).not.toBe(id)
  })

  it('is behind while it cannot be reached: a note at once, and after ten minutes the need of a person', async () => {
    const health = () =>
      publicationHealth({
        store: database.store,
        releases: createReleaseReader(publisher.feedsDir),
        clock: publisher.deps.clock,
      })
    expect(await health()).toMatchObject({ bucketBehind: undefined, needs: [], warnings: [] })
    server.onWrite = () => false
    await expect(deliver()).rejects.toMatchObject({ code: 'bucket-unavailable' })
    expect(await health()).toMatchObject({
      bucketBehind: true,
      needs: [],
      warnings: [
        expect.stringContaining('the bucket has no release, since 2026-11-21T02:00:00Z nothing can be delivered'),
      ],
    })
    publisher.now = new Date(publisher.now.getTime() + 600_000)
    await expect(deliver()).rejects.toMatchObject({ code: 'bucket-unavailable' })
    expect(await health()).toMatchObject({ needs: [{ cause: 'bucket-behind' }], warnings: [] })
    server.onWrite = () => true
    await deliver()
    expect(await health()).toMatchObject({ bucketBehind: false, needs: [], warnings: [] })
  })

  it('is written to by one process at a time', async () => {
    let second: Promise<string> | undefined
    server.onWrite = () => {
      second ??= tryToDeliver()
      return true
    }
    await deliver()
    expect(await second).toBe(busy)
    expect(await findBucketState(database.store.db)).toMatchObject({ release: (await publisher.live()).id })
  })

  it('may be of a service that knows no conditional writes', async () => {
    server.conditions = 'refused'
    await deliver()
    const second = await publishChange('Another title')
    await deliver()
    expect(await verify()).toEqual({ findings: [], release: second })
    const signal = new AbortController().signal
    const bucket = await openBucket(server.settings, signal)
    const object = { key: 'a', body: Buffer.from('a'), mediaType: 'text/plain', sha256: 'a', lifetime: 'live' } as const
    await expect(bucket.putIf(object, undefined)).rejects.toMatchObject({ code: 'bucket-unavailable' })
  })
})

describe('a bucket with a release', () => {
  beforeEach(asDelivered)

  it('has the feed of a project with each of its reports, one after another', async () => {
    const report = async (id: number, projectId: number) => {
      await database.store.db.query(
        `insert into progress_report (id, project_id, title, author_name, published_at, updated_at, content_html, url)
          values ($1::bigint, $2, 'Report', 'Ana', '2026-11-20', '2026-11-20', '<p>Done.</p>', 'https://reports.example/' || $1::bigint)`,
        [id, projectId],
      )
      await publishChange(`Report ${id}`)
      server.requests.length = 0
      await deliver()
    }
    const feed = async (id: number) => await (await fetch(`${server.url}/feeds/projects/${id}/reports.atom`)).text()
    await report(1, 2)
    await report(2, 3)
    await report(3, 3)
    expect(await feed(2)).toContain('https://reports.example/1')
    for (const id of [2, 3]) expect(await feed(3)).toContain(`https://reports.example/${id}`)
    expect(server.writes().filter((write) => write.startsWith('PUT feeds/projects/'))).toEqual([
      'PUT feeds/projects/3/reports.atom',
    ])
  })

  it('keeps the set before whole when a delivery breaks off, and is repaired by the next one', async () => {
    const first = (await publisher.live()).id
    const second = await publishChange('Another title')
    let left = 5
    server.onWrite = () => left-- > 0
    await expect(deliver()).rejects.toMatchObject({ code: 'bucket-unavailable' })
    expect(await followedRelease(server)).toBe(first)
    // Killed while names are moved; the campaign has every place.
    const { url } = database
    expect(await killDelivery(server, url, publisher.feedsDir, 40)).toBe(true)
    expect([first, second]).toContain(await followedRelease(server))
    await deliver()
    expect(await verify()).toEqual({ findings: [], release: second })
  })

  it('that fails often gets the newest release first while releases go on', async () => {
    await publishChange('Another title')
    const manifests = new Set<string>()
    let [writes, titles] = [0, 0]
    server.onWrite = async ({ key }) => {
      writes++
      // It follows the manifest.
      if (key === 'feeds/status.json') manifests.add((await followedRelease(server)) ?? 'mixed')
      // Twice within one delivery a newer release goes live.
      if (titles < 2 && writes === 10 * (titles + 1)) await publishChange(`Title ${++titles} while it is delivered`)
      return writes % 3 !== 0
    }
    for (let tries = 0; tries < 8; tries++) if ((await deliver().catch(() => undefined)) !== undefined) break
    const { id } = await publisher.live()
    expect(titles).toBe(2)
    // None of those that were overtaken was completed before.
    expect([...manifests]).toEqual([id])
    expect(await followedRelease(server)).toBe(id)
    server.onWrite = () => true
    await deliver()
    expect(await verify()).toEqual({ findings: [], release: id })
  })

  it('keeps the releases that are on disk, and the one that its readers followed until now', async () => {
    const ids = [(await publisher.live()).id]
    for (let day = 1; day <= 4; day++) {
      ids.push(await publishChange(`Title of day ${day}`))
      await deliver()
    }
    const kept = new Set<string>()
    for (const id of ids) {
      const { status } = await fetch(`${server.url}/feeds/releases/${id}/iati/activities.xml`)
      if (status === 200) kept.add(id)
    }
    expect([...kept].sort()).toEqual((await publisher.names('releases')).sort())
  })

  it('keeps what another process delivered while this one stood still', async () => {
    const second = await publishChange('Another title')
    const bucket = await openBucket(server.settings, new AbortController().signal)
    const newer = Buffer.from('{"release":"newer","files":[]}')
    server.onWrite = async ({ key }) => {
      if (key !== 'feeds/manifest.json') return true
      server.onWrite = () => true
      await bucket.put({ key, body: newer, mediaType: 'application/json', sha256: 'newer', lifetime: 'live' })
      return true
    }
    await expect(deliver()).rejects.toMatchObject({ message: expect.stringContaining('another process has delivered') })
    expect(await (await fetch(`${server.url}/feeds/manifest.json`)).text()).toBe(`${newer}`)
    await deliver()
    expect(await verify()).toEqual({ findings: [], release: second })
  })
})
