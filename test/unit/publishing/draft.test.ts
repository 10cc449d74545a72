import { createHash, randomBytes } from 'node:crypto'
import { chmod, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { gunzipSync, gzipSync, inflateRawSync } from 'node:zlib'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { pieceBytes } from '../../../src/publishing/files/pieces.js'
import type { Texts } from '../../../src/publishing/files/texts.js'
import { Draft } from '../../../src/publishing/folder/draft.js'
import { prepareFolder, releaseFolder } from '../../../src/publishing/folder/release-folder.js'

const { signal } = new AbortController()
const envelope = { head: '<all at="2026-11-21">\n', tail: '</all>\n', stamp: ' at="2026-11-21"' }
const sha256 = (bytes: Buffer | string) => createHash('sha256').update(bytes).digest('hex')

let root: string
let draft: Draft

beforeEach(async () => {
  root = await mkdtemp(path.join(tmpdir(), 'giving-draft-'))
  await prepareFolder(releaseFolder(root))
  draft = await Draft.begin(releaseFolder(root), '20261121T020000Z-1')
})

afterEach(async () => {
  await draft[Symbol.asyncDispose]()
  await rm(root, { recursive: true, force: true })
})

it('drafts and held releases can be entered by their owner only, also in a folder made before', async () => {
  const folder = releaseFolder(root)
  await Promise.all([folder.drafts, folder.held].map((directory) => chmod(directory, 0o755)))
  await prepareFolder(folder)
  const modes = await Promise.all(
    [folder.drafts, folder.held, folder.releases].map(async (directory) => (await stat(directory)).mode & 0o077),
  )
  expect(modes).toEqual([0, 0, 0o055 & ~process.umask()])
})

/** The text in batches of texts; all are overwritten when the next is asked for, as the store's are. */
async function* cut(text: Buffer, size: number): Texts {
  const view = Buffer.alloc(2 * size)
  for (let at = 0; at < text.length; at += view.length) {
    const part = text.subarray(at, at + view.length)
    part.copy(view)
    yield [view.subarray(0, Math.min(size, part.length)), view.subarray(size, Math.max(size, part.length))]
    view.fill(0)
  }
}

const lines = (count: number, what: string) =>
  Buffer.from(Array.from({ length: count }, (_, index) => `<one>${what} ${index}</one>\n`).join(''))

/** The twin's only deflate stream: everything between its head and its tail. */
function onlyStream(twin: Buffer): Buffer {
  const { buffer, engine } = inflateRawSync(twin.subarray(10, -8), { info: true }) as unknown as {
    buffer: Buffer
    engine: { bytesWritten: number }
  }
  expect(engine.bytesWritten).toBe(twin.length - 18)
  return buffer
}

const filesOf = async (address: string) => ({
  identity: await readFile(draft.locate(address)),
  twin: await readFile(draft.locate(`${address}.gz`)),
})

describe('a written file', () => {
  it.each([
    ['nothing', Buffer.alloc(0)],
    ['one byte', Buffer.from('x')],
    ['almost a piece', randomBytes(pieceBytes - 1)],
    ['a piece that cannot be compressed', randomBytes(pieceBytes)],
    ['a little more', randomBytes(pieceBytes + 1)],
    ['several pieces', lines(120_000, 'record')],
  ])('of %s has a twin of one member, hashes and sizes that say the same', async (_name, records) => {
    const written = await (await draft.write('/a/file.xml', cut(records, 7001), signal, { envelope })).written
    const { identity, twin } = await filesOf('/a/file.xml')
    expect(identity.equals(Buffer.concat([Buffer.from(envelope.head), records, Buffer.from(envelope.tail)]))).toBe(true)
    expect(gunzipSync(twin).equals(identity)).toBe(true)
    expect(onlyStream(twin).equals(identity)).toBe(true)
    expect(written).toEqual({
      bytes: identity.length,
      gzipBytes: twin.length,
      sha256: sha256(identity),
      contentSha256: sha256(Buffer.concat([Buffer.from('<all>\n'), identity.subarray(envelope.head.length)])),
    })
  })

  it('has the same bytes, and its twin too, however its texts come', async () => {
    const records = lines(60_000, 'record')
    for (const [address, size] of [
      ['/a.xml', 100],
      ['/b.xml', 65_536],
      ['/c.xml', records.length],
    ] as const) {
      await draft.write(address, cut(records, size), signal)
    }
    await draft.synced()
    const { twin } = await filesOf('/a.xml')
    expect((await filesOf('/b.xml')).twin.equals(twin)).toBe(true)
    expect((await filesOf('/c.xml')).twin.equals(twin)).toBe(true)
  })

  it('is one of several from the same source, each with its own texts', async () => {
    async function* batches() {
      for (let index = 0; index < 1000; index++)
        yield [[Buffer.from(`${index}\n`)], index % 2 ? [] : [Buffer.from('even\n')]]
    }
    await draft.writeTogether([{ address: '/all', twin: false }, { address: '/even' }], batches(), signal)
    await draft.synced()
    expect((await readFile(draft.locate('/all'), 'utf8')).split('\n').length).toBe(1001)
    expect(gunzipSync((await filesOf('/even')).twin).toString()).toBe('even\n'.repeat(500))
    expect(await readdir(draft.locate('/'))).toEqual(['all', 'even', 'even.gz'])
  })

  it('is given up when its source fails or the run is stopped', async () => {
    async function* failing(): Texts {
      yield [lines(60_000, 'record')]
      throw new Error('the source failed')
    }
    await expect(draft.write('/a.xml', failing(), signal)).rejects.toThrow('the source failed')
    const stop = new AbortController()
    async function* endless(): Texts {
      for (;;) {
        yield [lines(10, 'record')]
        stop.abort()
        await new Promise((resolve) => setImmediate(resolve))
      }
    }
    await expect(draft.write('/b.xml', endless(), stop.signal)).rejects.toMatchObject({ code: 'aborted' })
  })
})

describe('a joined file', () => {
  const parts = { '/1.xml': lines(60_000, 'first'), '/2.xml': lines(3, 'second'), '/3.xml': Buffer.alloc(0) }
  const all = Buffer.concat([Buffer.from(envelope.head), ...Object.values(parts), Buffer.from(envelope.tail)])

  beforeEach(async () => {
    for (const [address, records] of Object.entries(parts)) {
      await draft.write(address, cut(records, 9999), signal, { envelope })
    }
  })

  it('has the records of its parts and the compressed ones of their twins', async () => {
    const written = await (await draft.join('/all.xml', Object.keys(parts), signal, envelope)).written
    const { identity, twin } = await filesOf('/all.xml')
    expect(identity.equals(all)).toBe(true)
    expect(onlyStream(twin).equals(all)).toBe(true)
    expect(gunzipSync(twin).equals(all)).toBe(true)
    expect(written).toMatchObject({ bytes: all.length, gzipBytes: twin.length, sha256: sha256(all) })
    const ofPart = (await filesOf('/1.xml')).twin.subarray(
      10 + 5 + envelope.head.length,
      -(8 + 5 + envelope.tail.length),
    )
    expect(twin.includes(ofPart)).toBe(true)
  })

  it('compresses again what an earlier version compressed in one go', async () => {
    await draft.synced()
    const old = draft.locate('/1.xml.gz')
    await writeFile(old, gzipSync(await readFile(draft.locate('/1.xml')), { level: 1 }))
    await draft.join('/all.xml', Object.keys(parts), signal, envelope)
    await draft.synced()
    const { twin } = await filesOf('/all.xml')
    expect(onlyStream(twin).equals(all)).toBe(true)
    expect(gunzipSync(twin).equals(all)).toBe(true)
  })
})
