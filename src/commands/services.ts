import { readFile } from 'node:fs/promises'
import type { AddressInfo } from 'node:net'
import { createSecureContext } from 'node:tls'
import { nextRun } from '../../jobs/schedules.js'
import { startWorker } from '../../jobs/worker.js'
import { closeApi } from '../api/close-api.js'
import { createApi } from '../api/create-api.js'
import type { ApiLimits } from '../api/deps.js'
import { connectionsWithinDescriptors } from '../api/descriptors.js'
import { createPasswordHashing } from '../api/passwords.js'
import type { Config, Environment } from '../config/config.js'
import { isoDateOf, isoInstantOf } from '../domain/dates.js'
import { ServiceError } from '../domain/errors.js'
import type { Metrics } from '../observability/metrics.js'
import { serveMetrics } from '../observability/metrics-server.js'
import { createBulkReader } from '../publishing/bulk/bulk-reader.js'
import { keepHouse } from '../publishing/housekeeping.js'
import { createReleaseReader } from '../publishing/release/releases.js'
import { recordFact } from '../store/database/facts.js'
import { createRun, getRun, isFinished, listRuns } from '../store/runs/runs.js'
import { neverSeeded, seedDemo } from '../store/seeding/seed.js'
import { openMetrics } from './metrics.js'
import type { Output } from './output.js'
import { Owned } from './owned.js'
import { openPayments } from './payments.js'
import { describeRun } from './publish.js'
import { openPublication } from './publishing.js'
import { listeningUrl, openRuntime, type Runtime } from './runtime.js'

/** `giving start`: database, demo data, API and worker in one process; returns after `signal` and an orderly stop. */
export async function startCommand(environment: Environment, signal: AbortSignal, output: Output): Promise<number> {
  await using runtime = await openRuntime(environment)
  const owned = new Owned()
  try {
    const metrics = openMetrics(runtime)
    const baseUrl = await serveApi(runtime, metrics, signal, owned)
    await seedFirstStart(runtime, baseUrl, output)
    // Before the worker starts, so that its first round finds the run.
    const first = await createRun(runtime.store.db, { trigger: 'start', at: runtime.clock() })
    await work(runtime, metrics, owned)
    announce(runtime, baseUrl, output)
    if (!signal.aborted) await announceFirstRun(runtime, first.id, baseUrl, signal, output)
    await aborted(signal)
    output.note('stopping ...')
  } finally {
    await owned.dispose()
  }
  return 0
}

/** `giving api`: the API and the published files only. */
export async function apiCommand(environment: Environment, signal: AbortSignal, output: Output): Promise<number> {
  await using runtime = await openRuntime(environment)
  const owned = new Owned()
  try {
    output.note(`listening on ${await serveApi(runtime, openMetrics(runtime), signal, owned)}`)
    await aborted(signal)
  } finally {
    await owned.dispose()
  }
  return 0
}

/** `giving worker`: schedules, renders and publishes. */
export async function workerCommand(environment: Environment, signal: AbortSignal, output: Output): Promise<number> {
  await using runtime = await openRuntime(environment)
  const owned = new Owned()
  try {
    const metrics = openMetrics(runtime)
    await work(runtime, metrics, owned)
    await serveWorkerMetrics(runtime, metrics, owned, output)
    output.note(`worker ready; next publication ${next(runtime)}`)
    await aborted(signal)
  } finally {
    await owned.dispose()
  }
  return 0
}

/**
 * Listens and returns the public address. When `signal` is aborted it closes at once, while a worker of this process is
 * still finishing its jobs: both together must be down in time. Throws `configuration-invalid` when the port is taken.
 */
async function serveApi(runtime: Runtime, metrics: Metrics, signal: AbortSignal, owned: Owned): Promise<string> {
  const { config, log, clock } = runtime
  const store = runtime.store.answeringWithin(apiAnswerMs)
  let baseUrl = config.baseUrl ?? listeningUrl(config, config.port)
  const api = await createApi({
    store,
    log,
    clock,
    releases: createReleaseReader(runtime.feedsDir),
    bulk: createBulkReader(runtime.feedsDir),
    listRuns: (limit) => listRuns(store.db, limit),
    passwords: createPasswordHashing(),
    payments: openPayments({ ...runtime, store }),
    metrics,
    config: {
      baseUrl: () => baseUrl,
      publisherName: config.reportingOrg.name,
      trustProxy: config.trustProxy,
      tls: await readCertificate(config),
      limits: limitsOf(runtime),
      tokenTimeoutSeconds: config.tokenTimeoutHours * 3600,
    },
  })
  let closing: Promise<void> | undefined
  const close = () => {
    closing ??= closeApi(api, Math.min(config.shutdownSeconds * 1000, mostApiGraceMs))
    return closing
  }
  owned.add(close)
  signal.addEventListener('abort', () => void close().catch(() => undefined), { once: true })
  try {
    await api.listen({ host: config.host, port: config.port })
  } catch (error) {
    throw toListenError(error, config.host, config.port)
  }
  const { port } = api.server.address() as AddressInfo
  if (config.baseUrl === undefined) {
    baseUrl = listeningUrl(config, port)
    await recordFact(store.db, 'base-url', baseUrl, clock())
  }
  return baseUrl
}

// A connection that stalls never says so: a client of the API is told soon, a publication's largest query may take long.
const apiAnswerMs = 10_000
const workerAnswerMs = 120_000

// How long a slow reader may hold up a shutdown.
const mostApiGraceMs = 6_000

// Far above what publishing in the same process costs: only an overload lags this much.
const eventLoopDelayMs = 1_000

function limitsOf({ config, log }: Pick<Runtime, 'config' | 'log'>): ApiLimits {
  const connections = connectionsWithinDescriptors(config.maxConnections)
  if (connections < config.maxConnections) {
    log.warn({ connections }, 'fewer connections than MAX_CONNECTIONS: the limit of open files (ulimit -n) is too low')
  }
  return {
    requestsPerMinute: config.rateLimitPerMinute,
    eventLoopDelayMs,
    connections,
    connectionsPerAddress: config.maxConnectionsPerAddress,
  }
}

/** Certificate and key, read once at the start. Throws `configuration-invalid` when one cannot be read. */
async function readCertificate({ tls }: Pick<Config, 'tls'>): Promise<{ cert: Buffer; key: Buffer } | undefined> {
  if (tls === undefined) return undefined
  try {
    const [cert, key] = await Promise.all([readFile(tls.certFile), readFile(tls.keyFile)])
    createSecureContext({ cert, key })
    return { cert, key }
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause)
    const message = `TLS_CERT_FILE and TLS_KEY_FILE: expected a certificate and its key in PEM files: ${reason}`
    throw new ServiceError('configuration-invalid', message, { cause })
  }
}

const listenReasons: Readonly<Record<string, string>> = {
  EADDRINUSE: 'another program is listening there',
  EACCES: 'this user may not listen there',
  EADDRNOTAVAIL: 'this machine has no such address',
  ENOTFOUND: 'the host name is unknown',
}

function toListenError(error: unknown, host: string, port: number): unknown {
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  const reason = listenReasons[code]
  if (!reason) return error
  return new ServiceError('configuration-invalid', `cannot listen on ${host}:${port}: ${reason}; set PORT or HOST`, {
    cause: error,
  })
}

/** Demo data goes only into our own, never-seeded store that mirrors nothing (architecture.md 2.7). */
async function seedFirstStart(runtime: Runtime, baseUrl: string, output: Output): Promise<void> {
  const { config, store, clock } = runtime
  if (config.database.kind === 'given' || config.upstream || !(await neverSeeded(store.db))) return
  const { projects } = await seedDemo(store, { today: isoDateOf(clock()), currency: config.currency, baseUrl })
  if (projects > 0) output.note(`the store was empty: ${projects} invented demo projects were put in`)
}

async function work(given: Runtime, metrics: Metrics, owned: Owned): Promise<void> {
  const runtime = { ...given, store: given.store.answeringWithin(workerAnswerMs) }
  const { config, secrets, databaseUrl, store, log, clock, feedsDir } = runtime
  const { publication, dispose } = await openPublication(runtime)
  owned.add(dispose)
  const { keepReleases } = config.publish
  const worker = await startWorker({
    config,
    secrets,
    databaseUrl,
    store,
    publication,
    log,
    clock,
    payments: openPayments(runtime),
    housekeeping: () => keepHouse({ store, feedsDir, keepReleases, clock }),
    onStage: (stage, seconds) => metrics.observeStage(stage, seconds),
  })
  owned.add(() => worker.close())
  metrics.watchQueue(() => worker.queueCounts())
}

/** A worker process has no other HTTP; the API process has its metrics on its own port. */
async function serveWorkerMetrics({ config }: Runtime, metrics: Metrics, owned: Owned, output: Output): Promise<void> {
  if (config.metricsPort === undefined) return
  try {
    const server = await serveMetrics(metrics, config.host, config.metricsPort)
    owned.add(() => server.close())
    output.note(`metrics on http://${config.host}:${server.port}/metrics`)
  } catch (error) {
    throw toListenError(error, config.host, config.metricsPort)
  }
}

function next({ config, clock }: Runtime): string {
  return isoInstantOf(nextRun(config.publish, clock()))
}

function announce(runtime: Runtime, baseUrl: string, output: Output): void {
  const { config, feedsDir, embedded } = runtime
  const rows = [
    ['index page', `${baseUrl}/`],
    ['IATI activities', `${baseUrl}/iati/activities.xml`],
    ['IATI organisations', `${baseUrl}/iati/organisations.xml`],
    ['progress reports', `${baseUrl}/feeds/reports.atom`],
    ['manifest', `${baseUrl}/feeds/manifest.json`],
    ['try it', `curl -s ${baseUrl}/iati/activities.xml | head -c 2000`],
    [
      'make an API key',
      "echo 'a long password' | npm run --silent giving -- users create --email you@example.org --password-stdin",
    ],
    ['published files', feedsDir],
    ['database', embedded ? `our own PostgreSQL, data in ${embedded.clusterDir}` : 'the one DATABASE_URL names'],
    ['data directory', config.dataDir],
    ['queue', config.queue.engine === 'redis' ? 'Redis' : 'PostgreSQL'],
    ['next publication', `${next(runtime)} (${config.publish.schedule}, ${config.publish.timezone})`],
  ] as const
  for (const [what, where] of rows) output.line(`${`${what}:`.padEnd(20)} ${where}`)
}

const pollMs = 250

async function announceFirstRun(
  runtime: Runtime,
  runId: number,
  baseUrl: string,
  signal: AbortSignal,
  output: Output,
): Promise<void> {
  output.note('publishing ...')
  while (!signal.aborted) {
    const run = await getRun(runtime.store.db, runId).catch((error: unknown) => {
      runtime.log.warn({ err: error }, 'the first publication cannot be watched at the moment')
      return undefined
    })
    if (run && isFinished(run)) {
      output.note(describeRun(run))
      if (run.state === 'published' || run.state === 'unchanged') output.note(`ready: ${baseUrl}/`)
      return
    }
    await Promise.race([aborted(signal), new Promise((resolve) => setTimeout(resolve, pollMs).unref())])
  }
}

/** Resolves when the signal is aborted. */
function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })
}
