import { setTimeout as sleep } from 'node:timers/promises'
import type { Command } from 'commander'
import { startWorker, workerFields } from '../../jobs/worker.js'
import { isoDateOf, isoInstantOf } from '../domain/dates.js'
import { isFinished } from '../domain/run.js'
import { nextDue } from '../domain/schedule.js'
import type { Metrics } from '../observability/metrics.js'
import { serveMetrics } from '../observability/metrics-server.js'
import { reportToSystemd } from '../observability/supervisor.js'
import { publicationHealth } from '../publishing/health.js'
import { pruneReleasesWhenIdle } from '../publishing/release/operate/prune-releases.js'
import { createReleaseReader } from '../publishing/release/read/release-reader.js'
import { registerNew } from '../registry/register.js'
import { registryProblems } from '../registry/registry-record.js'
import { onceReachable } from '../runs/outage.js'
import { publicationSchedule } from '../runs/publication.js'
import { createRun, getRun } from '../store/runs/runs.js'
import { neverSeeded, seedDemo } from '../store/seeding/demo.js'
import type { CommandLine } from './command-line.js'
import type { Output } from './output.js'
import { describeRun } from './publish.js'
import { openDelivery } from './wiring/bucket.js'
import { CleanupStack } from './wiring/cleanup-stack.js'
import { openHub } from './wiring/hub.js'
import { toListenError } from './wiring/listen-error.js'
import { openMetrics } from './wiring/metrics.js'
import { findNeeds } from './wiring/needs.js'
import { openPayments, paymentFields } from './wiring/payments.js'
import { openPublication, publicationFields } from './wiring/publication.js'
import { findRegistryStatus, usingRegistry } from './wiring/registry.js'
import type { Runtime } from './wiring/runtime.js'
import { apiFields, openApiRuntime, serveApi } from './wiring/serve-api.js'
import { consoleFields, serveConsole } from './wiring/serve-console.js'

/** `giving start`, `giving api` and `giving worker`. */
export function registerServices(program: Command, { storeAction, environment }: CommandLine): void {
  /** Serves until the signal, under systemd with its knowledge. */
  const serve: Serve = ({ signal, log }) => {
    reportToSystemd(environment, signal, log)
    return untilAborted(signal)
  }
  program
    .command('start')
    .description('run everything: database, API, worker; publish at once, then by schedule')
    .action(
      storeAction([...serverFields, ...workFields], (runtime, output) => start(runtime, output, serve), {
        waits: true,
      }),
    )
  program
    .command('api')
    .description('run the API process only')
    .action(storeAction(serverFields, (runtime, output) => serveOnly(runtime, output, serve), { waits: true }))
  program
    .command('worker')
    .description('run a worker process only')
    .action(
      storeAction([...workFields, 'host', 'metricsPort'], (runtime, output) => workOnly(runtime, output, serve), {
        waits: true,
      }),
    )
}

// All in one has no other process that a proxy could turn to, and somebody may wait for it at a terminal. Three seconds
// are time for a proxy that asks each second, and leave a slow reader enough of the 10 s until the process is down.
const drainSeconds = { start: 0, api: 3 } as const

const serverFields = [...apiFields, ...consoleFields] as const
const workFields = [...workerFields, ...publicationFields, ...paymentFields] as const

type Serve = (runtime: Runtime) => Promise<void>
type WorkRuntime = Runtime<(typeof workFields)[number]>
type ServiceRuntime = Runtime<(typeof serverFields)[number]>

/** Database, demo data, API and worker in one process; returns after the signal and an orderly stop. */
async function start(runtime: WorkRuntime & ServiceRuntime, output: Output, serve: Serve): Promise<number> {
  await using cleanup = new CleanupStack()
  const apiRuntime = openApiRuntime(runtime, cleanup)
  const metrics = openMetrics(apiRuntime)
  const baseUrl = await serveApi(apiRuntime, metrics, drainSeconds.start, cleanup)
  const consoleUrl = await serveConsole(runtime, metrics, cleanup)
  await seedFirstStart(runtime, baseUrl, output)
  // Before the worker starts, so that its first round finds the run.
  const { log, signal, store, clock } = runtime
  const first = await onceReachable(log, signal, () => createRun(store.db, { trigger: 'start', at: clock() }))
  await startWork(runtime, metrics, cleanup)
  announce(runtime, baseUrl, consoleUrl, output)
  await announceFirstRun(runtime, first.id, baseUrl, output)
  await serve(runtime)
  output.note('stopping ...')
  return 0
}

async function serveOnly(runtime: ServiceRuntime, output: Output, serve: Serve): Promise<number> {
  await using cleanup = new CleanupStack()
  const apiRuntime = openApiRuntime(runtime, cleanup)
  const metrics = openMetrics(apiRuntime)
  const baseUrl = await serveApi(apiRuntime, metrics, drainSeconds.api, cleanup)
  output.note(`console on ${await serveConsole(runtime, metrics, cleanup)}`)
  output.note(`listening on ${baseUrl}`)
  await serve(runtime)
  return 0
}

async function workOnly(
  runtime: WorkRuntime & Runtime<'host' | 'metricsPort'>,
  output: Output,
  serve: Serve,
): Promise<number> {
  await using cleanup = new CleanupStack()
  const metrics = openMetrics(runtime)
  // First, so that the metrics of a worker that waits for its clock can be read.
  await serveWorkerMetrics(runtime, metrics, cleanup, output)
  await startWork(runtime, metrics, cleanup)
  output.note(`worker ready; next publication ${nextPublication(runtime)}`)
  await serve(runtime)
  return 0
}

/** Demo data goes only into a store of our own that was never seeded and mirrors nothing. */
async function seedFirstStart(runtime: WorkRuntime, baseUrl: string, output: Output): Promise<void> {
  const { config, store, clock } = runtime
  if (config.database.kind === 'given' || config.upstream || !(await neverSeeded(store.db))) return
  const { projects } = await seedDemo(store, { today: isoDateOf(clock()), currency: config.currency, baseUrl })
  if (projects > 0) output.note(`the store was empty: ${projects} invented demo projects were put in`)
}

// A connection that stalls gives no error; the largest query of a publication may take this long.
const workAnswerMs = 120_000

async function startWork(given: WorkRuntime, metrics: Metrics, cleanup: CleanupStack): Promise<void> {
  const runtime = { ...given, store: given.store.answeringWithin(workAnswerMs) }
  const { config, secrets, databaseUrl, store, log, clock, signal, feedsDir } = runtime
  const publication = await onceReachable(log, signal, () => openPublication(runtime, cleanup))
  const { keepReleases } = config.publish
  const payments = await openPayments(runtime)
  const releases = createReleaseReader(feedsDir)
  const deliver = await onceReachable(log, signal, () => openDelivery(runtime))
  const tellHub = openHub(runtime)
  const worker = await startWorker({
    config,
    secrets,
    databaseUrl,
    store,
    publication,
    log,
    clock,
    payments,
    registerNew: async (stopped) =>
      (await releases.live())
        ? await usingRegistry(runtime, { dryRun: false }, (deps) =>
            registerNew({ ...deps, db: store.db, clock }, stopped),
          )
        : 'nothing published yet',
    ...(deliver && { deliver }),
    ...(tellHub && { tellHub }),
    needs: async () => {
      const { needs, live } = await publicationHealth({ store, releases, clock })
      const registry = config.registry?.sync
        ? registryProblems(await findRegistryStatus(store, config.registry, live))
        : []
      return await findNeeds(store, { publication: needs, registry }, payments, config.upstream !== undefined)
    },
    pruneFiles: () => pruneReleasesWhenIdle({ store, feedsDir, keepReleases, clock }),
    onStageSeconds: (stage, seconds) => metrics.observeStage(stage, seconds),
    signal,
  })
  cleanup.defer(() => worker.close())
  metrics.watchQueue(() => worker.queueCounts())
}

/** A worker process has no other HTTP server; the API process serves its metrics on its own port. */
async function serveWorkerMetrics(
  { config }: Runtime<'host' | 'metricsPort'>,
  metrics: Metrics,
  cleanup: CleanupStack,
  output: Output,
): Promise<void> {
  if (config.metricsPort === undefined) return
  try {
    const server = await serveMetrics(metrics, config.host, config.metricsPort)
    cleanup.defer(() => server.close())
    output.note(`metrics on http://${config.host}:${server.port}/metrics`)
  } catch (error) {
    throw toListenError(error, config.host, config.metricsPort, 'METRICS_PORT or HOST')
  }
}

function nextPublication({ config, clock }: Runtime<'publish'>): string {
  return isoInstantOf(nextDue(publicationSchedule(config), clock()))
}

function announce(runtime: Runtime<'publish' | 'queue'>, baseUrl: string, consoleUrl: string, output: Output): void {
  const { config, embedded } = runtime
  const database = embedded ? `our own PostgreSQL in ${embedded.clusterDir}` : 'database given by DATABASE_URL'
  const rows = [
    ['index page', `${baseUrl}/`],
    ['console', `${consoleUrl}/`],
    ['IATI activities', `curl -s ${baseUrl}/iati/activities.xml | head -c 2000`],
    [
      'make an API key',
      "echo 'seven quiet rivers run' | npm run --silent giving -- users create --email you@example.org --password-stdin",
    ],
    [
      'data directory',
      `${config.dataDir}; ${database}; queue in ${config.queue.engine === 'redis' ? 'Redis' : 'PostgreSQL'}`,
    ],
    ['next publication', `${nextPublication(runtime)} (${config.publish.schedule}, ${config.publish.timezone})`],
  ] as const
  for (const [what, where] of rows) output.line(`${`${what}:`.padEnd(20)} ${where}`)
}

const pollMs = 250

async function announceFirstRun(
  { store, log, signal }: Runtime,
  runId: number,
  baseUrl: string,
  output: Output,
): Promise<void> {
  if (signal.aborted) return
  output.note('publishing ...')
  while (!signal.aborted) {
    const run = await getRun(store.db, runId).catch((error: unknown) => {
      log.warn({ err: error }, 'the state of the first publication cannot be read at the moment')
      return undefined
    })
    if (run && isFinished(run)) {
      output.note(describeRun(run))
      if (run.state === 'published' || run.state === 'unchanged') output.note(`ready: ${baseUrl}/`)
      return
    }
    await sleep(pollMs, undefined, { signal }).catch(() => undefined)
  }
}

/** Resolves when the signal is aborted. */
function untilAborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })
}
