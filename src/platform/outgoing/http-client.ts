import { pipeline } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { createBrotliDecompress, createGunzip, createUnzip } from 'node:zlib'
import type { Agent, Dispatcher } from 'undici'
import { checkAddress, publicLookup } from './public-addresses.js'

/** How connections are made, kept and given up. */
export type ConnectionLimits = {
  readonly connectMs: number
  /** The longest silence before and within an answer. */
  readonly idleMs: number
  /** The most connections to one origin. */
  readonly connections?: number
  /** Addresses of other origins than the trusted one are checked; see {@link checkAddress}. */
  readonly guard?: {
    readonly trustedOrigin: string
    readonly allowPrivateNetworks: boolean
    readonly hosts?: readonly string[] | undefined
  }
  /** False: any certificate will do. */
  readonly rejectUnauthorized?: boolean
}

export type HttpCall = {
  readonly method?: 'GET' | 'HEAD' | 'POST' | 'PATCH' | 'DELETE'
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
  readonly signal: AbortSignal
  /** How long the whole answer may take; undefined: as long as it goes on. */
  readonly totalMs?: number
  /** How many redirects are followed; the next one is returned as the answer. */
  readonly redirects?: number
  /** Called with each address before it is asked; throws when it may not be. */
  readonly onAddress?: (url: URL, previous: URL | undefined) => void
}

/** An answer whose body was not read yet; a header that came several times has its values joined. */
export type HttpAnswer = {
  readonly status: number
  readonly headers: Readonly<Record<string, string | undefined>>
  readonly body: Dispatcher.ResponseData['body']
  /** Where an answer that redirects leads to. */
  readonly location: string | undefined
}

/**
 * Sends calls to other servers over kept connections. All code that calls somebody does so with this client; limits,
 * messages and error codes are the caller's.
 */
export class HttpClient implements AsyncDisposable {
  readonly #limits: ConnectionLimits
  readonly #guard: ConnectionLimits['guard']
  #agent: Promise<Agent> | undefined

  constructor(limits: ConnectionLimits) {
    this.#limits = limits
    this.#guard = limits.guard
  }

  async send(address: URL | string, call: HttpCall): Promise<HttpAnswer> {
    const { method = 'GET', headers, body = null, totalMs, redirects = 0, onAddress } = call
    const signal = totalMs === undefined ? call.signal : AbortSignal.any([call.signal, AbortSignal.timeout(totalMs)])
    let url = new URL(address)
    let previous: URL | undefined
    // Loaded with the first call: most processes make none, and it takes a tenth of a second.
    const { request } = await import('undici')
    this.#agent ??= this.#openAgent()
    const dispatcher = await this.#agent
    for (let hops = 0; ; hops++) {
      if (this.#isForeign(url)) checkAddress(url, this.#guard?.allowPrivateNetworks ?? true, this.#guard?.hosts)
      onAddress?.(url, previous)
      const answer = await request(url, {
        ...{ dispatcher, method, signal, body },
        headers: { 'user-agent': 'giving-iati', ...headers },
      })
      // A body that is destroyed unread emits an error, which has no reader.
      answer.body.on('error', () => undefined)
      const read = Object.fromEntries(
        Object.entries(answer.headers).map(([name, value]) => [name, [value].flat().join(', ')]),
      )
      const { statusCode: status } = answer
      const location = status >= 300 && status < 400 ? read.location : undefined
      if (location === undefined || hops >= redirects || !URL.canParse(location, url.href)) {
        return { status, headers: read, body: answer.body, location }
      }
      answer.body.destroy()
      previous = url
      url = new URL(location, url)
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await (await this.#agent)?.destroy()
  }

  async #openAgent(): Promise<Agent> {
    const { Agent, Pool } = await import('undici')
    const { connectMs, idleMs, connections, guard, rejectUnauthorized = true } = this.#limits
    const connect = { timeout: connectMs, rejectUnauthorized }
    return new Agent({
      ...{ headersTimeout: idleMs, bodyTimeout: idleMs, keepAliveTimeout: 30_000, maxHeaderSize: 32_768 },
      ...(connections && { connections }),
      factory: (origin, options) => {
        const isPublic = this.#isForeign(new URL(origin)) && !guard?.allowPrivateNetworks
        return new Pool(origin, { ...options, connect: { ...connect, ...(isPublic && { lookup: publicLookup }) } })
      },
    })
  }

  #isForeign({ origin }: URL): boolean {
    return this.#guard !== undefined && this.#guard.trustedOrigin !== origin
  }
}

/** The status of the answer to a single call; nothing else of the answer counts. */
export async function askStatus(
  address: URL | string,
  {
    rejectUnauthorized = true,
    ...call
  }: Omit<HttpCall, 'totalMs'> & {
    readonly totalMs: number
    readonly rejectUnauthorized?: boolean
  },
): Promise<number> {
  await using client = new HttpClient({ connectMs: call.totalMs, idleMs: call.totalMs, rejectUnauthorized })
  const { status, body } = await client.send(address, call)
  await body.dump()
  return status
}

// A server may use any of them where nobody has asked for one (RFC 9110 12.5.3); `createUnzip` knows the form by its first bytes.
const decoders = new Map(
  Object.entries({ gzip: createGunzip, 'x-gzip': createGunzip, deflate: createUnzip, br: createBrotliDecompress }),
)

/** The body in chunks, decompressed; throws what `tooLarge` makes as soon as it has more than `maxBytes`. */
export async function* chunksOf(
  { headers, body }: HttpAnswer,
  maxBytes: number,
  tooLarge: () => Error,
): AsyncGenerator<Buffer> {
  try {
    if (Number(headers['content-length'] ?? 0) > maxBytes) throw tooLarge()
    const decode = decoders.get(headers['content-encoding']?.trim().toLowerCase() ?? '')
    const source = decode ? pipeline(body, decode({ chunkSize: 65_536 }), () => undefined) : body
    let bytes = 0
    for await (const chunk of source as AsyncIterable<Buffer>) {
      bytes += chunk.length
      if (bytes > maxBytes) throw tooLarge()
      yield chunk
    }
  } finally {
    body.destroy()
  }
}

export async function joined(chunks: AsyncIterable<Buffer>): Promise<Buffer> {
  const all: Buffer[] = []
  for await (const chunk of chunks) all.push(chunk)
  return Buffer.concat(all)
}

/** A text as JSON; undefined when it is not. */
export function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Repeats work until it succeeds; `pauseAfter` says how long to wait after a failure, or throws what ends it. */
export async function repeated<T>(
  work: () => Promise<T>,
  pauseAfter: (error: unknown, tries: number) => number,
  signal: AbortSignal,
): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await work()
    } catch (error) {
      // The next try reports the abort.
      await sleep(pauseAfter(error, tries), undefined, { signal }).catch(() => undefined)
    }
  }
}

/** A pause that doubles with each try, and differs between clients that failed together. */
export function backoff(tries: number, firstMs: number, mostMs = Number.POSITIVE_INFINITY): number {
  return Math.min(mostMs, firstMs * 2 ** (tries - 1)) * (0.5 + Math.random() / 2)
}

/** A failure that another try may overcome. */
export class RetryableError extends Error {
  readonly retryAfterMs: number | undefined

  constructor(message: string, retryAfterMs?: number) {
    super(message)
    this.retryAfterMs = retryAfterMs
  }
}

/** Throws {@link RetryableError} for an answer that may differ at the next try; `from` names the server. */
export function refuseUnavailable({ status, headers, body }: HttpAnswer, from = 'the server'): void {
  if (status !== 429 && status < 500) return
  body.destroy()
  throw new RetryableError(`${from} answered ${status}`, toRetryAfterMs(headers['retry-after']))
}

/** Seconds or an HTTP date; undefined when it is neither. */
function toRetryAfterMs(header = ''): number | undefined {
  if (/^\d{1,9}$/.test(header.trim())) return Number(header) * 1000
  const at = Date.parse(header)
  return Number.isNaN(at) ? undefined : Math.max(0, at - Date.now())
}

/** Why a call failed, in words. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return error.message || ('code' in error ? String(error.code) : error.name)
}
