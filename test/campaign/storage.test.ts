import { spawnSync } from 'node:child_process'
import { chmod, open, rm, statfs } from 'node:fs/promises'
import path from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { faultsOf } from '../support/release/published-folder.js'
import { testPublisher } from '../support/release/publishing.js'
import { insertProjects } from '../support/store/catalogue.js'
import { type TestDatabase, testDatabase } from '../support/store/database.js'
import { temporaryFolder } from '../support/values/temporary-folder.js'
import { askForRun, createFleet, type Fleet, runEnded } from './support/fleet.js'
import { record, seeded } from './support/record.js'
import { scale } from './support/scale.js'

const notRoot = process.getuid?.() === 0 ? undefined : 'a small file system can only be mounted as root'

/** A file system in memory of so many megabytes. */
async function smallDisk(megabytes: number) {
  const dir = await temporaryFolder()
  const mount = (options: string) => spawnSync('mount', ['-t', 'tmpfs', '-o', options, 'tmpfs', dir]).status === 0
  const mounted = mount(`size=${megabytes}m`)
  onTestFinished(async () => {
    if (mounted) spawnSync('umount', ['-l', dir])
  })
  return { dir, mounted, mount }
}

/** Writes a file that leaves only so many bytes of the disk. */
async function fillUp(dir: string, left: number): Promise<() => Promise<void>> {
  const ballast = path.join(dir, 'ballast')
  const { bavail, bsize } = await statfs(dir)
  const file = await open(ballast, 'w')
  const block = Buffer.alloc(64 * 1024)
  for (let rest = bavail * bsize - left; rest > 0; rest -= block.length) {
    await file.write(block, 0, Math.min(block.length, rest))
  }
  await file.close()
  return () => rm(ballast)
}

async function fleetOn(dataDir: string, { store, url }: TestDatabase): Promise<Fleet> {
  await insertProjects(
    store.db,
    Array.from({ length: 300 }, (_, index) => ({ id: index + 1 })),
  )
  const fleet = await createFleet({ DATABASE_URL: url, GIVING_DATA_DIR: dataDir })
  onTestFinished(fleet.end)
  await fleet.start('worker')
  return fleet
}

test('a disk that fills up at any point of a publication', async (context) => {
  if (notRoot) return context.skip(notRoot)
  const { store } = await testDatabase()
  const disk = await smallDisk(12)
  if (!disk.mounted) return context.skip('no file system can be mounted here')
  const random = seeded('disk full')
  await insertProjects(
    store.db,
    Array.from({ length: 300 }, (_, index) => ({ id: index + 1 })),
  )
  const publisher = await testPublisher(store, { feedsDir: path.join(disk.dir, 'feeds') })
  expect(await publisher.publish()).toMatchObject({ state: 'published' })
  const needed = (await publisher.manifest()).files.reduce((sum, { bytes, gzipBytes }) => sum + bytes + gzipBytes, 0)
  const tried = scale.faults * 5
  let failed = 0
  for (let round = 1; round <= tried; round++) {
    const before = await publisher.live()
    await store.db.query('update project set title = $1', [`Round ${round}`])
    const free = await fillUp(disk.dir, Math.floor(random() * needed * 1.3))
    const run = await publisher.publish()
    if (run.state === 'failed') {
      failed++
      expect(run.error?.message).toMatch(/^cannot write to \S+: the disk is full$/)
      // Bulk files come after the release: it may be live already.
      expect(before.manifest.run).toBeLessThanOrEqual((await publisher.live()).manifest.run)
    } else expect(run.state).toBe('published')
    await free()
    expect(['published', 'unchanged']).toContain((await publisher.publish()).state)
    expect(await publisher.read('/iati/activities.xml')).toContain(`Round ${round}<`)
    expect(await faultsOf(publisher.feedsDir, store)).toEqual([])
    // Kept releases would fill it.
    for (const name of await publisher.names('releases')) {
      if (name !== (await publisher.live()).id)
        await rm(path.join(publisher.feedsDir, 'releases', name), { recursive: true })
    }
  }
  expect(failed).toBeGreaterThan(0)
  record({
    name: 'disk full at a random point of a publication',
    engine: '-',
    tried,
    outcome: `${failed} failed with one sentence, ${tried - failed} found room; the live release stayed, the next run published`,
  })
})

test('a worker whose disk is full or read-only says so and publishes once there is room', async (context) => {
  if (notRoot) return context.skip(notRoot)
  const disk = await smallDisk(12)
  if (!disk.mounted) return context.skip('no file system can be mounted here')
  const database = await testDatabase()
  const { store } = database
  const fleet = await fleetOn(disk.dir, database)
  expect(await runEnded(store, await askForRun(store))).toMatchObject({ state: 'published' })
  const cases = [
    {
      name: 'worker with a full disk',
      sentence: 'the disk is full',
      begin: async () => await fillUp(disk.dir, 0),
    },
    {
      name: 'worker with a read-only disk',
      sentence: 'the file system is read-only',
      begin: async () => {
        disk.mount('remount,ro')
        return async () => void disk.mount('remount,rw')
      },
    },
  ]
  for (const { name, sentence, begin } of cases) {
    await store.db.query('update project set title = $1', [name])
    const end = await begin()
    const run = await runEnded(store, await askForRun(store))
    expect(run).toMatchObject({ state: 'failed', error: { code: 'storage-failed' } })
    expect(run.error?.message).toMatch(new RegExp(`^cannot write to \\S+: ${sentence}$`))
    await end()
    expect(await runEnded(store, await askForRun(store))).toMatchObject({ state: 'published' })
    expect(await faultsOf(fleet.feedsDir, store)).toEqual([])
    record({ name, engine: '-', tried: 1, outcome: `failed after five tries: "${sentence}"; then published` })
  }
  expect(fleet.processes.map(({ running }) => running)).toEqual([true])
})

test('a folder of another owner', async (context) => {
  if (!process.seteuid || notRoot) return context.skip('only root can become another user')
  const { store } = await testDatabase()
  await insertProjects(store.db, [{ id: 1 }])
  const parent = await temporaryFolder()
  await chmod(parent, 0o755)
  const publisher = await testPublisher(store, { feedsDir: path.join(parent, 'feeds') })
  expect(await publisher.publish()).toMatchObject({ state: 'published' })
  const before = await publisher.live()
  await store.db.query(`update project set title = 'Written by another user'`)
  process.seteuid(65_534)
  const run = await publisher.publish().finally(() => process.seteuid?.(0))
  expect(run).toMatchObject({ state: 'failed', error: { code: 'storage-failed' } })
  expect(run.error?.message).toMatch(/^cannot write to \S+: permission denied$/)
  expect((await publisher.live()).id).toBe(before.id)
  expect(await publisher.publish()).toMatchObject({ state: 'published' })
  expect(await faultsOf(publisher.feedsDir, store)).toEqual([])
  record({
    name: 'folder of another owner',
    engine: '-',
    tried: 1,
    outcome: 'failed with one sentence; then published',
  })
})
