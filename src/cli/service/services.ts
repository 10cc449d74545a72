import { setTimeout as sleep } from 'node:timers/promises'
import { neverSeeded, seedDemo } from '../../demo/sql/demo.js'
import { isoDateOf } from '../../kernel/dates.js'
import { isDemoPublisher } from '../../kernel/demo-publisher.js'
import { onceReachable } from '../../work/outage.js'
import { isFinished } from '../../work/run.js'
import { createRun, getRun } from '../../work/sql/runs.js'
import type { CommandLine } from '../command-line.js'
import { watchFromApi } from '../wiring/api-alarms.js'
import { listeningUrl } from '../wiring/listening.js'
import { openMetrics } from '../wiring/metrics.js'
import { nextByConfiguration, openWork, workFields } from '../wiring/open-work.js'
import { boundApiHeap, serviceGrowthPercent, tuneWorker, untilStopped } from '../wiring/process.js'
import { describeRun } from '../wiring/runs.js'
import type { Runtime } from '../wiring/runtime.js'
import { openApiRuntime, type ServedAddresses, serveApi } from '../wiring/serve-api.js'
import { serveExtensions, serverFields } from '../wiring/servers.js'
import { keepFollowing } from '../wiring/shared-folders.js'

// `giving start` does not wait: there is no other process to which a proxy could send requests. A proxy that asks each second
// notices within 3 s that this API stops, and a slow reader keeps most of the 10 s until the process ends.
const drainSeconds = { start: 0, api: 3 } as const

/** The action of `giving start`. */
export const startAction = ({ storeAction, environment }: CommandLine) =>
  storeAction(
    [...serverFields, ...workFields],
    (runtime) => start(runtime, (serving) => untilStopped(environment, serving)),
    { waits: true, serves: 'start', migrate: 'meanwhile' },
  )

/** The action of `giving api`. */
export const apiAction = ({ storeAction, environment }: CommandLine) =>
  storeAction(serverFields, (runtime) => serveOnly(runtime, (serving) => untilStopped(environment, serving)), {
    ...{ waits: true, serves: 'api' },
  })

type Serve = (runtime: Runtime) => Promise<void>

/** Database, demo data, API and worker in one process; returns after the signal and an orderly stop. */
async function start(runtime: Runtime, serve: Serve): Promise<number> {
  tuneWorker(serviceGrowthPercent)
  const { log, signal, store, clock } = runtime
  const serving = serveAll(runtime, drainSeconds.start)
  // PostgreSQL works on the schema and the demo data while this process makes the API and the worker.
  const seeding = runtime.schema.then(() => onceReachable(log, signal, () => seedFirstStart(runtime, serving)))
  // A start that cannot listen leaves no run.
  const entering = Promise.all([seeding, serving]).then(() =>
    onceReachable(log, signal, () => createRun(store.db, { trigger: 'start', at: clock() })),
  )
  const working = serving.then(({ metrics }) => openWork(runtime, metrics, entering))
  await Promise.allSettled([entering, working])
  const { addresses, others } = await serving
  const first = await entering
  await working
  announce(runtime, addresses, others)
  await announceFirstRun(runtime, first.id, addresses.listening)
  await serve(runtime)
  runtime.tell('stopping ...')
  return 0
}

async function serveOnly(runtime: Runtime, serve: Serve): Promise<number> {
  boundApiHeap()
  const { addresses, others } = await serveAll(runtime, drainSeconds.api)
  const { listening, baseUrl } = addresses
  for (const [what, where] of others) runtime.tell(`${what} on ${where}`)
  // It answers meanwhile, 503 for files, and /readyz too.
  await keepFollowing(runtime)
  if (baseUrl !== listening) runtime.tell(`public address (BASE_URL): ${baseUrl}`)
  runtime.tell(`listening on ${listening}`)
  await serve(runtime)
  return 0
}

/** The API, what extensions serve beside it, and its alarms. */
async function serveAll(runtime: Runtime, seconds: number) {
  const apiRuntime = openApiRuntime(runtime)
  const metrics = openMetrics(apiRuntime)
  const addresses = await serveApi(apiRuntime, metrics, seconds)
  const others = await serveExtensions(runtime, metrics)
  watchFromApi(runtime)
  return { metrics, addresses, others }
}

/** Demo data goes only into a store of our own, of a trial publisher, that was never seeded and mirrors nothing. */
async function seedFirstStart(runtime: Runtime, serving: ReturnType<typeof serveAll>): Promise<void> {
  const { config, store, clock } = runtime
  if (config.database.kind === 'given' || config.upstream || !isDemoPublisher(config.reportingOrg.ref)) return
  if (!(await neverSeeded(store.db))) return
  // The system chooses the port where it is 0.
  const baseUrl =
    config.port === 0 ? (await serving).addresses.baseUrl : (config.baseUrl ?? listeningUrl(config, config.port))
  const { projects } = await seedDemo(store, { today: isoDateOf(clock()), currency: config.currency, baseUrl })
  if (projects > 0) runtime.tell(`the store was empty: ${projects} invented demo projects were put in`)
}

function announce(
  runtime: Runtime,
  { listening, baseUrl }: ServedAddresses,
  others: Awaited<ReturnType<typeof serveExtensions>>,
): void {
  const { config, embedded, tell } = runtime
  const database = embedded ? 'our own PostgreSQL' : 'database given by DATABASE_URL'
  const rows = [
    ['index page', `${listening}/`],
    ...(baseUrl === listening ? [] : [['public address', `${baseUrl}/ (BASE_URL)`] as const]),
    ...others.map(([what, where]) => [what, `${where}/`] as const),
    ['IATI activities', `curl -s ${listening}/iati/activities.xml | head -c 2000`],
    [
      'make an API key',
      "echo 'seven quiet rivers run' | npm run --silent giving -- users create --email you@example.org --password-stdin",
    ],
    ['store', `${database}; queue in ${config.queue.engine === 'redis' ? 'Redis' : 'PostgreSQL'}`],
    ['next publication', `${nextByConfiguration(runtime)} (${config.publish.schedule}, ${config.publish.timezone})`],
  ] as const
  for (const [what, where] of rows) tell(`${`${what}:`.padEnd(20)} ${where}`)
}

const pollMs = 100

async function announceFirstRun({ store, log, signal, tell }: Runtime, runId: number, address: string): Promise<void> {
  if (signal.aborted) return
  tell('publishing ...')
  while (!signal.aborted) {
    const run = await getRun(store.db, runId).catch((error: unknown) => {
      log.warn({ err: error }, 'the state of the first publication cannot be read at the moment')
      return undefined
    })
    if (run && isFinished(run)) {
      tell(describeRun(run))
      if (run.state === 'published' || run.state === 'unchanged') tell(`ready: ${address}/`)
      return
    }
    await sleep(pollMs, undefined, { signal }).catch(() => undefined)
  }
}
