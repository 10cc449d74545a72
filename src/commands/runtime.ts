import path from 'node:path'
import { type Config, type Environment, readConfig, type Secrets } from '../config/config.js'
import type { Clock } from '../domain/dates.js'
import { ServiceError } from '../domain/errors.js'
import { openEmbeddedPostgres } from '../embedded-postgres/index.js'
import { keepServerRunning } from '../embedded-postgres/keeper.js'
import type { MappingConfig } from '../feeds/iati/mapping.js'
import { createLog, type Log } from '../observability/log.js'
import { findFact } from '../store/database/facts.js'
import { migrate } from '../store/schema/migrate.js'
import { openStore, type Store } from '../store/store.js'
import { Owned } from './owned.js'

/** What every command that touches the store works with; disposing it gives everything back, in reverse order. */
export type Runtime = AsyncDisposable & {
  readonly config: Config
  readonly secrets: Secrets
  readonly log: Log
  readonly clock: Clock
  readonly store: Store
  /** Address of the given or the embedded database. */
  readonly databaseUrl: string
  /** Folder of the published files. */
  readonly feedsDir: string
  /** The embedded server that this process holds a lease of, if it is not a given one. */
  readonly embedded: { readonly clusterDir: string; readonly joined: boolean } | undefined
}

/**
 * Reads the configuration, starts or joins the database, and brings its schema up to date. Throws
 * `configuration-invalid`, `database-unavailable` or `database-incompatible`.
 */
export async function openRuntime(
  environment: Environment,
  options: { readonly migrate: boolean; readonly log?: Log } = { migrate: true },
): Promise<Runtime> {
  const { config, secrets } = readConfig(environment)
  const log = options.log ?? createLog(config.logLevel)
  const owned = new Owned()
  try {
    const embedded =
      secrets.databaseUrl === undefined
        ? await openEmbeddedPostgres({ dataDir: config.dataDir, log: (message) => log.debug({ message }, 'database') })
        : undefined
    if (embedded) {
      owned.add(() => embedded.release())
      const keeper = keepServerRunning({
        dataDir: config.dataDir,
        clusterDir: embedded.clusterDir,
        onRestart: () => log.warn('our own PostgreSQL was gone, it has been started again'),
        onFailure: (err) => log.error({ err }, 'our own PostgreSQL is gone and cannot be started'),
      })
      owned.add(() => keeper.stop())
    }
    const databaseUrl = secrets.databaseUrl ?? embedded?.url ?? ''
    const store = openStore({ url: databaseUrl, max: config.databasePoolSize, applicationName: 'giving' }, (error) =>
      log.warn({ error: error.message }, 'an idle database connection broke'),
    )
    owned.add(() => store.close())
    if (options.migrate) {
      const { applied } = await migrate(store)
      if (applied.length > 0) log.info({ applied }, 'database schema brought up to date')
    }
    return {
      config,
      secrets,
      log,
      clock: () => new Date(),
      store,
      databaseUrl,
      feedsDir: path.join(config.dataDir, 'feeds'),
      embedded,
      [Symbol.asyncDispose]: () => owned.dispose(),
    }
  } catch (error) {
    await owned.dispose()
    throw error
  }
}

/**
 * The publisher of demo data: the shape of a real identifier with a number that is never given out. What is published
 * under it goes away with `reset-demo`.
 */
export const demoReportingOrgRef = 'US-EIN-000000000'

/** The public address: configured, or the one the API process last answered at, or the one it will answer at. */
export async function resolveBaseUrl({ config, store }: Pick<Runtime, 'config' | 'store'>): Promise<string> {
  if (config.baseUrl !== undefined) return config.baseUrl
  return (await findFact(store.db, 'base-url')) ?? listeningUrl(config, config.port)
}

/** How a person reaches a server that listens on this host and port. */
export function listeningUrl({ host, tls }: Pick<Config, 'host' | 'tls'>, port: number): string {
  const reachable = host === '0.0.0.0' || host === '::' ? 'localhost' : host
  return `${tls === undefined ? 'http' : 'https'}://${reachable.includes(':') ? `[${reachable}]` : reachable}:${port}`
}

/**
 * What the mapping reads. Throws `configuration-invalid` when REPORTING_ORG_REF is missing and the store is not our own
 * embedded one: identifiers are permanent, so a production store never publishes under the demo publisher.
 */
export async function resolveMapping(runtime: Pick<Runtime, 'config' | 'store' | 'log'>): Promise<MappingConfig> {
  const { config, store, log } = runtime
  const { ref, name, type } = config.reportingOrg
  if (ref === undefined) {
    const demo = !['removed', undefined].includes(await findFact(store.db, 'demo-seeded'))
    if (config.database.kind === 'given' && !demo) {
      const message = 'REPORTING_ORG_REF is not set: expected the IATI identifier of the publisher, got nothing'
      throw new ServiceError('configuration-invalid', message, {
        problems: [{ field: 'REPORTING_ORG_REF', expected: 'the IATI identifier of the publisher' }],
      })
    }
    if (!demo) log.warn('REPORTING_ORG_REF is not set: publishing under the demo publisher, only fit for a trial')
  }
  return {
    reportingOrg: { ref: ref ?? demoReportingOrgRef, name, type },
    currency: config.currency,
    language: config.language,
    baseUrl: await resolveBaseUrl(runtime),
  }
}
