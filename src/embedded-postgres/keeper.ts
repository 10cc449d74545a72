import { setTimeout as sleep } from 'node:timers/promises'
import { openEmbeddedPostgres } from './index.js'
import { findPostmaster } from './postmaster.js'

const pollMs = 2000

/** Looks after a server that this process holds a lease of. */
export type ServerKeeper = {
  /** Looks no more; a start that is going on is waited for. */
  stop(): Promise<void>
}

/**
 * Starts our own server again whenever it is gone, as it is after it was killed for want of memory: whoever holds a lease
 * may not find it stopped. It comes back at its port with everything that was committed. `onRestart` hears of it.
 */
export function keepServerRunning(options: {
  readonly dataDir: string
  readonly clusterDir: string
  readonly onRestart: () => void
  readonly onFailure: (error: unknown) => void
}): ServerKeeper {
  const stopped = new AbortController()
  const keep = async () => {
    while (!stopped.signal.aborted) {
      try {
        if ((await findPostmaster(options.clusterDir)) === undefined) {
          // Several processes may see it at once: the launcher's lock lets one start it, the others join.
          const server = await openEmbeddedPostgres({ dataDir: options.dataDir })
          await server.release()
          if (!server.joined) options.onRestart()
        }
      } catch (error) {
        options.onFailure(error)
      }
      await sleep(pollMs, undefined, { signal: stopped.signal, ref: false }).catch(() => undefined)
    }
  }
  const kept = keep()
  return {
    stop: async () => {
      stopped.abort()
      await kept
    },
  }
}
