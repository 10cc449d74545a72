import path from 'node:path'
import { type Environment, readConfig } from '../../platform/config/config.js'
import { type EmbeddedPostgres, openEmbeddedPostgres } from '../../platform/embedded-postgres/embedded-postgres.js'
import { createLog, tellOperator } from '../../platform/observability/log.js'

/** The commands that run until they are stopped. */
export type ServiceName = 'api' | 'worker' | 'start'

/** A server of our own that opens while the modules of a service are loaded. Disposing closes it unless it was taken. */
export type OpeningServer = AsyncDisposable & {
  /** Resolves when programs of PostgreSQL work, or nothing more is to do: this process has time for other things. */
  readonly isWaiting: Promise<void>
  /** The server; the caller releases it. */
  take(): Promise<EmbeddedPostgres>
}

/**
 * What a service does before its modules are loaded, which takes a second: it says what it is, and begins to open its own
 * PostgreSQL where it has one. A wrong configuration is told later, with all that is wrong.
 */
export function beginService(
  environment: Environment,
  serves: ServiceName,
  note: (text: string) => void,
  signal: AbortSignal,
): OpeningServer | undefined {
  try {
    const { dataDir, logFormat, logLevel } = readConfig(environment, ['dataDir', 'logFormat', 'logLevel'])
    const tell = tellOperator(createLog(logLevel, logFormat), logFormat, note)
    tell(`giving ${serves}: data directory ${path.resolve(dataDir)}`)
    const { kind } = readConfig(environment, ['database']).database
    return kind === 'embedded' ? beginServer(dataDir, tell, signal) : undefined
  } catch {
    return undefined
  }
}

function beginServer(dataDir: string, log: (message: string) => void, signal: AbortSignal): OpeningServer {
  const unused = new AbortController()
  let waits: () => void = () => undefined
  const isWaiting = new Promise<void>((resolve) => {
    waits = resolve
  })
  const opening = openEmbeddedPostgres({ dataDir, log, waits, signal: AbortSignal.any([signal, unused.signal]) })
  // A failure is told to who takes it.
  opening.catch(waits)
  let isTaken = false
  return {
    isWaiting,
    take: () => {
      isTaken = true
      return opening
    },
    [Symbol.asyncDispose]: async () => {
      if (isTaken) return
      unused.abort()
      // What ended the start is told; why a server that nobody needs did not open is not.
      const server = await opening.catch(() => undefined)
      await server?.release()
    },
  }
}
