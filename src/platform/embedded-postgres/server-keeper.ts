import { setTimeout as sleep } from 'node:timers/promises'
import { openEmbeddedPostgres } from './embedded-postgres.js'
import { findPostmaster } from './postmaster.js'

const pollMs = 2000

/** Keeps a server running that this process uses. */
export type ServerKeeper = {
  /** Stops the watch; waits for a start that is under way. */
  stop(): Promise<void>
}

/**
 * Starts our own server again whenever it is gone, for example because the kernel killed it for lack of memory. It returns at
 * its port with everything that was committed. `onRestart` is called after each start.
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
          // Several processes may notice at once: the lock lets one of them start it, the others join.
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
