import { spawnSync } from 'node:child_process'
import { chmod, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, describe, expect, it, onTestFinished } from 'vitest'
import type { Diagnosis } from '../../../src/cli/service/doctor-inspections.js'
import { releaseFolder } from '../../../src/release/folder/release-folder.js'
import { transpileProgram } from '../../support/commands/cli.js'
import { type Publisher, testPublisher } from '../../support/release/publishing.js'
import { insertProjects } from '../../support/store/catalogue.js'
import { testDatabase } from '../../support/store/database.js'
import { temporaryFolder } from '../../support/values/temporary-folder.js'

const withoutCalls = path.resolve(import.meta.dirname, '../../support/processes/without-calls.py')
const small = path.join(tmpdir(), `giving-small-${process.pid}`)

// A file system of a few megabytes, where this user may make one.
const mount = (options: string) => spawnSync('mount', ['-t', 'tmpfs', '-o', options, 'tmpfs', small]).status === 0

const database = await testDatabase()
await insertProjects(
  database.store.db,
  // More than a COPY sends at once: the disk is full while rows are still on their way.
  Array.from({ length: 300 }, (_, index) => ({ id: index + 1 })),
)
await mkdir(small, { recursive: true })
const mounted = process.getuid?.() === 0 && mount('size=8m')

afterAll(async () => {
  if (mounted) spawnSync('umount', ['-l', small])
  await rm(small, { recursive: true, force: true })
})

const change = (title: string) => database.store.db.query('update project set title = $1 where id = 1', [title])

/** The run, as this user or another, fails with one sentence; the live release stays whole, and no draft remains. */
async function expectFailure(publisher: Publisher, sentence: RegExp, user?: number): Promise<void> {
  const before = await publisher.live()
  const text = await publisher.read('/iati/activities.xml')
  if (user !== undefined) process.seteuid?.(user)
  const run = await publisher.publish()
  // Drafts can be read by their owner only.
  if (user !== undefined) process.seteuid?.(0)
  expect(run).toMatchObject({
    state: 'failed',
    error: { code: 'storage-failed', message: expect.stringMatching(sentence) },
  })
  expect((await publisher.live()).id).toBe(before.id)
  expect(await publisher.read('/iati/activities.xml')).toBe(text)
  expect(await publisher.names('drafts')).toEqual([])
}

describe('a disk', { shuffle: false }, () => {
  it('that is full fails the run, and the next one succeeds once there is room', async (context) => {
    if (!mounted) return context.skip('a small file system can only be mounted as root')
    const publisher = await testPublisher(database.store, { feedsDir: path.join(small, 'feeds') })
    expect(await publisher.publish()).toMatchObject({ state: 'published' })
    const ballast = path.join(small, 'ballast')
    const fill = spawnSync('dd', ['if=/dev/zero', `of=${ballast}`, 'bs=4k'])
    expect(fill.status).not.toBe(0)
    await change('Written while the disk was full')
    await expectFailure(publisher, /^cannot write to .*: the disk is full$/)
    await rm(ballast)
    expect(await publisher.publish()).toMatchObject({ state: 'published' })
    expect(await publisher.read('/iati/activities.xml')).toContain('Written while the disk was full')
  })

  it('that is full of what a killed writer left behind is cleared by the next run', async (context) => {
    if (!mounted) return context.skip('a small file system can only be mounted as root')
    const publisher = await testPublisher(database.store, { feedsDir: path.join(small, 'feeds') })
    await publisher.publish()
    const draft = path.join(releaseFolder(publisher.feedsDir).drafts, '20260101T000000Z-1.1.abcd')
    await mkdir(draft, { recursive: true })
    spawnSync('dd', ['if=/dev/zero', `of=${path.join(draft, 'activities.xml')}`, 'bs=4k'])
    await change('Written after a kill')
    expect(await publisher.publish()).toMatchObject({ state: 'published' })
    expect(await readdir(path.dirname(draft))).toEqual([])
  })

  it('that became read-only fails the run, and the next one succeeds when it can be written again', async (context) => {
    if (!mounted) return context.skip('a file system can only be mounted again as root')
    const publisher = await testPublisher(database.store, { feedsDir: path.join(small, 'feeds') })
    await publisher.publish()
    await change('Written while the disk was read-only')
    mount('remount,ro')
    onTestFinished(() => void mount('remount,rw'))
    await expectFailure(publisher, /^cannot write to .*: the file system is read-only$/)
    mount('remount,rw')
    expect(await publisher.publish()).toMatchObject({ state: 'published' })
  })
})

describe('a file system without', () => {
  const noFilter = (() => {
    if (process.platform !== 'linux') return 'only Linux can take calls of the kernel away from a process'
    const { status, stderr, error } = spawnSync('python3', [withoutCalls, 'link', 'true'], { encoding: 'utf8' })
    return status === 0 ? undefined : `calls of the kernel cannot be taken away here: ${error?.message ?? stderr}`
  })()
  // The kernel refuses the call to the whole process, as a file system refuses it that does not have it.
  const give = async (calls: string, dataDir: string, args: readonly string[]) => {
    const program = [process.execPath, path.join(await transpileProgram(), 'src/cli.js'), ...args]
    const { PATH = '', HOME = '' } = process.env
    const settings = {
      ...{ DATABASE_URL: database.url, REPORTING_ORG_REF: 'GB-CHC-1164883', LOG_LEVEL: 'silent' },
      FACTS_CONFIRMED: 'yes',
    }
    return spawnSync('python3', [withoutCalls, calls, ...program], {
      encoding: 'utf8',
      env: { PATH, HOME, GIVING_DATA_DIR: dataDir, BASE_URL: 'https://giving.example', ...settings },
    })
  }
  const newFolder = async () => {
    const folder = await temporaryFolder()
    await database.store.db.query("delete from store_fact where name = 'release-folder'")
    return folder
  }

  it('some operation: doctor names each that is missing, and leaves nothing behind', async (context) => {
    if (noFilter !== undefined) return context.skip(noFilter)
    const folder = await newFolder()
    const { stdout } = await give('link,symlink,rename,fsync', folder, ['doctor', '--json'])
    const { diagnoses } = JSON.parse(stdout) as { diagnoses: Diagnosis[] }
    const told = diagnoses.filter(({ about }) => about === 'data directory').slice(0, -1)
    const none = `cannot write to ${folder}: its file system has no`
    const nothing = 'nothing can be published there'
    expect(told.map(({ state, message }) => [state, message])).toEqual([
      ['note', `link: ${none} hard links: files that stay the same are copied into each release`],
      ['fix', `symlink: ${none} symbolic links: ${nothing}`],
      ['fix', `rename: ${none} renaming of files: ${nothing}`],
      ['fix', `fsync: ${none} way to sync files and folders to disk (fsync): ${nothing}`],
    ])
    expect(await readdir(folder)).toEqual([])
  })

  it.for([
    ['symlink', 'symbolic links'],
    ['fsync', 'way to sync files and folders to disk (fsync)'],
  ] as const)('%s fails a run with one sentence', async ([call, what], context) => {
    if (noFilter !== undefined) return context.skip(noFilter)
    const run = await give(call, await newFolder(), ['publish', '--inline', '--json'])
    expect([run.status, JSON.parse(run.stdout)]).toMatchObject([
      2,
      { error: { code: 'storage-failed', message: expect.stringContaining(`: its file system has no ${what}`) } },
    ])
  })

  it('hard links has a copy of what stays the same in each release', async (context) => {
    if (noFilter !== undefined) return context.skip(noFilter)
    const folder = await newFolder()
    for (const title of ['Before', 'After']) {
      await change(title)
      const run = await give('link', folder, ['publish', '--inline', '--json'])
      const { state, error } = JSON.parse(run.stdout) as Record<string, unknown>
      expect({ state, error }).toEqual({ state: 'published' })
    }
    const releases = path.join(folder, 'feeds/releases')
    const texts = await Promise.all(
      (await readdir(releases)).map((id) => readFile(path.join(releases, id, 'iati/organisations.xml'), 'utf8')),
    )
    expect(texts).toEqual([texts[0], texts[0]])
  })
})

describe('a folder', () => {
  it('of another owner fails the run with one sentence', async (context) => {
    const root = process.getuid?.() === 0
    const parent = await temporaryFolder()
    await chmod(parent, 0o755)
    const feedsDir = path.join(parent, 'feeds')
    const publisher = await testPublisher(database.store, { feedsDir })
    await publisher.publish()
    await change('Written by somebody else')
    if (root) {
      if (!process.seteuid) return context.skip('this system knows no users')
      onTestFinished(() => process.seteuid?.(0))
      await expectFailure(publisher, /^cannot write to .*: permission denied$/, 65_534)
    } else {
      const { drafts } = releaseFolder(feedsDir)
      await chmod(drafts, 0o500)
      await expectFailure(publisher, /^cannot write to .*: permission denied$/)
      await chmod(drafts, 0o700)
    }
    expect(await publisher.publish()).toMatchObject({ state: 'published' })
    await rm(parent, { recursive: true })
  })

  it('that is a file fails the run with one sentence', async () => {
    const parent = await temporaryFolder()
    await writeFile(path.join(parent, 'feeds'), '')
    const publisher = await testPublisher(database.store, { feedsDir: path.join(parent, 'feeds') })
    expect(await publisher.publish()).toMatchObject({
      state: 'failed',
      error: {
        code: 'storage-failed',
        message: expect.stringContaining('something that is not a folder is in the way'),
      },
    })
    await rm(parent, { recursive: true })
  })
})
