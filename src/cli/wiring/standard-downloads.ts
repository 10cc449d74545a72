import { type PullOptions, standardUnavailable } from '../../iati/standard/pull.js'
import { ServiceError } from '../../kernel/errors.js'
import { isLoopbackHost } from '../../kernel/loopback-host.js'
import {
  backoff,
  chunksOf,
  HttpClient,
  joined,
  reasonOf,
  refuseUnavailable,
  repeated,
} from '../../platform/outgoing/http-client.js'

/** Limits of one download. */
const downloadDefaults = {
  connectMs: 10_000,
  /** The longest silence while an answer is awaited or read. */
  idleMs: 15_000,
  totalMs: 60_000,
  /** Bytes of one file; the largest official one has less than 2 MB. */
  maxBytes: 16 * 1024 * 1024,
  attempts: 3,
  backoffMs: 500,
  redirects: 3,
}

/**
 * Downloads the official files: verifies certificates, allows plain HTTP only to this machine itself, follows a few
 * redirects, and retries transient failures. Throws `standard-unavailable` with the address, `aborted` on the signal.
 */
export class StandardDownloads implements AsyncDisposable {
  readonly #limits: typeof downloadDefaults
  readonly #client: HttpClient

  constructor(limits: Partial<typeof downloadDefaults> = {}) {
    this.#limits = { ...downloadDefaults, ...limits }
    this.#client = new HttpClient({ ...this.#limits, connections: 4 })
  }

  readonly get: PullOptions['download'] = async (address, signal) => {
    const { attempts, backoffMs } = this.#limits
    const pauseAfter = (error: unknown, tries: number) => {
      if (signal.aborted) throw new ServiceError('aborted', 'the download was interrupted', { cause: error })
      if (error instanceof ServiceError) throw error
      if (tries < attempts) return backoff(tries, backoffMs)
      const message = `${address} could not be downloaded in ${tries} attempts: ${reasonOf(error)}`
      throw standardUnavailable(message, error)
    }
    return await repeated(() => this.#getOnce(address, signal), pauseAfter, signal)
  }

  async #getOnce(address: string, signal: AbortSignal): Promise<Buffer | undefined> {
    const { totalMs, maxBytes, redirects } = this.#limits
    const onAddress = (url: URL, previous?: URL) => refuseUnsafe(url, address, previous)
    const headers = { 'accept-encoding': 'identity' }
    const answer = await this.#client.send(toUrl(address), { signal, totalMs, redirects, headers, onAddress })
    const { status, location, body } = answer
    const tooLarge = () => standardUnavailable(`expected at most ${maxBytes} bytes at ${address}, got more`)
    if (status === 200) return await joined(chunksOf(answer, maxBytes, tooLarge))
    refuseUnavailable(answer)
    body.destroy()
    if (status === 404 || status === 410) return undefined
    if (location === undefined) {
      throw standardUnavailable(`expected the file at ${address}, got the status ${status}`)
    }
    toUrl(location, address)
    throw standardUnavailable(`expected at most ${redirects} redirects from ${address}, got more`)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#client[Symbol.asyncDispose]()
  }
}

function toUrl(address: string, base?: string): URL {
  if (URL.canParse(address, base)) return new URL(address, base)
  throw unsafe(address)
}

/** True for https, and for http on this machine. */
export function isSafeAddress(address: string): boolean {
  if (!URL.canParse(address)) return false
  const { protocol, hostname } = new URL(address)
  return protocol === 'https:' || (protocol === 'http:' && isLoopbackHost(hostname))
}

/** Refuses an address that is neither https nor http on this machine, and a redirect from https to http. */
function refuseUnsafe(url: URL, address: string, previous: URL | undefined): void {
  if (!isSafeAddress(url.href)) throw unsafe(previous ? url.href : address)
  if (previous?.protocol === 'https:' && url.protocol === 'http:') {
    throw standardUnavailable(`expected ${address} to stay encrypted, got a redirect to ${url.href}`)
  }
}

function unsafe(address: string): ServiceError {
  return standardUnavailable(`expected an https address, or http on this machine, got ${address}`)
}
