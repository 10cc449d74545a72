import { createHash } from 'node:crypto'
import { readFile, rm, stat, symlink, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { type SeenRelease, verifyPublished } from '../../../src/extensions/verify/verify-published.js'
import { parseSigningKey } from '../../../src/kernel/release-chain.js'
import { rollbackRelease } from '../../../src/release/operate/operate-releases.js'
import { createReleaseReader } from '../../../src/release/read/release-reader.js'
import { listen, testApi } from '../../support/api/api.js'
import { runCommandLine } from '../../support/commands/command-line.js'
import { type Publisher, testPublisher } from '../../support/release/publishing.js'
import { newSigner } from '../../support/release/signer.js'
import { insertProjects } from '../../support/store/catalogue.js'
import { type TestDatabase, testDatabase } from '../../support/store/database.js'

const signer = newSigner()
let database: TestDatabase
let publisher: Publisher

beforeEach(async () => {
  database = await testDatabase()
  publisher = await testPublisher(database.store, { signer })
  await insertProjects(database.store.db, [{ id: 1 }, { id: 2 }])
  await publishTitle('First')
})

async function publishTitle(title: string, by = publisher): Promise<void> {
  by.now = new Date(publisher.now.getTime() + 3_600_000)
  publisher.now = by.now
  await database.store.db.query('update project set title = $1 where id = 1', [title])
  expect((await by.publish()).state).toBe('published')
}

/** Verifies over HTTP, as a reader that has seen `last` does. */
async function verify(last?: SeenRelease, key = signer) {
  const { app } = await testApi(database.store, {
    store: database.store,
    releases: createReleaseReader(publisher.feedsDir),
  })
  const options = { maxAgeHours: 36, maxSeconds: 60, signal: new AbortController().signal, publicKey: key.publicKey }
  return await verifyPublished({ ...options, baseUrl: await listen(app), now: publisher.now, last })
}
const codes = async (...of: Parameters<typeof verify>) => (await verify(...of)).findings.map(({ code }) => code)

async function overwrite(target: string, text: string): Promise<void> {
  // Carried files are hard links: a new inode changes this release only.
  await rm(target)
  await writeFile(target, text)
}

/** The key that the text of a key file holds. */
function signingKeyIn(text: string) {
  const read = parseSigningKey(text)
  if ('value' in read) return read.value
  throw new Error(read.expected)
}

describe('giving keys signing create', () => {
  it('writes a key that only its owner reads, and giving verify takes the public key that it prints', async () => {
    const folder = path.dirname(publisher.feedsDir)
    const [file, next, shown] = ['key', 'next', 'public'].map((name) =>
      path.join(folder, `${path.basename(publisher.feedsDir)}-${name}.pem`),
    ) as [string, string, string]
    const run = (...args: string[]) => runCommandLine(args, { LOG_LEVEL: 'silent' })
    try {
      const made = JSON.parse((await run('keys', 'signing', 'create', '--file', file, '--json')).stdout) as {
        id: string
        publicKey: string
      }
      expect((await stat(file)).mode & 0o777).toBe(0o600)
      expect(await run('keys', 'signing', 'create', '--file', file)).toMatchObject({
        code: 2,
        stderr: expect.stringContaining(file),
      })
      const replaced = await run('keys', 'signing', 'create', '--file', next, '--replace', file)
      expect(replaced.stdout).not.toContain('PRIVATE')
      expect(signingKeyIn(await readFile(next, 'utf8')).replaces).toBe(made.id)
      const printed = /-----BEGIN[\s\S]*/.exec(replaced.stdout)?.[0] ?? ''
      expect(printed).toBe(signingKeyIn(await readFile(next, 'utf8')).publicKey)
      await writeFile(shown, printed)
      const { app } = await testApi(database.store, {
        store: database.store,
        releases: createReleaseReader(publisher.feedsDir),
      })
      const verified = await run('verify', await listen(app), '--key', shown, '--max-age', '100000h', '--json')
      expect([verified.code, JSON.parse(verified.stdout).findings]).toMatchObject([1, [{ code: 'forged' }]])
      const refused = await run('verify', 'http://127.0.0.1:9', '--key', path.join(folder, 'nowhere.pem'))
      expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining('nowhere.pem') })
    } finally {
      await Promise.all([file, next, shown].map((one) => rm(one, { force: true })))
    }
  })
})

describe('signed releases', () => {
  it('are genuine, and their public key is one of their files', async () => {
    const first = await verify()
    expect(first.findings).toEqual([])
    expect(await publisher.read('/.well-known/giving-iati-key.pem')).toBe(signer.publicKey)
    await publishTitle('Second')
    expect(await codes(first.seen)).toEqual([])
    const { previous, previousSha256 } = await publisher.manifest()
    expect([previous, previousSha256]).toEqual([first.release, first.seen.manifestSha256])
  })

  it('show a file and its manifest that were changed together', async () => {
    const address = '/iati/activities.xml'
    const live = await publisher.live()
    const text = (await publisher.read(address)).replace('First', 'Other')
    const sha256 = createHash('sha256').update(text).digest('hex')
    const manifest = JSON.stringify(live.manifest).replaceAll(
      live.manifest.files.find((file) => file.path === address)?.sha256 ?? '',
      sha256,
    )
    await overwrite(path.join(publisher.feedsDir, 'current', address), text)
    await overwrite(path.join(publisher.feedsDir, 'current', 'manifest.json'), manifest)
    expect(await codes()).toContain('forged')
  })

  it('show an older release, also to a reader that has never been here', async () => {
    const first = await publisher.live()
    await publishTitle('Second')
    const { seen } = await verify()
    const current = path.join(publisher.feedsDir, 'current')
    await rm(current)
    await symlink(path.join('releases', first.id), current)
    expect(await codes(seen)).toEqual(expect.arrayContaining(['rollback']))
    publisher.now = new Date(publisher.now.getTime() + 36 * 3_600_000)
    expect(await codes()).toEqual(['frozen'])
  })

  it('show a set that is kept back, whatever its status says, but not one in which nothing changes', async () => {
    publisher.now = new Date(publisher.now.getTime() + 40 * 3_600_000)
    const checked = path.join(publisher.feedsDir, 'checked.json')
    const before = await readFile(checked, 'utf8')
    expect((await publisher.publish()).state).toBe('unchanged')
    expect(await codes()).toEqual([])
    await overwrite(checked, before)
    expect(await codes()).toEqual(['frozen'])
  })

  it('show parts of two releases', async () => {
    const first = await publisher.live()
    await publishTitle('Second')
    const chain = (await (await first.find('/feeds/releases.json'))?.identity.text()) ?? ''
    await overwrite(path.join(publisher.feedsDir, 'current/feeds/releases.json'), chain)
    expect(await codes()).toContain('forged')
  })

  it('are not those of another key, and a key that vouches for the next hands over', async () => {
    expect(await codes(undefined, newSigner())).toEqual(['forged'])
    const { seen } = await verify()
    const next = newSigner(signer)
    await publishTitle('Second', await testPublisher(database.store, { signer: next, feedsDir: publisher.feedsDir }))
    expect(await codes(seen)).toEqual([])
    expect(await codes(seen, next)).toEqual([])
    expect(await publisher.read('/.well-known/giving-iati-key.pem')).toBe(next.publicKey)
    await publishTitle(
      'Third',
      await testPublisher(database.store, { signer: newSigner(), feedsDir: publisher.feedsDir }),
    )
    expect(await codes(seen)).toEqual(['forged'])
  })

  it('stay one chain after an operator made an earlier release live', async () => {
    const first = await publisher.live()
    await publishTitle('Second')
    const { seen } = await verify()
    await rollbackRelease(publisher.deps, first.id)
    expect(await codes(seen)).toContain('rollback')
    await publishTitle('Third')
    expect(await codes(seen)).toEqual([])
    const chain = JSON.parse(
      (await (await (await publisher.live()).find('/feeds/releases.json'))?.identity.text()) ?? '',
    ) as { releases: { release: string }[] }
    expect(chain.releases).toHaveLength(3)
  })
})
