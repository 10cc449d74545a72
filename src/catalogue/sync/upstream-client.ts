import type { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { createGunzip } from 'node:zlib'
import { Agent, type Dispatcher, request } from 'undici'
import { ServiceError } from '../../kernel/errors.js'
import { checkAddress, guardedLookup } from './address-guard.js'
import { Pace } from './pace.js'

/** Options of the client; every limit has a default in {@link clientDefaults}. */
export type ClientOptions = {
  /** Address up to, not including, `/api`. */
  readonly url: string
  readonly apiKey: string
  readonly concurrency: number
  readonly requestsPerSecond: number
  readonly allowPrivateNetworks: boolean
  /** Names this program and version to the upstream's operator. */
  readonly userAgent: string
} & Partial<typeof clientDefaults>

/** Limits of one request; sizes are bytes of the decoded body. */
export const clientDefaults = {
  connectMs: 10_000,
  /** The longest silence before and within an answer. */
  idleMs: 30_000,
  totalMs: 120_000,
  /** A bulk file may take longer. */
  bulkTotalMs: 6 * 3_600_000,
  pageBytes: 16 * 1024 * 1024,
  bulkBytes: 64 * 1024 * 1024 * 1024,
  tries: 5,
  backoffMs: 500,
  maxBackoffMs: 30_000,
  /** The longest pause that a run waits for when the upstream asks for one. */
  maxPauseMs: 300_000,
  redirects: 3,
}

/** An answer that was read to its end. */
export type Answer = { readonly status: number; readonly body: Buffer }

export type Query = Readonly<Record<string, string | number | undefined>>

export type GetOptions = {
  readonly accept: string
  readonly signal: AbortSignal
  /** Statuses beside 200 that are an answer, not a failure. */
  readonly expected?: readonly number[]
  /** How often the request is sent at most; fewer than the default for an optional answer. */
  readonly tries?: number
}

/**
 * The client of an upstream's API: paces requests, keeps connections, repeats requests after passing failures. Addresses
 * from data (links, redirects to another origin) never get the API key and are guarded against private networks.
 * Failures are `upstream-unavailable`, `upstream-refused`, `upstream-unusable` or `address-refused`; messages name the
 * path, never the query.
 */
export class UpstreamClient implements AsyncDisposable {
  /** Requests sent so far, repeated ones and redirects included. */
  requests = 0
  /** The `Date` of the upstream's first answer. */
  firstDate: Date | undefined
  /** The first `X-Modified-Until` of an answer. */
  modifiedUntil: Date | undefined
  readonly #options: ClientOptions & typeof clientDefaults
  readonly #origin: string
  readonly #pace: Pace
  readonly #own: Agent
  readonly #foreign: Agent

  constructor(options: ClientOptions) {
    this.#options = { ...clientDefaults, ...options }
    this.#origin = new URL(options.url).origin
    this.#pace = new Pace({ concurrency: options.concurrency, perSecond: options.requestsPerSecond })
    const { connectMs, idleMs } = this.#options
    const shared = {
      connections: options.concurrency,
      pipelining: 1,
      keepAliveTimeout: 30_000,
      headersTimeout: idleMs,
      bodyTimeout: idleMs,
      maxHeaderSize: 32_768,
    }
    this.#own = new Agent({ ...shared, connect: { timeout: connectMs } })
    this.#foreign = new Agent({
      ...shared,
      connect: { timeout: connectMs, ...(!options.allowPrivateNetworks && { lookup: guardedLookup }) },
    })
  }

  /**
   * Calls one API operation and hands its whole answer to `read`; when `read` throws, the answer counts as damaged and is
   * requested once more.
   */
  async get<T>(path: string, query: Query, options: GetOptions, read: (answer: Answer) => T | Promise<T>): Promise<T> {
    const url = new URL(`${this.#options.url}/api${path}`)
    for (const [name, value] of Object.entries({ ...query, api_key: this.#options.apiKey })) {
      if (value !== undefined) url.searchParams.set(name, String(value))
    }
    const most = options.tries ?? this.#options.tries
    for (let sent = 1; ; sent++) {
      try {
        return await read(await this.#pace.run(() => this.#fetch(url, options), options.signal))
      } catch (error) {
        options.signal.throwIfAborted()
        const failure = toUpstreamError(error, url)
        const damaged = failure.code === 'upstream-unusable' && !(error instanceof TooLarge)
        const tries = damaged ? Math.min(2, most) : failure.code === 'upstream-unavailable' ? most : 1
        if (sent >= tries) throw failure
        const asked = error instanceof Unavailable ? error.retryAfterMs : undefined
        if (asked !== undefined && asked > this.#options.maxPauseMs) throw failure
        if (asked !== undefined) this.#pace.pause(asked)
        else await sleep(this.#backoff(sent), undefined, { signal: options.signal })
      }
    }
  }

  /**
   * Streams a file whose address came from data; it is requested once only. `modified` is when the upstream last wrote the
   * file.
   */
  async stream(
    address: string,
    signal: AbortSignal,
  ): Promise<{ readonly chunks: AsyncIterable<Buffer>; readonly modified: Date | undefined }> {
    const url = URL.canParse(address, this.#options.url) ? new URL(address, this.#options.url) : undefined
    if (!url) throw new ServiceError('address-refused', 'the address of the bulk file cannot be read')
    const { bulkBytes, bulkTotalMs } = this.#options
    const total = AbortSignal.any([signal, AbortSignal.timeout(bulkTotalMs)])
    try {
      const response = await this.#pace.run(() => this.#follow(url, 'application/xml', total), total)
      if (response.statusCode !== 200) {
        response.body.destroy()
        throw new ServiceError('upstream-unavailable', `${url.pathname} answered ${response.statusCode}`)
      }
      const modified = toDate(header(response, 'last-modified'))
      return { chunks: translated(decoded(response, bulkBytes, url), url, signal), modified }
    } catch (error) {
      signal.throwIfAborted()
      throw toUpstreamError(error, url)
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([this.#own.destroy(), this.#foreign.destroy()])
  }

  async #fetch(url: URL, { accept, signal, expected = [] }: GetOptions): Promise<Answer> {
    const total = AbortSignal.any([signal, AbortSignal.timeout(this.#options.totalMs)])
    const response = await this.#follow(url, accept, total)
    const status = response.statusCode
    if (status !== 200 && !expected.includes(status)) {
      response.body.destroy()
      throw toStatusError(status, header(response, 'retry-after'), url)
    }
    const parts: Buffer[] = []
    for await (const chunk of decoded(response, this.#options.pageBytes, url)) parts.push(chunk)
    this.firstDate ??= toDate(header(response, 'date'))
    this.modifiedUntil ??= toDate(header(response, 'x-modified-until'))
    return { status, body: Buffer.concat(parts) }
  }

  /** Sends the request and follows its redirects, each one guarded. */
  async #follow(url: URL, accept: string, signal: AbortSignal): Promise<Dispatcher.ResponseData> {
    let current = url
    for (let hop = 0; ; hop++) {
      // The operator chose the configured origin; every other address came from data.
      const own = current.origin === this.#origin
      if (!own) checkAddress(current, this.#options.allowPrivateNetworks)
      this.requests++
      const response = await request(current, {
        dispatcher: own ? this.#own : this.#foreign,
        headers: { accept, 'accept-encoding': 'gzip', 'user-agent': this.#options.userAgent },
        signal,
      })
      // A body that is destroyed unread emits an error, which has no reader.
      response.body.on('error', () => undefined)
      const location = header(response, 'location')
      if (response.statusCode < 300 || response.statusCode > 399 || location === undefined) return response
      response.body.destroy()
      if (hop >= this.#options.redirects || !URL.canParse(location, current.href)) {
        throw new ServiceError('upstream-unusable', `${url.pathname} redirects without end or to nowhere`)
      }
      current = new URL(location, current)
    }
  }

  #backoff(sent: number): number {
    const { backoffMs, maxBackoffMs } = this.#options
    const ms = Math.min(maxBackoffMs, backoffMs * 2 ** (sent - 1))
    return ms / 2 + Math.random() * (ms / 2)
  }
}

class Unavailable extends ServiceError {
  readonly retryAfterMs: number | undefined

  constructor(message: string, retryAfterMs: number | undefined) {
    super('upstream-unavailable', message)
    this.retryAfterMs = retryAfterMs
  }
}

class TooLarge extends ServiceError {}

/** The decoded body; decoding stops as soon as it exceeds `limit` bytes. */
async function* decoded(response: Dispatcher.ResponseData, limit: number, url: URL): AsyncGenerator<Buffer> {
  const encoding = header(response, 'content-encoding')?.trim().toLowerCase() ?? 'identity'
  const stated = Number(header(response, 'content-length') ?? 0)
  try {
    if (encoding !== 'identity' && encoding !== 'gzip') {
      throw new ServiceError('upstream-unusable', `${url.pathname} is encoded as ${encoding}, which was not asked for`)
    }
    if (stated > limit) throw new TooLarge('upstream-unusable', `${url.pathname} is larger than ${limit} bytes`)
    let source: AsyncIterable<Buffer> = response.body
    if (encoding === 'gzip') {
      const gunzip = createGunzip({ chunkSize: 65_536 })
      response.body.on('error', (error) => gunzip.destroy(error))
      source = response.body.pipe(gunzip) as Readable
    }
    let bytes = 0
    for await (const chunk of source) {
      bytes += chunk.length
      if (bytes > limit) throw new TooLarge('upstream-unusable', `${url.pathname} is larger than ${limit} bytes`)
      yield chunk
    }
  } finally {
    response.body.destroy()
  }
}

async function* translated(chunks: AsyncIterable<Buffer>, url: URL, signal: AbortSignal): AsyncGenerator<Buffer> {
  try {
    yield* chunks
  } catch (error) {
    signal.throwIfAborted()
    throw toUpstreamError(error, url)
  }
}

function toStatusError(status: number, retryAfter: string | undefined, url: URL): ServiceError {
  const message = `${url.pathname} answered ${status}`
  if (status === 429 || status >= 500) return new Unavailable(message, toRetryAfterMs(retryAfter))
  if (status === 401 || status === 403)
    return new ServiceError('upstream-refused', `${message}: check UPSTREAM_API_KEY`)
  return new ServiceError('upstream-refused', message)
}

/** Seconds or an HTTP date; undefined when it is neither. */
function toRetryAfterMs(text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  if (/^\d{1,9}$/.test(text.trim())) return Number(text) * 1000
  const at = Date.parse(text)
  return Number.isNaN(at) ? undefined : Math.max(0, at - Date.now())
}

function toDate(text: string | undefined): Date | undefined {
  const time = text === undefined ? Number.NaN : Date.parse(text)
  return Number.isNaN(time) ? undefined : new Date(time)
}

function header(response: Dispatcher.ResponseData, name: string): string | undefined {
  const value = response.headers[name]
  return Array.isArray(value) ? value[0] : value
}

/** The error of a request; broken connections and time-outs are `upstream-unavailable`, which is repeated. */
function toUpstreamError(error: unknown, url: URL): ServiceError {
  if (error instanceof ServiceError) return error
  const cause = error instanceof Error && error.cause instanceof ServiceError ? error.cause : undefined
  if (cause) return cause
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  const reason = error instanceof Error ? error.message : String(error)
  const inflating = code.startsWith('Z_')
  return new ServiceError(
    inflating && code !== 'Z_BUF_ERROR' ? 'upstream-unusable' : 'upstream-unavailable',
    `${url.pathname} could not be read: ${reason || code}`,
    { cause: error },
  )
}
