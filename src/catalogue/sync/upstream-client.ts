import { ServiceError } from '../../kernel/errors.js'
import { errnoOf } from '../../kernel/system-errors.js'
import {
  backoff,
  chunksOf,
  type HttpAnswer,
  HttpClient,
  joined,
  RetryableError,
  reasonOf,
  refuseUnavailable,
  repeated,
} from '../../platform/outgoing/http-client.js'
import { Pace, type Timer } from './pace.js'

/** Options of the client; every limit has a default in {@link clientDefaults}. */
export type ClientOptions = {
  /** Address up to, not including, `/api`. */
  readonly url: string
  readonly apiKey: string
  readonly concurrency: number
  readonly requestsPerSecond: number
  readonly allowPrivateNetworks: boolean
  /** The only hosts beside that of `url` that addresses from data may lead to; undefined: any. */
  readonly hosts?: readonly string[] | undefined
  /** Names this program and version to the upstream's operator. */
  readonly userAgent: string
  /** That of the machine unless given. */
  readonly time?: Timer
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

/** A complete answer. */
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
  readonly #pace: Pace
  readonly #client: HttpClient

  constructor(options: ClientOptions) {
    this.#options = { ...clientDefaults, ...options }
    const { url, concurrency, requestsPerSecond, allowPrivateNetworks, hosts, time } = options
    this.#pace = new Pace({ concurrency, perSecond: requestsPerSecond }, time)
    // The operator chose the configured origin; every other address came from data.
    const { origin, hostname } = new URL(url)
    const guard = { trustedOrigin: origin, allowPrivateNetworks, hosts: hosts && [hostname, ...hosts] }
    this.#client = new HttpClient({ ...this.#options, connections: concurrency, guard })
  }

  /** Calls an API operation; an answer at which `read` throws counts as damaged and is requested once more. */
  async get<T>(path: string, query: Query, options: GetOptions, read: (answer: Answer) => T | Promise<T>): Promise<T> {
    const url = new URL(`${this.#options.url}/api${path}`)
    for (const [name, value] of Object.entries({ ...query, api_key: this.#options.apiKey })) {
      if (value !== undefined) url.searchParams.set(name, String(value))
    }
    const { backoffMs, maxBackoffMs, maxPauseMs } = this.#options
    const most = options.tries ?? this.#options.tries
    const pauseAfter = (error: unknown, sent: number) => {
      options.signal.throwIfAborted()
      const failure = toUpstreamError(error, url)
      const damaged = failure.code === 'upstream-unusable' && !(error instanceof TooLarge)
      const tries = damaged ? Math.min(2, most) : failure.code === 'upstream-unavailable' ? most : 1
      const asked = error instanceof RetryableError ? error.retryAfterMs : undefined
      if (sent >= tries || (asked ?? 0) > maxPauseMs) throw failure
      if (asked === undefined) return backoff(sent, backoffMs, maxBackoffMs)
      this.#pace.pause(asked)
      return 0
    }
    const send = () => this.#pace.run(() => this.#fetch(url, options), options.signal)
    return await repeated(async () => await read(await send()), pauseAfter, options.signal)
  }

  /** Streams a file whose address came from data, requested once; `modified` is when the upstream last wrote it. */
  async stream(
    address: string,
    signal: AbortSignal,
  ): Promise<{ readonly chunks: AsyncIterable<Buffer>; readonly modified: Date | undefined }> {
    const url = URL.canParse(address, this.#options.url) ? new URL(address, this.#options.url) : undefined
    if (!url) throw new ServiceError('address-refused', 'the address of the bulk file cannot be read')
    const { bulkBytes, bulkTotalMs } = this.#options
    const total = AbortSignal.any([signal, AbortSignal.timeout(bulkTotalMs)])
    try {
      const answer = await this.#pace.run(() => this.#send(url, { accept: 'application/xml', signal: total }), total)
      if (answer.status !== 200) {
        answer.body.destroy()
        throw new ServiceError('upstream-unavailable', `${url.pathname} answered ${answer.status}`)
      }
      const chunks = translated(decoded(answer, bulkBytes, url), url, signal)
      return { chunks, modified: toDate(answer.headers['last-modified']) }
    } catch (error) {
      signal.throwIfAborted()
      throw toUpstreamError(error, url)
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#client[Symbol.asyncDispose]()
  }

  async #fetch(url: URL, { accept, signal, expected = [] }: GetOptions): Promise<Answer> {
    const { pageBytes, totalMs } = this.#options
    const answer = await this.#send(url, { accept, signal, totalMs })
    const { status, headers } = answer
    if (status !== 200 && !expected.includes(status)) {
      answer.body.destroy()
      refuseUnavailable(answer, url.pathname)
      const hint = status === 401 || status === 403 ? ': check UPSTREAM_API_KEY' : ''
      throw new ServiceError('upstream-refused', `${url.pathname} answered ${status}${hint}`)
    }
    const body = await joined(decoded(answer, pageBytes, url))
    this.firstDate ??= toDate(headers.date)
    this.modifiedUntil ??= toDate(headers['x-modified-until'])
    return { status, body }
  }

  async #send(
    url: URL,
    { accept, ...call }: { readonly accept: string; readonly signal: AbortSignal; readonly totalMs?: number },
  ): Promise<HttpAnswer> {
    const { redirects, userAgent } = this.#options
    const answer = await this.#client.send(url, {
      ...{ ...call, redirects, onAddress: () => void this.requests++ },
      headers: { accept, 'accept-encoding': 'gzip', 'user-agent': userAgent },
    })
    if (answer.location !== undefined) throw refused(answer, url, 'redirects without end or to nowhere')
    return answer
  }
}

/** The decoded body; decoding stops as soon as it exceeds `limit` bytes. */
function decoded(answer: HttpAnswer, limit: number, url: URL): AsyncGenerator<Buffer> {
  const encoding = answer.headers['content-encoding']?.trim().toLowerCase() ?? 'identity'
  if (encoding !== 'identity' && encoding !== 'gzip') {
    throw refused(answer, url, `is encoded as ${encoding}, which was not asked for`)
  }
  return chunksOf(
    answer,
    limit,
    () => new TooLarge('upstream-unusable', `${url.pathname} is larger than ${limit} bytes`),
  )
}

function refused({ body }: HttpAnswer, { pathname }: URL, why: string): ServiceError {
  body.destroy()
  return new ServiceError('upstream-unusable', `${pathname} ${why}`)
}

class TooLarge extends ServiceError {}

async function* translated(chunks: AsyncIterable<Buffer>, url: URL, signal: AbortSignal): AsyncGenerator<Buffer> {
  try {
    yield* chunks
  } catch (error) {
    signal.throwIfAborted()
    throw toUpstreamError(error, url)
  }
}

function toDate(text: string | undefined): Date | undefined {
  const time = text === undefined ? Number.NaN : Date.parse(text)
  return Number.isNaN(time) ? undefined : new Date(time)
}

/** The error of a request; broken connections and time-outs are `upstream-unavailable`, which is repeated. */
function toUpstreamError(error: unknown, url: URL): ServiceError {
  if (error instanceof ServiceError) return error
  const cause = error instanceof Error && error.cause instanceof ServiceError ? error.cause : undefined
  if (cause) return cause
  if (error instanceof RetryableError) return new ServiceError('upstream-unavailable', error.message)
  const code = errnoOf(error) ?? ''
  const isDamaged = code.startsWith('Z_') && code !== 'Z_BUF_ERROR'
  return new ServiceError(
    isDamaged ? 'upstream-unusable' : 'upstream-unavailable',
    `${url.pathname} could not be read: ${reasonOf(error)}`,
    { cause: error },
  )
}
