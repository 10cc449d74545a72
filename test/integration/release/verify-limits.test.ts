import { createHash } from 'node:crypto'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Readable } from 'node:stream'
import { createGzip } from 'node:zlib'
import { afterEach, describe, expect, it } from 'vitest'
import { verifyPublished } from '../../../src/extensions/verify/verify-published.js'

const servers: (() => void)[] = []
afterEach(() => {
  for (const stop of servers.splice(0)) stop()
})

/** Verifies a set that this listener serves. */
async function verify(listener: RequestListener, maxSeconds = 60) {
  const server = createServer(listener).listen(0, '127.0.0.1')
  servers.push(() => server.close().closeAllConnections())
  await new Promise((resolve) => server.once('listening', resolve))
  return await verifyPublished({
    ...{ baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, maxSeconds, maxAgeHours: 36 },
    ...{ now: new Date('2026-11-21T02:00:00Z'), last: undefined, signal: new AbortController().signal },
  })
}

const text = 'x'.repeat(1_000)
const lastModified = '2026-11-21T02:00:00Z'
const fileOf = (index: number) => ({
  ...{ path: `/iati/${index}.xml`, immutablePath: `/feeds/releases/one/iati/${index}.xml`, mediaType: 'text/xml' },
  ...{ records: 0, bytes: text.length, gzipBytes: 0, sha256: createHash('sha256').update(text).digest('hex') },
  lastModified,
})
const manifestOf = (files: readonly object[]) =>
  JSON.stringify({ release: 'one', run: 1, generated: lastModified, files })

/** Serves a manifest, and files whose compressed form is `body`; returns how much of that was sent. */
function set(body: () => Readable, files: readonly object[] = [fileOf(1)]) {
  const sent = { bytes: 0 }
  const listener: RequestListener = (request, response) => {
    if (request.url === '/feeds/manifest.json') response.end(manifestOf(files))
    else if (request.url === '/feeds/status.json') response.end('{"runs":[]}')
    else {
      response.setHeader('last-modified', new Date(lastModified).toUTCString())
      if (request.headers['accept-encoding'] !== 'gzip') return response.end(text)
      response.setHeader('content-encoding', 'gzip')
      const chunks = body()
      response.on('close', () => chunks.destroy())
      chunks
        .on('data', (chunk: Buffer) => {
          sent.bytes += chunk.length
        })
        .on('error', () => undefined)
        .pipe(response)
    }
    return undefined
  }
  return { listener, sent }
}

function* endless(chunk: Buffer): Generator<Buffer> {
  for (;;) yield chunk
}

function* emptyBlocks(): Generator<Buffer> {
  // A header of gzip, then stored blocks of length 0.
  yield Buffer.from('1f8b08000000000000ff', 'hex')
  yield* endless(Buffer.alloc(50_000, Buffer.from('000000ffff', 'hex')))
}

const tamperedTwin = expect.objectContaining({ code: 'tampered', address: expect.stringContaining('gzip') })

describe('giving verify', () => {
  it('finds a compressed file that grows beyond its size, and reads no further', async () => {
    const { listener, sent } = set(() => Readable.from([Buffer.alloc(100_000_000)]).pipe(createGzip()))
    expect((await verify(listener)).findings).toContainEqual(tamperedTwin)
    expect(sent.bytes).toBeLessThan(10_000_000)
  })

  it('finds a compressed file that never ends and holds nothing', async () => {
    const { listener, sent } = set(() => Readable.from(emptyBlocks()))
    expect((await verify(listener)).findings).toContainEqual(tamperedTwin)
    expect(sent.bytes).toBeLessThan(10_000_000)
  })

  it('gives up a server that sends a byte now and then', async () => {
    const drip: RequestListener = (_request, response) => {
      const timer = setInterval(() => response.write(' '), 20)
      response.on('close', () => clearInterval(timer))
    }
    await expect(verify(drip, 0.3)).rejects.toMatchObject({
      code: 'input-unusable',
      message: expect.stringContaining('cannot be verified within 0.3 seconds'),
    })
  })

  it.each([
    ['200,000 files', manifestOf(Array.from({ length: 200_000 }, (_, index) => fileOf(index))), 'larger than 8000000'],
    ['10,001 files', manifestOf(Array.from({ length: 10_001 }, (_, index) => fileOf(index))), 'names 10001 files'],
    ['200 GB', manifestOf([{ ...fileOf(1), bytes: 2e11 }]), 'of 200000000000 bytes; at most'],
  ])('refuses a set of %s before it reads any file', async (_what, manifest, message) => {
    const asked: (string | undefined)[] = []
    const refused = verify((request, response) => {
      asked.push(request.url)
      response.end(manifest)
    })
    await expect(refused).rejects.toMatchObject({ code: 'input-unusable', message: expect.stringContaining(message) })
    expect(asked).toEqual(['/feeds/manifest.json'])
  })

  it('keeps no more than a thousand findings, and of each so much as a person reads', async () => {
    const { listener } = set(
      () => Readable.from([]),
      Array.from({ length: 2_000 }, (_, index) => fileOf(index)),
    )
    const { findings } = await verify((request, response) => {
      response.setHeader('etag', 'e'.repeat(5_000))
      listener(request, response)
    })
    expect(findings.length).toBeGreaterThanOrEqual(1_000)
    expect(findings.length).toBeLessThan(1_020)
    for (const { got } of findings) expect(got.length).toBeLessThan(210)
  })
})
