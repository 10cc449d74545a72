import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'

/** What all processes share, looked up when metrics are asked for. */
export type SharedNumbers = {
  readonly runsFinished: Readonly<Record<string, number>>
  readonly runsWaiting: Readonly<Record<string, number>>
  readonly activitiesRendered: number
  readonly watchdogRuns: number
  readonly openShards: number
  readonly stageSeconds: Readonly<Record<string, number>>
  /** Of the live release; absent before the first. */
  readonly live?: { readonly ageSeconds: number; readonly activities: number; readonly held: number }
  /** Since the last run that published or found nothing to publish. */
  readonly goodRunAgeSeconds?: number
  readonly overdue: boolean
}

/** Jobs of each queue by state. */
export type QueueNumbers = Readonly<Record<string, Readonly<Record<string, number>>>>

/** The metrics of one process, in the format of Prometheus. */
export type Metrics = {
  observeRequest(request: { method: string; route: string; status: number; seconds: number }): void
  /** A stage of a publication that ended in this process. */
  observeStage(stage: string, seconds: number): void
  /** Tells where the process learns its queue's depth from. */
  watchQueue(read: () => Promise<QueueNumbers>): void
  /** Never throws: what cannot be looked up is left out, and says so. */
  text(): Promise<string>
  readonly contentType: string
}

type Sources = {
  readonly shared: () => Promise<SharedNumbers>
  /** Hears of a source that could not be read. */
  readonly onError: (error: unknown, source: string) => void
}

const requestBuckets = [0.005, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]
const stageBuckets = [0.1, 0.5, 1, 5, 15, 60, 300, 900, 3600]
// A source that hangs must not make the metrics hang, least of all when something is wrong.
const sourceTimeoutMs = 5000

/** Creates the registry of one process; `sources` are asked whenever the metrics are. */
export function createMetrics({ shared, onError }: Sources): Metrics {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  const registers = [registry]
  const gauge = <Label extends string>(name: string, help: string, labelNames: Label[] = []) =>
    new Gauge({ name, help, labelNames, registers })
  const counter = <Label extends string>(name: string, help: string, labelNames: Label[] = []) =>
    new Counter({ name, help, labelNames, registers })

  const requests = new Histogram({
    name: 'giving_http_request_duration_seconds',
    help: 'Requests by route and status, in seconds until the answer was sent',
    labelNames: ['method', 'route', 'status'],
    buckets: requestBuckets,
    registers,
  })
  const stages = new Histogram({
    name: 'giving_stage_duration_seconds',
    help: 'Stages of publications that this process worked on',
    labelNames: ['stage'],
    buckets: stageBuckets,
    registers,
  })
  const database = gauge('giving_database_up', 'Whether the ledger could be read for these metrics')
  const queueUp = gauge('giving_queue_up', 'Whether the queue could be read for these metrics')
  const finished = counter('giving_runs_total', 'Publication runs by outcome, of all processes', ['outcome'])
  const rendered = counter('giving_activities_rendered_total', 'Activities mapped, by all processes')
  const watchdog = counter('giving_watchdog_runs_total', 'Due runs that the queue had forgotten')
  const waiting = gauge('giving_runs_waiting', 'Publication runs that have not ended, by state', ['state'])
  const depth = gauge('giving_queue_depth', 'Work in the ledger that is not done: runs and shards', ['kind'])
  const jobs = gauge('giving_queue_jobs', 'Jobs in the queue by state', ['queue', 'state'])
  const stageSeconds = gauge('giving_last_run_stage_seconds', 'Stages of the newest run that ended', ['stage'])
  const live = gauge('giving_activities', 'Activities in the live release')
  const held = gauge('giving_activities_held', 'Activities of the live release whose newest mapping is invalid')
  const releaseAge = gauge('giving_release_age_seconds', 'Age of the live release')
  const goodRunAge = gauge('giving_last_good_run_age_seconds', 'Since a run published or found nothing to publish')
  const overdue = gauge('giving_publication_overdue', '1 when a scheduled publication has not come about in time')
  let readQueue: (() => Promise<QueueNumbers>) | undefined

  const collectShared = async () => {
    const numbers = await shared()
    finished.reset()
    for (const [outcome, count] of Object.entries(numbers.runsFinished)) finished.inc({ outcome }, count)
    rendered.reset()
    rendered.inc(numbers.activitiesRendered)
    watchdog.reset()
    watchdog.inc(numbers.watchdogRuns)
    for (const [state, count] of Object.entries(numbers.runsWaiting)) waiting.set({ state }, count)
    depth.set(
      { kind: 'run' },
      Object.values(numbers.runsWaiting).reduce((sum, count) => sum + count, 0),
    )
    depth.set({ kind: 'shard' }, numbers.openShards)
    stageSeconds.reset()
    for (const [stage, seconds] of Object.entries(numbers.stageSeconds)) stageSeconds.set({ stage }, seconds)
    if (numbers.live) {
      live.set(numbers.live.activities)
      held.set(numbers.live.held)
      releaseAge.set(numbers.live.ageSeconds)
    }
    if (numbers.goodRunAgeSeconds !== undefined) goodRunAge.set(numbers.goodRunAgeSeconds)
    overdue.set(numbers.overdue ? 1 : 0)
  }
  const collectQueue = async (read: () => Promise<QueueNumbers>) => {
    const numbers = await read()
    jobs.reset()
    for (const [queue, states] of Object.entries(numbers)) {
      for (const [state, count] of Object.entries(states)) jobs.set({ queue, state }, count)
    }
  }
  const attempt = async (up: Gauge, source: string, work: () => Promise<void>) => {
    try {
      await inTime(work())
      up.set(1)
    } catch (error) {
      up.set(0)
      onError(error, source)
    }
  }

  return {
    observeRequest: ({ method, route, status, seconds }) =>
      requests.observe({ method, route, status: String(status) }, seconds),
    observeStage: (stage, seconds) => stages.observe({ stage }, seconds),
    watchQueue: (read) => {
      readQueue = read
    },
    text: async () => {
      const read = readQueue
      await attempt(database, 'ledger', collectShared)
      if (read) await attempt(queueUp, 'queue', () => collectQueue(read))
      return await registry.metrics()
    },
    contentType: registry.contentType,
  }
}

async function inTime(work: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${sourceTimeoutMs} ms`)), sourceTimeoutMs)
  })
  try {
    await Promise.race([work, late])
  } finally {
    clearTimeout(timer)
    work.catch(() => undefined)
  }
}
