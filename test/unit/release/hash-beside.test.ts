import { createHash, randomBytes } from 'node:crypto'
import { readdir, readlink, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { pieceBytes } from '../../../src/release/bytes/pieces.js'
import { Hasher } from '../../../src/release/folder/hash-beside.js'
import type { SpansOrder } from '../../../src/release/folder/hash-spans.js'
import { temporaryFolder } from '../../support/values/temporary-folder.js'

const ownThread = new URL('../../support/processes/hash-thread.mjs', import.meta.url)
const dyingThread = new URL('data:text/javascript,process.exit(3)')
const content = randomBytes(2 * pieceBytes + 1000)
const { signal } = new AbortController()

const folder = await temporaryFolder()
const file = path.join(folder, 'file')
await writeFile(file, content)
const spans = [
  { file, span: [7, 2 * pieceBytes] },
  { file, span: [0, content.length] },
] as const
async function hashed(order: SpansOrder, signal: AbortSignal, program?: URL) {
  await using hasher = new Hasher(program ? Number.POSITIVE_INFINITY : 0, program)
  return await hasher.hash(order, signal)
}

const order = { head: '<ö>', spans, tail: '</ö>' }

describe.each([
  ['in the thread of its caller', undefined],
  ['in a thread of its own', ownThread],
])('hashing %s', (_where, program) => {
  it('tells the SHA-256 of head, spans and tail, and that without the stamp', async () => {
    const all = Buffer.concat([Buffer.from('<ö>'), content.subarray(7, 2 * pieceBytes), content, Buffer.from('</ö>')])
    const sha256 = createHash('sha256').update(all).digest('hex')
    expect(await hashed(order, signal, program)).toEqual({ sha256 })
    const stamped = { ...order, head: '<ö at="noon">', stamp: ' at="noon"' }
    const { contentSha256, ...whole } = await hashed(stamped, signal, program)
    expect(contentSha256).toBe(sha256)
    expect(whole).toEqual(await hashed({ ...order, head: stamped.head }, signal, program))
  })

  it('goes to and fro between more files than it keeps open, and leaves none open', async () => {
    const files = await Promise.all(
      Array.from({ length: 30 }, async (_, index) => {
        const file = path.join(await temporaryFolder(), `${index}`)
        await writeFile(file, content.subarray(index * 100, index * 100 + 100))
        return file
      }),
    )
    const spans = [0, 1].flatMap((half) => files.map((file) => ({ file, span: [half * 50, half * 50 + 50] as const })))
    const parts = [0, 1].flatMap((half) =>
      files.map((_, index) => content.subarray(index * 100 + half * 50, index * 100 + half * 50 + 50)),
    )
    const sha256 = createHash('sha256').update(Buffer.concat(parts)).digest('hex')
    expect(await hashed({ head: '', spans, tail: '' }, signal, program)).toEqual({ sha256 })
    const handles = await readdir('/proc/self/fd')
    const targets = await Promise.all(handles.map((handle) => readlink(`/proc/self/fd/${handle}`).catch(() => '')))
    expect(targets.filter((target) => files.includes(target))).toEqual([])
  })

  it('fails when a file ends before its span', async () => {
    const [one] = order.spans
    const spans = [{ file: one?.file ?? '', span: [0, content.length + 1] as const }]
    await expect(hashed({ ...order, spans }, signal, program)).rejects.toMatchObject({ code: 'release-corrupt' })
  })

  it('ends with the signal', async () => {
    const stop = new AbortController()
    const hashing = hashed(order, stop.signal, program)
    stop.abort()
    await expect(hashing).rejects.toMatchObject({ code: 'aborted' })
    await expect(hashed(order, stop.signal, program)).rejects.toMatchObject({ code: 'aborted' })
  })
})

it('fails when its thread dies, and afterwards', async () => {
  await using hasher = new Hasher(Number.POSITIVE_INFINITY, dyingThread)
  for (const _ of [1, 2]) {
    await expect(hasher.hash(order, signal)).rejects.toThrow('the thread that hashes ended with 3')
  }
})
