import { isIP } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { Agent, type Dispatcher, request } from 'undici'
import { ServiceError } from '../../kernel/errors.js'

/** Limits of one download. */
export const downloadDefaults = {
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

export type DownloadLimits = typeof downloadDefaults

/** Downloads small files one by one over kept connections. */
export type Downloader = {
  /** The bytes at the address; undefined when the server says that there is no such file (404, 410). */
  get(address: string, signal: AbortSignal): Promise<Buffer | undefined>
  close(): Promise<void>
}

/** A failure that a retry may overcome. */
class TransientFailure extends Error {}

/**
 * A downloader that verifies certificates, allows plain HTTP only to this machine itself, follows a few redirects, and
 * retries transient failures. Throws `standard-unavailable` with the address, `aborted` on the signal.
 */
export function createDownloader(limits: DownloadLimits): Downloader {
  const { connectMs, idleMs } = limits
  const agent = new Agent({
    connect: { timeout: connectMs },
    headersTimeout: idleMs,
    bodyTimeout: idleMs,
    connections: 4,
  })
  return {
    async get(address, signal) {
      for (let attempt = 1; ; attempt += 1) {
        try {
          return await readOnce(address, agent, limits, signal)
        } catch (error) {
          if (signal.aborted) throw new ServiceError('aborted', 'the download was interrupted', { cause: error })
          if (error instanceof ServiceError) throw error
          if (attempt >= limits.attempts) {
            throw standardUnavailable(
              `${address} could not be downloaded in ${attempt} attempts: ${reasonOf(error)}`,
              error,
            )
          }
          await sleep(limits.backoffMs * 2 ** (attempt - 1), undefined, { signal }).catch(() => undefined)
        }
      }
    },
    close: () => agent.close(),
  }
}

async function readOnce(
  address: string,
  dispatcher: Dispatcher,
  { totalMs, maxBytes, redirects }: DownloadLimits,
  signal: AbortSignal,
): Promise<Buffer | undefined> {
  let url = usableUrl(address)
  const total = AbortSignal.any([signal, AbortSignal.timeout(totalMs)])
  for (let hop = 0; ; hop += 1) {
    const { statusCode, headers, body } = await request(url, {
      dispatcher,
      signal: total,
      headers: { 'user-agent': 'giving-iati', 'accept-encoding': 'identity' },
    })
    if (statusCode === 200) return await readBody(body, address, maxBytes)
    await body.dump()
    if (statusCode === 404 || statusCode === 410) return undefined
    if (statusCode === 429 || statusCode >= 500) throw new TransientFailure(`the server answered ${statusCode}`)
    const { location } = headers
    if (statusCode < 300 || statusCode >= 400 || typeof location !== 'string') {
      throw standardUnavailable(`expected the file at ${address}, got the status ${statusCode}`)
    }
    if (hop >= redirects) throw standardUnavailable(`expected at most ${redirects} redirects from ${address}, got more`)
    const next = usableUrl(URL.canParse(location, url.href) ? new URL(location, url).href : location)
    if (url.protocol === 'https:' && next.protocol !== 'https:') {
      throw standardUnavailable(`expected ${address} to stay encrypted, got a redirect to ${next.href}`)
    }
    url = next
  }
}

async function readBody(body: AsyncIterable<Buffer>, address: string, maxBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of body) {
    bytes += chunk.length
    if (bytes > maxBytes) throw standardUnavailable(`expected at most ${maxBytes} bytes at ${address}, got more`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

/** The address as a URL: https, or http on this machine. */
function usableUrl(address: string): URL {
  const url = URL.canParse(address) ? new URL(address) : undefined
  if (url?.protocol === 'https:' || (url?.protocol === 'http:' && isLoopback(url.hostname))) return url
  throw standardUnavailable(`expected an https address, or http on this machine, got ${address}`)
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '[::1]' || (isIP(host) === 4 && host.startsWith('127.'))
}

/** A failure to download the official files. */
export function standardUnavailable(message: string, cause?: unknown): ServiceError {
  return new ServiceError('standard-unavailable', message, { cause })
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const code = 'code' in error ? String(error.code) : error.name
  return error.message || code
}
