import { cp, readFile, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import path from 'node:path'
import type { FastifyInstance } from 'fastify'
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import type { SigningKey } from '../../../src/kernel/release-chain.js'
import { createReleaseReader } from '../../../src/release/read/release-reader.js'
import { verifyPublished } from '../../../src/release/verify/verify-published.js'
import { listen, testApi } from '../../support/api/api.js'
import { runCommandLine } from '../../support/commands/command-line.js'
import { type Publisher, testPublisher } from '../../support/release/publishing.js'
import { newSigner } from '../../support/release/signer.js'
import { insertProjects } from '../../support/store/catalogue.js'
import { type TestDatabase, testDatabase } from '../../support/store/database.js'
import { temporaryFolder } from '../../support/values/temporary-folder.js'

/** A publisher of its own, with its store, key, folder and address. */
class Instance {
  readonly signer = newSigner()
  database!: TestDatabase
  publisher!: Publisher
  app!: FastifyInstance
  dataDir = ''
  baseUrl = ''

  static async open(): Promise<Instance> {
    const made = new Instance()
    made.database = await testDatabase()
    made.dataDir = await temporaryFolder()
    await insertProjects(made.database.store.db, [{ id: 1 }, { id: 2 }])
    await made.publishIn('feeds', 'First')
    made.app = await made.serve('feeds')
    made.baseUrl = await listen(made.app)
    return made
  }

  async publishIn(folder: string, title: string, signer: SigningKey = this.signer): Promise<void> {
    const { store } = this.database
    const now = new Date((this.publisher?.now ?? new Date('2026-11-21T02:00:00Z')).getTime() + 3_600_000)
    this.publisher = await testPublisher(store, { signer, feedsDir: path.join(this.dataDir, folder) })
    this.publisher.now = now
    await store.db.query('update project set title = $1 where id = 1', [title])
    expect((await this.publisher.publish()).state).toBe('published')
  }

  async serve(folder: string): Promise<FastifyInstance> {
    const { store } = this.database
    const releases = createReleaseReader(path.join(this.dataDir, folder))
    return (await testApi(store, { store, releases })).app
  }

  /** `giving witness` of this instance, as its operator types it. */
  async witness(...urls: string[]) {
    const key = path.join(this.dataDir, 'key.pem')
    await writeFile(key, this.signer.privateKey.export({ type: 'pkcs8', format: 'pem' }))
    const environment = { DATABASE_URL: this.database.url, GIVING_DATA_DIR: this.dataDir, LOG_LEVEL: 'silent' }
    const ended = await runCommandLine(['witness', ...urls, '--json'], { ...environment, SIGNING_KEY_FILE: key })
    return { ...ended, ...(ended.stdout && JSON.parse(ended.stdout)) }
  }

  file(): Promise<string> {
    return readFile(path.join(this.dataDir, 'feeds/witness.json'), 'utf8')
  }
}

/** Verifies an instance at an address, by its key, as a reader who was never there. */
async function verify(
  { signer, publisher }: Instance,
  baseUrl: string,
  ...witnesses: { url: string; publicKey?: string }[]
) {
  const { findings } = await verifyPublished({
    ...{ baseUrl, maxAgeHours: 36, maxSeconds: 60, now: publisher.now, last: undefined },
    ...{ publicKey: signer.publicKey, witnesses, signal: new AbortController().signal },
  })
  return findings
}

describe('two services that witness each other', () => {
  let one: Instance
  let other: Instance
  beforeEach(async () => {
    one = await Instance.open()
    other = await Instance.open()
  })

  it('countersign what the other one has published, once, and readers of both find nothing wrong', async () => {
    expect(await one.witness(other.baseUrl)).toMatchObject({ code: 0, services: [{ countersigned: true }] })
    expect(await other.witness(`${one.baseUrl}/feeds/manifest.json`)).toMatchObject({ code: 0 })
    expect(await one.witness(other.baseUrl)).toMatchObject({ code: 0, services: [{ countersigned: false }] })
    const first = await one.file()
    await other.publishIn('feeds', 'Second')
    await one.witness(other.baseUrl)
    const grown = await one.file()
    // It only grows: what was there stays as it was.
    expect(grown.startsWith(first.slice(0, first.lastIndexOf('\n]')))).toBe(true)
    expect(JSON.parse(grown).witnessed).toHaveLength(2)
    expect(await verify(other, other.baseUrl, { url: one.baseUrl })).toEqual([])
    expect(await verify(one, one.baseUrl, { url: other.baseUrl, publicKey: other.signer.publicKey })).toEqual([])
    const served = await fetch(`${one.baseUrl}/feeds/witness.json`)
    expect([served.status, await served.text()]).toEqual([200, grown])
  })

  it('find a history that its own publisher has rewritten, which the key alone does not show', async () => {
    await cp(path.join(other.dataDir, 'feeds'), path.join(other.dataDir, 'forked'), {
      ...{ recursive: true, verbatimSymlinks: true },
    })
    await other.publishIn('feeds', 'Second')
    await one.witness(other.baseUrl)
    const before = await one.file()
    // The same key signs another second release for some of its readers.
    await other.publishIn('forked', 'Another second')
    const { shown, url } = await behindOneAddress(other)
    const saw = new RegExp(`as ${one.baseUrl} saw it at`)
    expect(await verify(other, url)).toEqual([])
    expect(await verify(other, url, { url: one.baseUrl })).toMatchObject([
      { code: 'unwitnessed', address: `${one.baseUrl}/feeds/witness.json` },
    ])
    shown.app = other.app
    expect(await one.witness(url)).toMatchObject({ code: 0 })
    shown.app = await other.serve('forked')
    expect(await verify(other, url, { url: one.baseUrl })).toMatchObject([
      { code: 'fork', address: '/feeds/releases.json', expected: expect.stringMatching(saw) },
    ])
    const refused = await one.witness(url, other.baseUrl)
    expect(refused).toMatchObject({
      code: 1,
      services: [
        { countersigned: false, findings: [{ code: 'fork' }] },
        { countersigned: false, findings: [] },
      ],
    })
    expect((await one.file()).startsWith(before.slice(0, before.lastIndexOf('\n]')))).toBe(true)
  })

  it('find a set that was put back, also for a reader who was never there', async () => {
    await cp(path.join(other.dataDir, 'feeds'), path.join(other.dataDir, 'old'), {
      ...{ recursive: true, verbatimSymlinks: true },
    })
    const { shown, url } = await behindOneAddress(other)
    await other.publishIn('feeds', 'Second')
    shown.app = other.app
    await one.witness(url)
    shown.app = await other.serve('old')
    expect(await verify(other, url)).toEqual([])
    expect(await verify(other, url, { url: one.baseUrl })).toMatchObject([{ code: 'rollback' }])
  })

  it('countersign no chain of another key, and nobody believes a file that the witness did not sign', async () => {
    await one.witness(other.baseUrl)
    await other.publishIn('feeds', 'Second', newSigner())
    expect(await one.witness(other.baseUrl)).toMatchObject({ code: 1, services: [{ findings: [{ code: 'forged' }] }] })
    const stranger = newSigner().publicKey
    expect(await verify(one, one.baseUrl, { url: other.baseUrl })).toMatchObject([{ code: 'unwitnessed' }])
    await other.witness(one.baseUrl)
    expect(await verify(one, one.baseUrl, { url: other.baseUrl, publicKey: stranger })).toMatchObject([
      { code: 'forged', address: `${other.baseUrl}/feeds/witness.json` },
    ])
    const file = path.join(other.dataDir, 'feeds/witness.json')
    await writeFile(file, (await other.file()).replace(/"ofRun":\d+/, '"ofRun":999'))
    expect(await verify(one, one.baseUrl, { url: other.baseUrl })).toMatchObject([{ code: 'forged' }])
    await writeFile(file, '{"x"')
    expect(await other.witness(one.baseUrl)).toMatchObject({ code: 2, stderr: expect.stringMatching(/this witness/) })
  })

  it('tell which one does not answer, and countersign the others', async () => {
    const said = await one.witness('http://127.0.0.1:9', other.baseUrl)
    expect(said).toMatchObject({
      code: 1,
      services: [{ findings: [{ code: 'unsigned' }] }, { countersigned: true, findings: [] }],
    })
    expect(await one.witness('ftp://x')).toMatchObject({ code: 2 })
  })
})

/** A server in front of an instance, which shows its readers another of its folders when it is told so. */
async function behindOneAddress(instance: Instance) {
  const shown = { app: instance.app }
  const server = createServer(async ({ url = '', method = 'GET', headers }, response) => {
    const asked = String(headers['accept-encoding'] ?? 'identity')
    const answer = await shown.app.inject({ url, method: method as 'GET', headers: { 'accept-encoding': asked } })
    response.writeHead(answer.statusCode, answer.headers as Record<string, string>)
    response.end(method === 'HEAD' ? undefined : answer.rawPayload)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  return { shown, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }
}
