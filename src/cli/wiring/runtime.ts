import { hostname } from 'node:os'
import path from 'node:path'
import type { Clock } from '../../kernel/dates.js'
import { type Config, type ConfigField, type Environment, readConfig } from '../../platform/config/config.js'
import { processNumber, unreadVariables } from '../../platform/config/environment.js'
import type { PoolOptions } from '../../platform/database/connection.js'
import { Fence } from '../../platform/database/fence.js'
import { migrate } from '../../platform/database/migrate.js'
import { openStore, type Store } from '../../platform/database/store.js'
import { openEmbeddedPostgres } from '../../platform/embedded-postgres/embedded-postgres.js'
import { keepServerRunning } from '../../platform/embedded-postgres/server-keeper.js'
import { createLog, type Log, logWarnings, tellOperator } from '../../platform/observability/log.js'
import { onceReachable, unlessStopped } from '../../work/outage.js'
import { CleanupStack } from './cleanup-stack.js'
import type { OpeningServer, ServiceName } from './first-steps.js'

// A process learns within this time what the others have seen of the database.
const refreshMs = 1_000

/** The fields of the configuration that every command with a database uses. */
const databaseFields = ['dataDir', 'database', 'databasePoolSize', 'logLevel', 'logFormat'] as const

/** What a command with a database works with. */
export type Runtime = {
  readonly config: Config
  readonly log: Log
  /** Tells the operator of a service what it does, as a line for people or of the log; a note of any other command. */
  readonly tell: (text: string) => void
  readonly clock: Clock
  /** Aborted when the process is asked to stop. */
  readonly signal: AbortSignal
  readonly store: Store
  /** Resolves when the schema is up to date. Only who asked for `migrate: 'meanwhile'` waits for it. */
  readonly schema: Promise<void>
  /** Address of the given or the embedded database. */
  readonly databaseUrl: string
  /** Adds what closes the thing opened last: all is closed with the runtime, in reverse order. */
  readonly defer: CleanupStack['defer']
  /** What its connections are called. */
  readonly applicationName: string
  /** Keeps writes from an older primary; undefined for a server of our own, which has no standby. */
  readonly fence: Fence | undefined
  /** Folder of the published files. */
  readonly feedsDir: string
  /** The embedded server that this process holds a lease of; undefined when the database was given. */
  readonly embedded: { readonly clusterDir: string; readonly joined: boolean } | undefined
}

/** How a command opens the database. */
export type RuntimeOptions = {
  /** Brings the schema up to date; the default. `meanwhile`: the caller makes other things ready until `schema` resolves. */
  readonly migrate?: boolean | 'meanwhile'
  /** Waits for a given database that cannot be reached, until the signal. */
  readonly waits?: boolean
  /** What the process is for as long as it runs: `giving doctor` counts those that have connections. */
  readonly serves?: ServiceName
  /** Writes a line about the work; without it such lines are not written. */
  readonly note?: (text: string) => void
  /** The server of our own, where it opens already. */
  readonly server?: OpeningServer | undefined
}

/**
 * Reads the configuration, starts or joins the database, and brings its schema up to date. Disposing closes all. Throws
 * `configuration-invalid`, `database-unavailable`, `database-incompatible` or `aborted`.
 */
export async function openRuntime(
  environment: Environment,
  needed: readonly ConfigField[],
  {
    signal,
    migrate: migrates = true,
    waits = false,
    serves,
    note = () => undefined,
    server,
  }: RuntimeOptions & { readonly signal: AbortSignal },
): Promise<Runtime & AsyncDisposable> {
  const config = readConfig(environment, [...databaseFields, ...needed])
  const number = processNumber(environment)
  const log = createLog(config.logLevel, config.logFormat, number)
  logWarnings(log)
  // One of several processes leaves it to the supervisor to tell the operator.
  const isTold = serves !== undefined && number === undefined
  const tell = isTold ? tellOperator(log, config.logFormat, note) : note
  if (isTold) for (const problem of unreadVariables(environment)) log.warn(problem)
  const cleanup = new CleanupStack()
  const clock = () => new Date()
  const feedsDir = path.join(config.dataDir, 'feeds')
  const openServer = () =>
    openEmbeddedPostgres({
      dataDir: config.dataDir,
      log: (message) => (isTold ? tell(message) : log.debug({ message }, 'database')),
      ...(waits && { signal }),
    })
  try {
    const embedded =
      config.secrets.databaseUrl === undefined
        ? await openEmbedded(config, log, cleanup, server?.take() ?? openServer())
        : undefined
    const databaseUrl = config.secrets.databaseUrl ?? embedded?.url ?? ''
    const fence = embedded ? undefined : new Fence(feedsDir)
    if (fence && waits) {
      const refreshing = setInterval(() => fence.refresh(), refreshMs).unref()
      cleanup.defer(async () => clearInterval(refreshing))
    }
    const applicationName = nameOfProcess(serves)
    const store = openPool({ config, databaseUrl, fence, log, applicationName }, { max: config.databasePoolSize })
    cleanup.defer(() => store.close())
    const bringUpToDate = async () => {
      const migrating = async () => {
        await using direct =
          config.secrets.databaseDirectUrl === undefined ? null : openDirect(config.secrets.databaseDirectUrl, fence)
        const blocked = (migration: string) =>
          log.warn({ migration }, 'waits for a table that is in use, and is tried again')
        return await migrate(direct ?? store, blocked)
      }
      const untilStopped = () => (embedded ? unlessStopped(signal, migrating) : onceReachable(log, signal, migrating))
      const { applied } = await (waits ? untilStopped() : migrating())
      if (isTold) {
        tell(applied.length > 0 ? `schema: brought up to date by ${applied.length} migrations` : 'schema: up to date')
      }
      if (applied.length === 0) return
      log.info({ applied }, 'database schema brought up to date')
      // An older version published from this store and did not record the publisher.
      const { recordPublisherOfRelease } = await import('../../release/operate/publisher-of-store.js')
      await recordPublisherOfRelease({ store, feedsDir, clock }).catch((err: unknown) =>
        log.warn({ err }, 'who published the live release is not known: the next release records it'),
      )
    }
    const schema = migrates ? bringUpToDate() : Promise.resolve()
    if (migrates !== 'meanwhile') await schema
    return {
      config,
      log,
      tell,
      clock,
      signal,
      store,
      schema,
      databaseUrl,
      applicationName,
      fence,
      feedsDir,
      embedded,
      defer: (close) => cleanup.defer(close),
      [Symbol.asyncDispose]: () => cleanup[Symbol.asyncDispose](),
    }
  } catch (error) {
    await cleanup[Symbol.asyncDispose]()
    throw error
  }
}

/** Opens connections to the database of a runtime; the caller closes them. */
export function openPool(
  {
    config,
    databaseUrl,
    applicationName,
    fence,
    log,
  }: Pick<Runtime, 'config' | 'databaseUrl' | 'applicationName' | 'fence' | 'log'>,
  options: Pick<PoolOptions, 'max' | 'statementTimeoutMs'>,
): Store {
  const { pooling } = config.database
  return openStore({ url: databaseUrl, applicationName, pooling, fence, ...options }, (error) =>
    log.warn({ error: error.message }, 'an idle database connection broke'),
  )
}

/** `giving`, and of a service also which process it is, in the 63 bytes that the server keeps. */
function nameOfProcess(serves: ServiceName | undefined): string {
  return serves === undefined ? 'giving' : `giving ${serves} ${process.pid}@${hostname()}`.slice(0, 63)
}

/** A connection that does not go through the pooler. */
function openDirect(url: string, fence: Fence | undefined): Store {
  return openStore({ url, max: 1, applicationName: 'giving migrate', fence })
}

/** Keeps the embedded server until the end, and starts it again when it was killed. */
async function openEmbedded(
  { dataDir }: Config,
  log: Log,
  cleanup: CleanupStack,
  opening: ReturnType<typeof openEmbeddedPostgres>,
) {
  const embedded = await opening
  cleanup.defer(() => embedded.release())
  const keeper = keepServerRunning({
    dataDir,
    clusterDir: embedded.clusterDir,
    onRestart: () => log.warn('our own PostgreSQL had stopped and was started again'),
    onFailure: (err) => log.error({ err }, 'our own PostgreSQL has stopped and cannot be started again'),
  })
  cleanup.defer(() => keeper.stop())
  return embedded
}
