import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { createPasswordHashing } from '../../accounts/passwords.js'
import { ofExtensions } from '../../extensions.js'
import { closeApi } from '../../http/api/close-api.js'
import { createApi } from '../../http/api/create-api.js'
import type { ApiDeps, ApiLimits } from '../../http/api/deps.js'
import { connectionsWithinDescriptors } from '../../http/api/descriptors.js'
import { unlessReadOnly } from '../../platform/database/connection.js'
import { recordFact } from '../../platform/database/facts.js'
import type { Metrics } from '../../platform/observability/metrics.js'
import { createReleaseReader } from '../../release/read/release-reader.js'
import { nextPublication } from '../../release/run.js'
import { onceReachable } from '../../work/outage.js'
import { listRuns } from '../../work/sql/runs.js'
import { explainForPages, factsFields } from './assumed-facts.js'
import { readBrand } from './brand.js'
import { baseUrlFields, listeningUrl, readCertificate, toListenError } from './listening.js'
import { logAccount, openPayments, paymentFields } from './payments.js'
import { openReplicas } from './replicas.js'
import { openPool, type Runtime } from './runtime.js'

export const apiFields = [
  ...baseUrlFields,
  ...paymentFields,
  ...factsFields,
  'readMaxLagSeconds',
  'trustProxy',
  'allowPlainHttp',
  'rateLimitPerMinute',
  'rateLimitPerAddress',
  'downloadMegabytesPerSecond',
  'accelLocation',
  'maxConnections',
  'maxConnectionsPerAddress',
  'metricsOnApi',
  'portal',
  'projectLinkTemplate',
  'websubHub',
  'brand',
  'tokenTimeoutHours',
  'tokenIdleMinutes',
  'registration',
  'mail',
  'shutdownSeconds',
  'shutdownDrainSeconds',
] as const

/** A runtime whose store is used as the API does: statements have time limits, searches have their own connections. */
export type ApiRuntime = Runtime & Pick<ApiDeps, 'reads' | 'searches' | 'replicas'>

// The database ends a statement after this time. One second later this process gives up a connection that has not answered.
const statementMs = 10_000
const searchMs = 3_000
const stalledMs = 1_000

// How long a slow reader may hold up a shutdown.
const maxGraceMs = 6_000

// Far above the delay that publishing in the same process causes: only an overload reaches it.
const eventLoopDelayMs = 1_000

/** Opens the API's connections to the database. */
export function openApiRuntime(runtime: Runtime): ApiRuntime {
  const { databasePoolSize } = runtime.config
  const searchers = Math.max(2, Math.floor(databasePoolSize / 3))
  const open = (databaseUrl: string, max: number, statementTimeoutMs: number) => {
    const store = openPool({ ...runtime, databaseUrl }, { max, statementTimeoutMs })
    runtime.defer(() => store.close())
    return store.answeringWithin(statementTimeoutMs + stalledMs)
  }
  const both = (url: string) => [open(url, databasePoolSize, statementMs), open(url, searchers, searchMs)] as const
  const [store, searches] = both(runtime.databaseUrl)
  const replicas = openReplicas(runtime, store, both)
  if (!replicas) return { ...runtime, store, reads: store, searches, replicas }
  runtime.defer(() => replicas.close())
  replicas.watch()
  return {
    ...{ ...runtime, store, replicas },
    reads: store.reading(() => replicas.pick(0)),
    searches: searches.reading(() => replicas.pick(1)),
  }
}

/** Where the API is reached: from this machine, and in what it publishes. */
export type ServedAddresses = { readonly listening: string; readonly baseUrl: string }

/**
 * Listens and returns its addresses. It begins to close as soon as the signal is aborted, while a worker of this
 * process still finishes its jobs, so that both are down in time; first it drains, for `drainSeconds` unless configured
 * otherwise. Throws `configuration-invalid` when the port is taken.
 */
export async function serveApi(runtime: ApiRuntime, metrics: Metrics, drainSeconds: number): Promise<ServedAddresses> {
  const { config, log, clock, signal, store, reads, searches, replicas } = runtime
  let baseUrl = config.baseUrl ?? listeningUrl(config, config.port)
  const payments = await openPayments(runtime)
  logAccount(payments, runtime)
  const api = await createApi(ofExtensions('addRoutes'), {
    store,
    reads,
    searches,
    replicas,
    log,
    clock,
    releases: createReleaseReader(runtime.feedsDir),
    feedsDir: runtime.feedsDir,
    explain: explainForPages({ ...runtime, store: reads }),
    listRuns: (limit) => listRuns(store.db, limit),
    nextRun: () => nextPublication({ store, clock }),
    passwords: createPasswordHashing(),
    payments,
    metrics,
    openPortal: config.portal ? ofExtensions('openPortal')[0] : undefined,
    stopping: signal,
    config: {
      baseUrl: () => baseUrl,
      publisherName: config.reportingOrg.name,
      brand: await readBrand(config.brand),
      assumed: config.assumed,
      trustProxy: config.trustProxy,
      tls: await readCertificate(config),
      allowPlainHttp: config.allowPlainHttp,
      limits: limitsOf(runtime),
      proxyFiles:
        config.accelLocation === undefined ? undefined : { location: config.accelLocation, folder: runtime.feedsDir },
      registration: config.registration,
      templates: { language: config.language, operatorsDir: config.mail?.templatesDir },
      sendsMail: config.mail !== undefined,
      metricsOnApi: config.metricsOnApi,
      projectLinkTemplate: config.projectLinkTemplate,
      contact: config.contact,
      websubHub: config.websubHub,
      tokenTimeoutSeconds: config.tokenTimeoutHours * 3600,
      tokenIdleSeconds: config.tokenIdleMinutes && config.tokenIdleMinutes * 60,
    },
  })
  let closing: Promise<void> | undefined
  const close = () => {
    closing ??= closeApi(api, {
      drained: sleep((config.shutdownDrainSeconds ?? drainSeconds) * 1000),
      graceMs: Math.min(config.shutdownSeconds * 1000, maxGraceMs),
    })
    return closing
  }
  runtime.defer(close)
  signal.addEventListener('abort', () => void close().catch(() => undefined), { once: true })
  await runtime.schema
  // The API starts without this answer, which needs the database.
  payments.closedBecause?.().then(
    (closed) => closed !== undefined && log.warn(`no donations are taken: ${closed}`),
    () => undefined,
  )
  try {
    await api.listen({ host: config.host, port: config.port })
  } catch (error) {
    throw toListenError(error, config.host, config.port, 'PORT or HOST')
  }
  const { port } = api.server.address() as AddressInfo
  const listening = listeningUrl(config, port)
  if (config.baseUrl === undefined) {
    baseUrl = listening
    await onceReachable(log, signal, () => unlessReadOnly(() => recordFact(store.db, 'base-url', listening, clock())))
  }
  return { listening, baseUrl }
}

function limitsOf({ config, log }: Runtime): ApiLimits {
  const connections = connectionsWithinDescriptors(config.maxConnections)
  if (connections < config.maxConnections) {
    log.warn({ connections }, 'fewer connections than MAX_CONNECTIONS: the limit of open files (ulimit -n) is too low')
  }
  return {
    requestsPerKey: config.rateLimitPerMinute,
    requestsPerAddress: config.rateLimitPerAddress,
    downloadBytesPerSecond: config.downloadMegabytesPerSecond * 1_000_000,
    eventLoopDelayMs,
    connections,
    connectionsPerAddress: config.maxConnectionsPerAddress,
  }
}
