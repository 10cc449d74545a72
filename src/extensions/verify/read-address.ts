import { createHash } from 'node:crypto'
import { pipeline } from 'node:stream/promises'
import { createGunzip } from 'node:zlib'
import { ServiceError } from '../../kernel/errors.js'
import { type HttpClient, reasonOf } from '../../platform/outgoing/http-client.js'

/** What an address answered: enough to compare it without keeping the body. */
export type AddressAnswer = {
  readonly status: number
  readonly headers: Readonly<Record<string, string | undefined>>
  readonly wireBytes: number
  /** Size of the decompressed body. */
  readonly bytes: number
  readonly sha256: string
  /** The body was longer than `maxBytes`. */
  readonly isCut: boolean
  /** How often the marker occurs. */
  readonly occurrences: number
  /** The body, when it was asked for. */
  readonly text?: string
}

export type ReadOptions = {
  readonly method?: 'GET' | 'HEAD'
  readonly encoding?: 'gzip' | 'identity'
  /** Reading stops beyond this decompressed size, and beyond a little more on the wire; `isCut` is then true. */
  readonly maxBytes: number
  readonly marker?: string
  readonly keep?: boolean
  /** Called with each line of the body, without its end. */
  readonly onLine?: (line: string) => void
  readonly signal: AbortSignal
}

/** How long a server may be silent while a set is read. */
export const connectionLimits = { connectMs: 10_000, idleMs: 10_000 }

export const chainAddress = '/feeds/releases.json'
// A thousand years of days.
export const maxChainBytes = 300_000_000

/** The text at an address; undefined where there is none, or too much of it. */
export async function readText(
  client: HttpClient,
  address: string,
  maxBytes: number,
  signal: AbortSignal,
): Promise<string | undefined> {
  const read = await readAddress(client, new URL(address), { maxBytes, keep: true, signal })
  return read.status === 200 && !read.isCut ? read.text : undefined
}

/** The limit on the wire for a body of `bytes`: gzip adds little, but a stream may have empty blocks without end. */
const mostOnWire = (bytes: number) => bytes * 1.01 + 65_536

/**
 * Reads an address to its end, hashing on the way. Follows no redirect: published addresses are permanent. Throws
 * `input-unusable` without an answer in time.
 */
export async function readAddress(client: HttpClient, url: URL, options: ReadOptions): Promise<AddressAnswer> {
  const { method = 'GET', encoding = 'identity', maxBytes, marker, keep = false, onLine, signal } = options
  const hash = createHash('sha256')
  const seen = new Counter(marker)
  const kept: Buffer[] = []
  let rest: Buffer = Buffer.alloc(0)
  let wireBytes = 0
  let bytes = 0
  let isCut = false
  const take = (chunk: Buffer) => {
    bytes += chunk.length
    hash.update(chunk)
    seen.add(chunk)
    if (keep) kept.push(chunk)
    if (onLine) rest = linesOf(Buffer.concat([rest, chunk]), onLine)
    if (bytes > maxBytes) throw new TooLarge()
  }
  try {
    const { status, headers, body } = await client.send(url, {
      ...{ method, headers: { 'accept-encoding': encoding }, signal },
    })
    async function* counted() {
      for await (const chunk of body as AsyncIterable<Buffer>) {
        wireBytes += chunk.length
        if (wireBytes > mostOnWire(maxBytes)) throw new TooLarge()
        yield chunk
      }
    }
    const takeAll = async (chunks: AsyncIterable<Buffer>) => {
      for await (const chunk of chunks) take(chunk)
    }
    try {
      if (method === 'HEAD') await body.dump()
      else if (headers['content-encoding'] === 'gzip') await pipeline(counted, createGunzip(), takeAll)
      else await takeAll(counted())
    } catch (error) {
      isCut = error instanceof TooLarge
      if (!isCut && !isBrokenGzip(error)) throw error
    }
    return {
      ...{ status, headers, wireBytes, bytes, sha256: hash.digest('hex') },
      ...{ isCut, occurrences: seen.count },
      ...(keep && { text: Buffer.concat(kept).toString('utf8') }),
    }
  } catch (error) {
    if (signal.aborted) throw new ServiceError('aborted', 'the verification was interrupted', { cause: error })
    throw new ServiceError('input-unusable', `${url} cannot be read: ${reasonOf(error)}`, { cause: error })
  }
}

/** Hands over the whole lines; returns what is left. */
function linesOf(bytes: Buffer, onLine: (line: string) => void): Buffer {
  let from = 0
  for (let end = bytes.indexOf(10); end >= 0; end = bytes.indexOf(10, from)) {
    onLine(bytes.toString('utf8', from, end))
    from = end + 1
  }
  return bytes.subarray(from)
}

class TooLarge extends Error {}

// A body that cannot be decompressed is found by its hash, which differs from that in the manifest.
function isBrokenGzip(error: unknown): boolean {
  return error instanceof Error && 'code' in error && /^Z_/.test(String(error.code))
}

/** Counts a text in a stream of chunks, also across their borders. */
class Counter {
  count = 0
  readonly #marker: Buffer | undefined
  #tail: Buffer = Buffer.alloc(0)

  constructor(marker: string | undefined) {
    this.#marker = marker === undefined ? undefined : Buffer.from(marker)
  }

  add(chunk: Buffer): void {
    if (!this.#marker) return
    const all = Buffer.concat([this.#tail, chunk])
    let at = all.indexOf(this.#marker)
    let end = 0
    while (at >= 0) {
      this.count++
      end = at + this.#marker.length
      at = all.indexOf(this.#marker, end)
    }
    this.#tail = all.subarray(Math.max(end, all.length - this.#marker.length + 1))
  }
}
