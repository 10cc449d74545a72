import { readdir, rm } from 'node:fs/promises'
import path from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openBucket } from '../../../src/extensions/bucket/bucket.js'
import { createSharedFolder } from '../../../src/extensions/bucket/shared-folder.js'
import { bulkFolder, createBulkReader } from '../../../src/extensions/bulk/bulk-reader.js'
import { releaseFolder } from '../../../src/release/folder/release-folder.js'
import { approveRelease, rollbackRelease, withdrawLiveRelease } from '../../../src/release/operate/operate-releases.js'
import type { SharedFolders } from '../../../src/release/publication.js'
import { createReleaseReader } from '../../../src/release/read/release-reader.js'
import { faultsOf } from '../../support/release/published-folder.js'
import { type Publisher, testPublisher } from '../../support/release/publishing.js'
import { newSigner } from '../../support/release/signer.js'
import { type BucketServer, startBucketServer } from '../../support/servers/bucket-server.js'
import { insertProjects, loseProjects } from '../../support/store/catalogue.js'
import { type TestDatabase, testDatabase } from '../../support/store/database.js'
import { temporaryFolder } from '../../support/values/temporary-folder.js'

type Machine = Publisher & { readonly shared: SharedFolders }

const signer = newSigner()
let database: TestDatabase
let server: BucketServer
let one: Machine
let other: Machine
let isAway = false

async function machine(changes: { readonly keepReleases?: number } = {}): Promise<Machine> {
  const feedsDir = await temporaryFolder()
  const endpoint = () => (isAway ? 'http://127.0.0.1:1' : server.settings.endpoint)
  const bucket = () => openBucket({ ...server.settings, endpoint: endpoint() }, new AbortController().signal)
  const common = { bucket, clock: () => new Date('2026-11-21T02:00:00Z'), begin: async () => undefined }
  const bulk = createSharedFolder({ ...common, folder: bulkFolder(feedsDir), name: 'bulk' })
  const shared = {
    releases: createSharedFolder({ ...common, folder: releaseFolder(feedsDir), name: 'releases' }),
    beside: () => bulk,
    shareSeen: async () => undefined,
  }
  const publisher = await testPublisher(database.store, { ...changes, feedsDir, shared, signer })
  return Object.assign(publisher, { shared })
}

/** Publishes on a machine after a change of the store, a day later. */
async function publishOn(publisher: Machine, title: string): Promise<string> {
  await database.store.db.query('update project set title = $1 where id = 1', [title])
  for (const each of [one, other]) each.now = new Date(each.now.getTime() + 24 * 3_600_000)
  const run = await publisher.publish()
  expect(run.state).toBe('published')
  return (await publisher.live()).id
}

/** What readers of a machine get: the live release, and every fault of its files. */
async function servedBy({ shared, feedsDir }: Machine) {
  await shared.releases.follow()
  await shared.beside('bulk').follow()
  const live = await createReleaseReader(feedsDir).live()
  return { live: live?.id, faults: await faultsOf(feedsDir, database.store) }
}

beforeEach(async () => {
  database = await testDatabase()
  server = await startBucketServer()
  isAway = false
  await insertProjects(
    database.store.db,
    [1, 2, 3, 4, 5, 6].map((id) => ({ id })),
  )
  one = await machine()
  other = await machine()
})
afterEach(async () => {
  await server[Symbol.asyncDispose]()
})

describe('machines that share no folder', () => {
  it('have one live release, whichever publishes, rolls back or withdraws', async () => {
    expect(await createReleaseReader(other.feedsDir).live()).toBeUndefined()
    const first = await publishOn(one, 'First')
    expect(await servedBy(other)).toEqual({ live: first, faults: [] })
    expect(await other.read('/iati/activities.xml')).toBe(await one.read('/iati/activities.xml'))
    const bulk = (await createBulkReader(one.feedsDir).current())?.token
    expect((await createBulkReader(other.feedsDir).current())?.token).toBe(bulk)
    expect((await createReleaseReader(other.feedsDir).checked())?.sha256).toBe(
      (await createReleaseReader(one.feedsDir).checked())?.sha256,
    )

    // The other one goes on from it: what did not change is neither written nor sent again.
    server.requests.length = 0
    const second = await publishOn(other, 'Second')
    expect((await other.manifest()).previous).toBe(first)
    expect(server.writes().filter((write) => write.includes('organisations.xml'))).toEqual([])
    expect(await servedBy(one)).toEqual({ live: second, faults: [] })
    expect((await one.publish()).state).toBe('unchanged')

    const { release, from } = await rollbackRelease(one.deps, first)
    expect([release, from]).toEqual([first, second])
    expect(await servedBy(other)).toEqual({ live: first, faults: [] })
    expect((await other.publish()).state).toBe('unchanged')
    await withdrawLiveRelease(other.deps)
    await one.shared.releases.follow()
    expect(await createReleaseReader(one.feedsDir).live()).toBeUndefined()
  })

  it('approve what another one has held', async () => {
    const first = await publishOn(one, 'First')
    await loseProjects(database.store, [2, 3, 4])
    const held = await one.publish()
    expect(held.state).toBe('held')
    expect(await servedBy(other)).toEqual({ live: first, faults: [] })
    const id = held.releaseId ?? ''
    await approveRelease(other.deps, id, { acceptLoss: true })
    expect(await servedBy(one)).toEqual({ live: id, faults: [] })
    expect(await one.names('held')).toEqual([])
  })

  it('refuse a writer that was cut off, and serve on while the bucket is away', async () => {
    const first = await publishOn(one, 'First')
    await other.shared.releases.pull()
    const second = await publishOn(one, 'Second')
    await rm(path.join(other.feedsDir, 'held'), { recursive: true, force: true })
    await expect(other.shared.releases.push(null)).rejects.toMatchObject({ code: 'server-busy' })
    expect((await other.live()).id).toBe(first)
    expect(await servedBy(one)).toEqual({ live: second, faults: [] })
    isAway = true
    await expect(other.shared.releases.follow()).rejects.toMatchObject({ code: 'bucket-unavailable' })
    expect((await other.live()).id).toBe(first)
    isAway = false
    expect(await servedBy(other)).toEqual({ live: second, faults: [] })
  })

  it('find whole releases, and go on, wherever a writer was killed between two writes', async () => {
    let before = await publishOn(one, 'First')
    for (let at = 0, whole = false; !whole; at += 7) {
      let left = at
      // The connection ends, as for a writer that is killed; its first write is one of `at` in a series of about forty.
      server.onWrite = () => left-- > 0
      await database.store.db.query('update project set title = $1 where id = 1', [`Title ${at}`])
      const ended = await one.publish().catch(() => undefined)
      whole = ended?.state === 'published'
      server.onWrite = () => true
      const seen = await servedBy(other)
      expect(seen.faults).toEqual([])
      if (!whole) expect([before, (await one.live()).id]).toContain(seen.live)
      before = await publishOn(other, `Title of the other ${at}`)
      expect((await servedBy(one)).live).toBe(before)
    }
  })

  it('remove what is no release any more from their folders, and from the bucket what none has', async () => {
    one = await machine({ keepReleases: 1 })
    const ids: string[] = []
    for (let day = 0; day < 6; day++) {
      ids.push(await publishOn(one, `Day ${day}`))
      await other.shared.releases.follow()
    }
    expect(await one.names('releases')).not.toContain(ids[0])
    expect(await other.names('releases')).toEqual(await one.names('releases'))
    const keys: string[] = []
    const bucket = await openBucket(server.settings, new AbortController().signal)
    for await (const key of bucket.keys('store/releases/')) keys.push(key)
    expect(keys.some((key) => key.includes(`${ids[0]}-`) && key.endsWith('list.json'))).toBe(false)
    expect(keys.some((key) => key.includes(`${ids[5]}-`))).toBe(true)
    expect(await servedBy(other)).toEqual({ live: ids[5], faults: [] })
    expect((await readdir(path.join(other.feedsDir, 'lists'))).length).toBe((await one.names('releases')).length)
  })
})
