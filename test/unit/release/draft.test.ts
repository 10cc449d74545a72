import { execFileSync } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import { chmod, readdir, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { crc32, gunzipSync, gzipSync, inflateRawSync } from 'node:zlib'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { FileEnvelope } from '../../../src/release/bytes/file-writer.js'
import { pieceBytes } from '../../../src/release/bytes/pieces.js'
import { BlockStart, type Texts, type TextsOfFiles } from '../../../src/release/bytes/texts.js'
import { Draft } from '../../../src/release/folder/draft.js'
import { joinedBody, readParts } from '../../../src/release/folder/joined-file.js'
import { prepareFolder, releaseFolder } from '../../../src/release/folder/release-folder.js'
import { temporaryFolder } from '../../support/values/temporary-folder.js'

const { signal } = new AbortController()
const envelope = { head: '<all at="2026-11-21">\n', tail: '</all>\n', stamp: ' at="2026-11-21"' }
const sha256 = (bytes: Buffer | string) => createHash('sha256').update(bytes).digest('hex')

let root: string
let draft: Draft

beforeEach(async () => {
  root = await temporaryFolder()
  await prepareFolder(releaseFolder(root))
  draft = await Draft.begin(releaseFolder(root), '20261121T020000Z-1')
})

afterEach(async () => {
  await draft[Symbol.asyncDispose]()
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

/** Digits, which compress to half. */
const textOf = (bytes: number) => Buffer.from(randomBytes(bytes).toString('hex')).subarray(0, bytes)

async function* inTheirBlocks(blocks: readonly { name: string; text: Buffer }[]): TextsOfFiles {
  for (const { name, text } of blocks) {
    yield new BlockStart([name])
    yield [[text.subarray(0, 1000), text.subarray(1000)]]
  }
}

const lines = (count: number, what: string) =>
  Buffer.from(Array.from({ length: count }, (_, index) => `<one>${what} ${index}</one>\n`).join(''))

/** The twin's only deflate stream: everything between its head and its tail. */
function onlyStream(twin: Buffer): Buffer {
  const inflated = inflateRawSync(twin.subarray(10, -8), { info: true }) as unknown as {
    buffer: Buffer
    engine: { bytesWritten: number }
  }
  expect(inflated.engine.bytesWritten).toBe(twin.length - 18)
  return inflated.buffer
}

const filesOf = async (path: string) => ({
  identity: await readFile(draft.locate(path)),
  twin: await readFile(draft.locate(`${path}.gz`)),
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
    for (const [path, size] of [
      ['/a.xml', 100],
      ['/b.xml', 65_536],
      ['/c.xml', records.length],
    ] as const) {
      await draft.write(path, cut(records, size), signal)
    }
    await draft.synced()
    const { twin } = await filesOf('/a.xml')
    expect((await filesOf('/b.xml')).twin.equals(twin)).toBe(true)
    expect((await filesOf('/c.xml')).twin.equals(twin)).toBe(true)
  })

  it('has each block compressed to the same bytes and with the same CRC-32, wherever it stands', async () => {
    const sizes = { a: 0.4, b: 0.7, c: 1.3, d: 0.2, e: 2.1, f: 0.5, g: 1, h: 0.1 }
    const texts = Object.entries(sizes).map(([name, size]) => ({ name, text: textOf(Math.round(size * pieceBytes)) }))
    const write = async (path: string, blocks: typeof texts) => {
      const [placed = new Map()] = await draft.writeLayers([path], inTheirBlocks(blocks), signal)
      return await Promise.all(
        blocks.map(async ({ name }) => {
          const { layer, at, bytes, atInTwin, bytesInTwin, crc } = placed.get(name) ?? expect.fail(name)
          const [whole, twin] = await Promise.all(['', '.gz'].map((end) => readFile(draft.locate(layer + end))))
          return {
            name,
            crc,
            text: sha256(whole?.subarray(at, at + bytes) ?? ''),
            compressed: sha256(twin?.subarray(atInTwin, atInTwin + bytesInTwin) ?? ''),
          }
        }),
      )
    }
    const together = await write('/all', texts)
    expect(together.map(({ text }) => text)).toEqual(texts.map(({ text }) => sha256(text)))
    expect(together.map(({ crc }) => crc)).toEqual(texts.map(({ text }) => crc32(text)))
    const alone = await Promise.all(texts.map(async (one) => (await write(`/${one.name}`, [one]))[0]))
    expect(together).toEqual(alone)
  })

  it('is one of several from the same source, each with its own texts', async () => {
    async function* batches() {
      for (let index = 0; index < 1000; index++)
        yield [[Buffer.from(`${index}\n`)], index % 2 ? [] : [Buffer.from('even\n')]]
    }
    await draft.writeTogether([{ path: '/all', twin: false }, { path: '/even' }], batches(), signal)
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
  async function* alone(texts: Texts): TextsOfFiles {
    for await (const batch of texts) yield [batch]
  }
  const parts = { '/1.xml': lines(60_000, 'first'), '/2.xml': lines(3, 'second'), '/3.xml': Buffer.alloc(0) }
  const all = Buffer.concat([Buffer.from(envelope.head), ...Object.values(parts), Buffer.from(envelope.tail)])
  const folder = () => releaseFolder(root)

  /** The file as a sealed draft has it. */
  const joinedOf = async (id: string, path = '/all.xml') => {
    const directory = join(folder().releases, id)
    const { joined } = await readParts(directory)
    const entry = joined[path] ?? expect.fail(`${path} is not joined`)
    return { directory, identity: joinedBody(directory, entry.identity), twin: joinedBody(directory, entry.gzip) }
  }
  const joinAll = (envelopeOfParts: FileEnvelope = envelope) =>
    draft.join('/all.xml', Object.keys(parts), signal, { envelope, envelopeOfParts })

  const writeParts = async (of: FileEnvelope = envelope) => {
    for (const [path, records] of Object.entries(parts)) {
      await draft.writeParts([{ path, envelope: of, fingerprint: sha256(records) }], alone(cut(records, 9999)), signal)
    }
  }

  it('is read from its parts, its twin from theirs, and takes no space of its own', async () => {
    await writeParts()
    const written = await (await joinAll()).written
    await draft.seal('releases')
    const { directory, identity, twin } = await joinedOf(draft.id)
    const bytes = await twin.bytes()
    expect((await identity.bytes()).equals(all)).toBe(true)
    expect(onlyStream(bytes).equals(all)).toBe(true)
    expect(gunzipSync(bytes).equals(all)).toBe(true)
    expect(execFileSync('gunzip', ['-c'], { input: bytes, maxBuffer: 2 * all.length }).equals(all)).toBe(true)
    expect(written).toEqual({
      ...{ bytes: all.length, gzipBytes: bytes.length, sha256: sha256(all) },
      contentSha256: sha256(Buffer.concat([Buffer.from('<all>\n'), all.subarray(envelope.head.length)])),
    })
    expect([identity.length, twin.length]).toEqual([all.length, bytes.length])
    const files = Object.keys(parts).flatMap((path) => [path.slice(1), `${path.slice(1)}.gz`])
    expect((await readdir(directory)).sort()).toEqual([...files, 'parts.json'])
  })

  it('has parts without an envelope, too', async () => {
    await writeParts({ head: '', tail: '' })
    await joinAll({ head: '', tail: '' })
    await draft.seal('releases')
    const { identity, twin } = await joinedOf(draft.id)
    expect((await identity.bytes()).equals(all)).toBe(true)
    expect(gunzipSync(await twin.bytes()).equals(all)).toBe(true)
  })

  it('is cut anywhere, also across the borders of its parts', async () => {
    await writeParts()
    await joinAll()
    await draft.seal('releases')
    const { identity } = await joinedOf(draft.id)
    const head = envelope.head.length
    const borders = [0, 1, head, head + parts['/1.xml'].length, all.length - envelope.tail.length, all.length]
    const place = fc.oneof(fc.constantFrom(...borders), fc.nat(all.length))
    await fc.assert(
      fc.asyncProperty(place, place, fc.nat(70), async (one, other, inner) => {
        const [start, end] = [Math.min(one, other), Math.max(one, other)]
        const slice = identity.slice(start, end)
        const wanted = all.subarray(start, end)
        expect(slice.length).toBe(end - start)
        expect((await slice.bytes()).equals(wanted)).toBe(true)
        expect((await buffer(slice.chunks())).equals(wanted)).toBe(true)
        expect((await slice.slice(inner).bytes()).equals(wanted.subarray(inner))).toBe(true)
      }),
      { numRuns: 60 },
    )
  })

  it('is carried over with its parts, which outlive the release before', async () => {
    await writeParts()
    await joinAll()
    await draft.seal('releases')
    const before = draft.id
    draft = await Draft.begin(folder(), '20261121T030000Z-2')
    expect(await draft.linkPartFrom('/1.xml', sha256(parts['/2.xml']), before)).toBe(false)
    expect(await draft.linkPartFrom('/1.xml', sha256(parts['/1.xml']), before)).toBe(true)
    await draft.carry('/all.xml', before)
    await draft.seal('releases')
    await rm(join(folder().releases, before), { recursive: true })
    const { directory, identity, twin } = await joinedOf(draft.id)
    expect((await identity.bytes()).equals(all)).toBe(true)
    expect(gunzipSync(await twin.bytes()).equals(all)).toBe(true)
    expect((await readParts(directory)).fingerprints).toEqual({
      ...{ '/1.xml': sha256(parts['/1.xml']), '/2.xml': sha256(parts['/2.xml']), '/3.xml': sha256(parts['/3.xml']) },
    })
  })

  it('compresses again what an earlier version compressed in one go', async () => {
    await writeParts()
    await draft.synced()
    const old = draft.locate('/1.xml.gz')
    await writeFile(old, gzipSync(await readFile(draft.locate('/1.xml')), { level: 1 }))
    await joinAll()
    await draft.seal('releases')
    const { identity, twin } = await joinedOf(draft.id)
    expect((await identity.bytes()).equals(all)).toBe(true)
    expect(onlyStream(await twin.bytes()).equals(all)).toBe(true)
    expect(gunzipSync(await twin.bytes()).equals(all)).toBe(true)
  })

  it('says which of its files is too short, instead of ending early', async () => {
    await writeParts()
    await joinAll()
    await draft.seal('releases')
    const { directory, identity } = await joinedOf(draft.id)
    await truncate(join(directory, '1.xml'), 1000)
    const error = expect.objectContaining({
      code: 'release-corrupt',
      message: expect.stringContaining('1.xml has 1000'),
    })
    await expect(identity.bytes()).rejects.toEqual(error)
    await expect(buffer(identity.chunks())).rejects.toEqual(error)
  })

  it('is given up when a part cannot be read to its end', async () => {
    await writeParts()
    await draft.synced()
    const identity = [0, parts['/1.xml'].length + 1000] as const
    await draft.join('/all.xml', [{ path: '/1.xml', identity }], signal, { envelope })
    await expect(draft.seal('releases')).rejects.toMatchObject({ code: 'release-corrupt' })
  })
})
