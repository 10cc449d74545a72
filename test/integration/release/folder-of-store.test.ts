import { cp, mkdir, readFile, rename, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { hostname } from 'node:os'
import path from 'node:path'
import { json } from 'node:stream/consumers'
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { openQueue, queueSettings } from '../../../jobs/queue.js'
import { readConfig } from '../../../src/platform/config/config.js'
import { createLog } from '../../../src/platform/observability/log.js'
import { createReleaseReader } from '../../../src/release/read/release-reader.js'
import { newInstallation } from '../../support/commands/cli.js'
import { commandStore } from '../../support/commands/command-store.js'
import { startBucketServer } from '../../support/servers/bucket-server.js'
import { insertProjects } from '../../support/store/catalogue.js'
import { temporaryFolder } from '../../support/values/temporary-folder.js'

const parent = await temporaryFolder()

/** A store with a project, and commands of processes that have one data directory or another. */
async function newStore(settings: Record<string, string> = {}) {
  const commands = await commandStore({ REPORTING_ORG_REF: 'GB-CHC-1164883', ...settings })
  const { store, url } = commands
  await insertProjects(store.db, [{ id: 7 }])
  let titles = 0
  const at = (dataDir: string, changes: Record<string, string> = {}) => {
    const all = { GIVING_DATA_DIR: dataDir, ...changes }
    return {
      place: `${hostname()}:${path.join(dataDir, 'feeds')}`,
      live: async () => (await createReleaseReader(path.join(dataDir, 'feeds')).live())?.id,
      /** Publishes a change. */
      publish: async () => {
        titles += 1
        await store.db.query('update project set title = $1', [`Title ${titles}`])
        return await commands.json('publish --inline', all)
      },
      run: (args: string) => commands.run(args, all),
      json: (args: string) => commands.json(args, all),
    }
  }
  return { store, url, at }
}

const published = { code: 0, answer: { state: 'published' } }

/** The answer of a command that was refused, with these parts in the message. */
const refusedWith = (...parts: readonly string[]) => ({
  code: 2,
  answer: { error: { code: 'folder-differs', message: expect.stringMatching(inOrder(parts)) } },
})
const inOrder = (parts: readonly string[]) =>
  new RegExp(parts.map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')).join('.*'))

const use = 'giving releases use-folder --confirm'

// One story: each test goes on from where the one before it has left the store.
describe('the folder of a store', { shuffle: false }, () => {
  let ours: Awaited<ReturnType<typeof newStore>>
  const of = (name: string) => ours.at(path.join(parent, name))
  beforeAll(async () => {
    ours = await newStore()
  })

  it('is the one that was published into first: another one is refused with both named', async () => {
    const [first, second] = [of('first'), of('second')]
    expect(await first.json('releases folder')).toMatchObject({ code: 0, answer: {} })
    expect(await first.publish()).toMatchObject(published)
    expect(await second.publish()).toMatchObject(refusedWith(first.place, second.place, 'is empty', use))
    expect(await second.live()).toBeUndefined()
    expect(await first.publish()).toMatchObject(published)
    expect((await first.run('releases folder')).stdout).toMatch(inOrder(['store: ', first.place, ', since 20']))
    expect(await second.run('releases folder')).toMatchObject({ code: 1, stdout: expect.stringContaining(use) })
  })

  it('is shown by status and doctor, which say what is wrong where another one is', async () => {
    const [first, second] = [of('first'), of('second')]
    expect((await first.run('status')).stdout).toContain(`folder:         ${first.place}\n`)
    expect((await first.run('doctor')).stdout).toMatch(
      inOrder(['ok    database:', 'releases are in the folder', first.place]),
    )
    const status = await second.json('status')
    expect([status.code, status.answer.needs]).toEqual([
      1,
      expect.arrayContaining([expect.stringMatching(inOrder([first.place, second.place, use]))]),
    ])
    expect((await second.run('doctor')).stdout).toMatch(
      inOrder(['FIX   database:', first.place, second.place, '-> giving releases folder']),
    )
  })

  it('of another store, or a copy without its file, is another one', async () => {
    const theirs = await newStore()
    expect(await theirs.at(path.join(parent, 'theirs')).publish()).toMatchObject(published)
    expect(await of('theirs').publish()).toMatchObject(
      refusedWith(of('first').place, of('theirs').place, 'is another one', use),
    )
    await cp(path.join(parent, 'first'), path.join(parent, 'copy'), { recursive: true, verbatimSymlinks: true })
    await rm(path.join(parent, 'copy/feeds/folder-id'))
    const copy = of('copy')
    expect(await copy.publish()).toMatchObject(refusedWith(of('first').place, copy.place, 'no file folder-id', use))
    const [release] = (await copy.json('releases list')).answer as unknown as { id: string }[]
    for (const command of ['rollback', 'approve']) {
      const stopped = { code: 2, stderr: expect.stringMatching(inOrder([of('first').place, copy.place, use])) }
      expect(await copy.run(`releases ${command} ${release?.id}`)).toMatchObject(stopped)
    }
  })

  it('stays the same when it is moved, or restored from a backup', async () => {
    await rename(path.join(parent, 'first'), path.join(parent, 'moved'))
    await mkdir(path.join(parent, 'first'))
    expect(await of('first').publish()).toMatchObject(
      refusedWith(of('first').place, 'which is empty now: mount, move or restore'),
    )
    expect(await of('moved').publish()).toMatchObject(published)
    expect(await of('second').publish()).toMatchObject(refusedWith(of('moved').place, of('second').place))
    await cp(path.join(parent, 'moved'), path.join(parent, 'restored'), { recursive: true, verbatimSymlinks: true })
    await rm(path.join(parent, 'moved'), { recursive: true })
    expect(await of('restored').publish()).toMatchObject(published)
  })

  it('is changed by a person only, and written down in the audit trail', async () => {
    const [restored, second] = [of('restored'), of('second')]
    const looked = await second.run('releases use-folder')
    expect(looked).toMatchObject({ code: 1, stdout: expect.stringMatching(/writes every file again.*--confirm/s) })
    expect(looked.stdout).toContain(`folder of the store: ${restored.place} -> ${second.place}\n`)
    expect((await second.publish()).code).toBe(2)
    expect((await second.run('releases use-folder --confirm')).code).toBe(0)
    expect(await second.publish()).toMatchObject(published)
    expect(await restored.publish()).toMatchObject(refusedWith(second.place, restored.place, 'is another one'))
    expect((await second.run('audit')).stdout).toMatch(inOrder(['folder-changed']))
    expect(await second.run('releases use-folder --confirm')).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('already'),
    })
  })

  it('keeps its file when the database is older than it', async () => {
    const file = path.join(parent, 'second/feeds/folder-id')
    const id = await readFile(file, 'utf8')
    await ours.store.db.query("delete from store_fact where name = 'release-folder'")
    expect(await of('second').publish()).toMatchObject(published)
    expect(await readFile(file, 'utf8')).toBe(id)
    expect((await of('restored').publish()).code).toBe(2)
  })

  it('of a worker is told to all: one alarm, and in the status of others too', async () => {
    await of('second').publish()
    const told: { alarms: { cause: string; message: string; state: string }[] }[] = []
    let tell = () => {}
    const first = new Promise<void>((resolve) => {
      tell = resolve
    })
    const listener = createServer(async (request, response) => {
      told.push((await json(request)) as (typeof told)[number])
      response.end()
      tell()
    })
    await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => void listener.close())
    const { port } = listener.address() as AddressInfo
    const settings = {
      ...{ DATABASE_URL: ours.url, REPORTING_ORG_REF: 'GB-CHC-1164883', BASE_URL: 'https://giving.example' },
      ...{ ALERT_WEBHOOK_URL: `http://127.0.0.1:${port}/`, ALERT_WEBHOOK_SECRET: 'a-secret-of-sixteen' },
    }
    const other = await newInstallation(settings)
    onTestFinished(other.remove)
    const worker = await other.serve('worker')
    const config = readConfig(settings, ['queue'])
    await using queue = await openQueue(queueSettings({ config, databaseUrl: ours.url }), createLog('silent', 'json'))
    await queue.add({ queue: 'settlement', name: 'tick', data: { schedule: 'alarms' } })
    await first
    const message = expect.stringMatching(inOrder([of('second').place, `${hostname()}:${other.dataDir}/feeds`]))
    expect(told[0]?.alarms).toEqual([expect.objectContaining({ cause: 'folder-refused', state: 'new', message })])
    expect(worker.output()).toMatch(inOrder(['"level":50', 'publishing has stopped']))
    const { code, answer } = await of('second').json('status')
    expect([code, answer.needs]).toEqual([1, [message]])
    worker.kill('SIGTERM')
    expect(await worker.ended).toBe(0)
  })
})

it('two that publish first at once: one has the folder of the store, the other publishes nothing', async () => {
  const ours = await newStore()
  const [left, right] = ['left', 'right'].map((name) => ours.at(path.join(parent, name)))
  if (!left || !right) throw new Error('two')
  const ended = await Promise.all([left.publish(), right.publish()])
  const [of] = ended.filter(({ answer }) => answer.state === 'published')
  expect(of).toBeDefined()
  // One that is overtaken before it looks at its folder is superseded, which is no failure.
  const [other] = ended.filter((one) => one !== of)
  expect(other?.code).toBe(other?.answer.state === 'unchanged' ? 0 : 2)
  expect((await Promise.all([left.live(), right.live()])).filter((id) => id !== undefined)).toHaveLength(1)
})

it('a trial, and machines with copies of a bucket, publish into any folder; others with a bucket do not', async () => {
  await using bucket = await startBucketServer()
  const withBucket = {
    ...{ FEEDS_S3_BUCKET: 'giving', FEEDS_S3_ENDPOINT: bucket.settings.endpoint ?? '' },
    ...{ FEEDS_S3_ACCESS_KEY_ID: 'S3RVER', FEEDS_S3_SECRET_ACCESS_KEY: 'S3RVER' },
  }
  const copies = { ...withBucket, FEEDS_S3_IS_FOLDER: 'on' }
  for (const settings of [{ REPORTING_ORG_REF: 'XE-EXAMPLE-OURS' }, copies]) {
    const ours = await newStore(settings)
    for (const name of ['one', 'two']) {
      const folder = ours.at(path.join(parent, `${settings === copies ? 'bucket' : 'trial'}-${name}`))
      expect(await folder.publish()).toMatchObject(published)
      expect(await folder.run('releases folder')).toMatchObject({
        code: 0,
        stdout: expect.stringContaining('any folder is published into'),
      })
    }
  }
  const ours = await newStore(withBucket)
  expect(await ours.at(path.join(parent, 'delivered-one')).publish()).toMatchObject(published)
  expect(await ours.at(path.join(parent, 'delivered-two')).publish()).not.toMatchObject(published)
})
