import path from 'node:path'
import { ServiceError } from '../../kernel/errors.js'
import { clientNetwork } from './client-network.js'
import type { ApiConfig, ApiLimits } from './deps.js'

/** A file that is being sent to a client. */
export type Download = {
  /** Counts bytes that are about to be sent; returns how many milliseconds to wait first. */
  delayMs(bytes: number, nowMs?: number): number
  /** Ends the download; called once. */
  end(): void
}

// Clients without a running download whose share is remembered.
const mostIdle = 1_000

/**
 * Limits the downloads of a process: their number at a time for each client, and the rate that its downloads share. Knows
 * where a proxy has the files, which then sends them instead.
 */
export class Downloads {
  readonly #limits: ApiLimits
  readonly #shares = new Map<string, { running: number; availableBytes: number; countedAtMs: number }>()

  readonly #proxyFiles: ApiConfig['proxyFiles']

  constructor({ limits, proxyFiles }: Pick<ApiConfig, 'limits' | 'proxyFiles'>) {
    this.#limits = limits
    this.#proxyFiles = proxyFiles
  }

  /** The address at which the proxy has a file on disk; undefined when it has none. */
  proxyAddress(file: string): string | undefined {
    if (!this.#proxyFiles) return undefined
    const { location, folder } = this.#proxyFiles
    return location + path.relative(folder, file).split(path.sep).map(encodeURIComponent).join('/')
  }

  /** Begins a download; throws `rate-limited` when the client has too many at a time. */
  begin(address: string, nowMs = performance.now()): Download {
    const { connectionsPerAddress, downloadBytesPerSecond: rate } = this.#limits
    const client = clientNetwork(address)
    const share = this.#shares.get(client) ?? { running: 0, availableBytes: rate, countedAtMs: nowMs }
    if (share.running >= connectionsPerAddress) {
      const message = `more than ${connectionsPerAddress} downloads at a time from this address`
      throw new ServiceError('rate-limited', message, { retryAfterSeconds: 1 })
    }
    share.running++
    this.#shares.set(client, share)
    return {
      delayMs: (bytes, now = performance.now()) => {
        if (rate === 0) return 0
        const regained = ((now - share.countedAtMs) / 1000) * rate
        share.availableBytes = Math.min(rate, share.availableBytes + regained) - bytes
        share.countedAtMs = now
        return share.availableBytes >= 0 ? 0 : Math.ceil((-share.availableBytes / rate) * 1000)
      },
      end: () => {
        share.running--
        if (this.#shares.size > mostIdle) this.#forgetIdle()
      },
    }
  }

  #forgetIdle(): void {
    for (const [client, { running }] of this.#shares) if (running === 0) this.#shares.delete(client)
  }
}
