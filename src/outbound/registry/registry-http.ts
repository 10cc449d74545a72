import { setTimeout as sleep } from 'node:timers/promises'
import { Agent, request } from 'undici'
import { ServiceError } from '../../kernel/errors.js'

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

export type HttpLimits = typeof httpDefaults

export type HttpCall = {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE'
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
}

/** An answer that another try would not change: its status, and its body when that is JSON. */
export type HttpAnswer = { readonly status: number; readonly document: unknown }

/** A failure that another try may overcome. */
class RetryableError extends Error {
  readonly retryAfterMs: number | undefined

  constructor(message: string, retryAfterMs?: number) {
    super(message)
    this.retryAfterMs = retryAfterMs
  }
}

/**
 * Sends calls over kept connections and repeats them after passing failures: time-outs, broken connections, 429, 5xx, and
 * an answer of success that is not JSON. So a call may reach the server more than once. Follows no redirect, which could
 * carry the token elsewhere. Throws `registry-unavailable`, or `aborted` by the signal.
 */
export class RegistryHttp implements AsyncDisposable {
  readonly #limits: HttpLimits
  readonly #agent: Agent

  constructor(limits: Partial<HttpLimits> = {}) {
    this.#limits = { ...httpDefaults, ...limits }
    const { connectMs, idleMs } = this.#limits
    this.#agent = new Agent({
      connect: { timeout: connectMs },
      headersTimeout: idleMs,
      bodyTimeout: idleMs,
      connections: 1,
    })
  }

  async send(call: HttpCall, signal: AbortSignal): Promise<HttpAnswer> {
    const { tries, backoffMs, maxPauseMs } = this.#limits
    for (let sent = 1; ; sent++) {
      try {
        return await this.#sendOnce(call, signal)
      } catch (error) {
        if (signal.aborted) throw new ServiceError('aborted', 'the call was interrupted', { cause: error })
        const asked = error instanceof RetryableError ? error.retryAfterMs : undefined
        if (sent >= tries || (asked ?? 0) > maxPauseMs) {
          const reason = error instanceof Error ? error.message || error.name : String(error)
          const message = `${call.method} ${call.url} failed in ${sent} attempts: ${reason}`
          throw new ServiceError('registry-unavailable', message, { cause: error })
        }
        const pauseMs = asked ?? backoffMs * 2 ** (sent - 1) * (0.5 + Math.random() / 2)
        await sleep(pauseMs, undefined, { signal }).catch(() => undefined)
      }
    }
  }

  async #sendOnce({ method, url, headers, body }: HttpCall, signal: AbortSignal): Promise<HttpAnswer> {
    const { totalMs, maxBytes } = this.#limits
    const answer = await request(url, {
      dispatcher: this.#agent,
      method,
      headers: { accept: 'application/json', 'accept-encoding': 'identity', 'user-agent': 'giving-iati', ...headers },
      body: body ?? null,
      signal: AbortSignal.any([signal, AbortSignal.timeout(totalMs)]),
    })
    const text = await readText(answer.body, maxBytes)
    const { statusCode: status } = answer
    if (status === 429 || status >= 500) {
      throw new RetryableError(`the server answered ${status}`, toRetryAfterMs(answer.headers['retry-after']))
    }
    const document = parseJson(text)
    if (document === undefined && status < 300) throw new RetryableError('the answer is not JSON')
    return { status, document }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#agent.destroy()
  }
}

async function readText(body: AsyncIterable<Buffer>, maxBytes: number): Promise<string> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of body) {
    bytes += chunk.length
    if (bytes > maxBytes) throw new Error(`the answer is larger than ${maxBytes} bytes`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Seconds or an HTTP date; undefined when it is neither. */
function toRetryAfterMs(header: string | string[] | undefined): number | undefined {
  const text = [header].flat()[0]?.trim()
  if (text === undefined) return undefined
  if (/^\d{1,9}$/.test(text)) return Number(text) * 1000
  const at = Date.parse(text)
  return Number.isNaN(at) ? undefined : Math.max(0, at - Date.now())
}
