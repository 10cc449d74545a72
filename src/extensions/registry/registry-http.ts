import { ServiceError } from '../../kernel/errors.js'
import {
  backoff,
  chunksOf,
  type HttpCall,
  HttpClient,
  joined,
  jsonOf,
  RetryableError,
  reasonOf,
  refuseUnavailable,
  repeated,
} from '../../platform/outgoing/http-client.js'

/** Limits of a call; every one may be set by a test. */
export const httpDefaults = {
  connectMs: 10_000,
  /** The longest silence before and within an answer. */
  idleMs: 30_000,
  totalMs: 60_000,
  /** A page of 500 datasets has less than 1 MB. */
  maxBytes: 8 * 1024 * 1024,
  tries: 4,
  backoffMs: 1_000,
  /** The longest pause that a call waits for when the server asks for one. */
  maxPauseMs: 60_000,
}

export type RegistryRequest = { readonly url: string } & Pick<HttpCall, 'body'> &
  Required<Pick<HttpCall, 'method' | 'headers'>>

/** An answer that another try would not change: its status, and its body when that is JSON. */
export type RegistryAnswer = { readonly status: number; readonly document: unknown }

/**
 * Sends calls and repeats them after passing failures: time-outs, broken connections, 429, 5xx, and an answer of success
 * that is not JSON. So a call may reach the server more than once. Follows no redirect, which could carry the token
 * elsewhere. Throws `registry-unavailable`, or `aborted` by the signal.
 */
export class RegistryHttp implements AsyncDisposable {
  readonly #limits: typeof httpDefaults
  readonly #client: HttpClient

  constructor(limits: Partial<typeof httpDefaults> = {}) {
    this.#limits = { ...httpDefaults, ...limits }
    this.#client = new HttpClient({ ...this.#limits, connections: 1 })
  }

  async send(request: RegistryRequest, signal: AbortSignal): Promise<RegistryAnswer> {
    const { tries: most, backoffMs, maxPauseMs } = this.#limits
    const pauseAfter = (error: unknown, tries: number) => {
      if (signal.aborted) throw new ServiceError('aborted', 'the call was interrupted', { cause: error })
      const asked = error instanceof RetryableError ? error.retryAfterMs : undefined
      if (tries < most && (asked ?? 0) <= maxPauseMs) return asked ?? backoff(tries, backoffMs)
      const message = `${request.method} ${request.url} failed in ${tries} attempts: ${reasonOf(error)}`
      throw new ServiceError('registry-unavailable', message, { cause: error })
    }
    return await repeated(() => this.#sendOnce(request, signal), pauseAfter, signal)
  }

  async #sendOnce({ url, headers, ...request }: RegistryRequest, signal: AbortSignal): Promise<RegistryAnswer> {
    const { totalMs, maxBytes } = this.#limits
    const sent = { accept: 'application/json', 'accept-encoding': 'identity', ...headers }
    const answer = await this.#client.send(url, { ...request, headers: sent, totalMs, signal })
    refuseUnavailable(answer)
    const tooLarge = () => new Error(`the answer is larger than ${maxBytes} bytes`)
    const document = jsonOf(String(await joined(chunksOf(answer, maxBytes, tooLarge))))
    if (document === undefined && answer.status < 300) throw new RetryableError('the answer is not JSON')
    return { status: answer.status, document }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#client[Symbol.asyncDispose]()
  }
}
