import { AggregatorRegistry, Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import { within } from '../../kernel/within.js'

/** Numbers of all processes, read when metrics are requested. */
export type SharedNumbers = {
  readonly runsFinished: Readonly<Record<string, number>>
  readonly runsWaiting: Readonly<Record<string, number>>
  readonly activitiesRendered: number
  readonly watchdogRuns: number
  readonly openShards: number
  readonly stageSeconds: Readonly<Record<string, number>>
  /** Since the last run that published or found nothing changed. */
  readonly goodRunAgeSeconds?: number
  /** Since the last sync that was not held, on a platform that mirrors another one. */
  readonly goodSyncAgeSeconds?: number
  readonly overdue: boolean
  /** Where a bucket is configured. */
  readonly bucketBehind?: boolean
  /** What the payment processor and the books differ by, by currency. */
  readonly reconciliationDifference: Readonly<Record<string, number>>
  /** How far this process's clock is ahead of the database's. */
  readonly clockSkewSeconds?: number
}

/** Numbers of the live release, read from disk without the database. */
export type LiveNumbers = { readonly ageSeconds: number; readonly activities: number; readonly held: number }

/** Jobs of each queue by state. */
type QueueNumbers = Readonly<Record<string, Readonly<Record<string, number>>>>

/** What one process measured, in a form that can be sent to another one. */
export type Measured = Awaited<ReturnType<Registry['getMetricsAsJSON']>>

/** The metrics of one process, in the format of Prometheus. */
export type Metrics = {
  observeRequest(request: { method: string; route: string; status: number; seconds: number }): void
  /** A webhook of the payment processor that this process was sent. */
  countWebhook(outcome: string): void
  /** A stage of a publication that ended in this process. */
  observeStage(stage: string, seconds: number): void
  /** Sets the function that reads the queue's depth. */
  watchQueue(read: () => Promise<QueueNumbers>): void
  /** What this process measured itself, its queue included, without what all processes can look up. */
  measured(): Promise<Measured>
  /** Sets the function that reads what other processes measured: `text` adds it to the numbers of this one. */
  addProcesses(read: () => Promise<readonly Measured[]>): void
  /** Never throws: a source that cannot be read is left out and passed to `onError`. */
  text(): Promise<string>
  readonly contentType: string
}

type Gauged = {
  readonly name: string
  readonly help: string
  readonly label: string
  readonly read: () => Promise<Readonly<Record<string, number>>>
}

type Sources = {
  readonly shared: () => Promise<SharedNumbers>
  /** Gauges that others add, read with the shared numbers: a number for each value of the label. */
  readonly gauges?: readonly Gauged[]
  /** Undefined before the first release. */
  readonly live: () => Promise<LiveNumbers | undefined>
  /** The name of this process among those whose metrics are shown together. */
  readonly process?: string
  /** The free part of the data directory's disk, from 0 to 1. */
  readonly freeDisk?: () => Promise<number>
  /** Receives the failure of a source. */
  readonly onError: (error: unknown, source: string) => void
}

const requestBuckets = [0.005, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]
const stageBuckets = [0.1, 0.5, 1, 5, 15, 60, 300, 900, 3600]
// A source without an answer must not block the metrics.
const sourceTimeoutMs = 5000

/** Creates the registry of one process; `sources` are read at every request for metrics. */
export function createMetrics({ shared, gauges = [], live, freeDisk, onError, process: name }: Sources): Metrics {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  const registers = [registry]
  const gauge = <Label extends string>(name: string, help: string, labelNames: Label[] = []) =>
    new Gauge({ name, help, labelNames, registers })
  const counter = <Label extends string>(name: string, help: string, labelNames: Label[] = []) =>
    new Counter({ name, help, labelNames, registers })
  /** Removes all values of a metric. */
  const forget = (metric: Metric) => {
    metric.reset()
    // reset() sets a metric without labels to 0.
    metric.remove({})
  }

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
  const webhooks = counter('giving_webhooks_total', 'Webhooks of the payment processor by outcome', ['outcome'])
  if (name !== undefined) {
    new Gauge({
      name: 'giving_process_resident_memory_bytes',
      help: 'Resident memory of each process of a worker',
      labelNames: ['process'],
      registers,
      collect() {
        this.set({ process: name }, process.memoryUsage.rss())
      },
    })
  }
  const database = gauge('giving_database_up', 'Whether the ledger could be read for these metrics')
  // Every process reads the same queue: their numbers are not added up.
  const queueUp = new Gauge({
    name: 'giving_queue_up',
    help: 'Whether the queue could be read for these metrics',
    aggregator: 'min',
    registers,
  })
  const finished = counter('giving_runs_total', 'Publication runs by outcome, of all processes', ['outcome'])
  const rendered = counter('giving_activities_rendered_total', 'Activities mapped, by all processes')
  const watchdog = counter('giving_watchdog_runs_total', 'Due runs that the queue had forgotten')
  const waiting = gauge('giving_runs_waiting', 'Publication runs that have not ended, by state', ['state'])
  const depth = gauge('giving_queue_depth', 'Work in the ledger that is not done: runs and shards', ['kind'])
  const jobs = new Gauge({
    name: 'giving_queue_jobs',
    help: 'Jobs in the queue by state',
    labelNames: ['queue', 'state'],
    aggregator: 'first',
    registers,
  })
  const stageSeconds = gauge('giving_last_run_stage_seconds', 'Stages of the newest run that ended', ['stage'])
  const activities = gauge('giving_activities', 'Activities in the live release')
  const held = gauge('giving_activities_held', 'Activities of the live release whose newest mapping is invalid')
  const releaseAge = gauge('giving_release_age_seconds', 'Age of the live release')
  const goodRunAge = gauge('giving_last_good_run_age_seconds', 'Since a run published or found nothing to publish')
  const goodSyncAge = gauge('giving_last_good_sync_age_seconds', 'Since a sync with the upstream was applied')
  const disk = gauge('giving_data_directory_free_ratio', 'Free part of the disk with the data directory, 0 to 1')
  const overdue = gauge('giving_publication_overdue', '1 when a scheduled publication has not come about in time')
  const bucketBehind = gauge('giving_bucket_behind', '1 while the bucket has another release than the live one')
  const reconciliation = gauge(
    'giving_reconciliation_difference',
    'Money by which the payment processor and the books differ, and that nobody accepted',
    ['currency'],
  )
  const further = gauges.map(({ name, help, label, read }) => ({ label, read, metric: gauge(name, help, [label]) }))
  const clockSkew = gauge('giving_clock_skew_seconds', 'How far the clock of this process is ahead of the database')
  const ofLedger = [
    finished,
    rendered,
    watchdog,
    waiting,
    depth,
    stageSeconds,
    goodRunAge,
    goodSyncAge,
    overdue,
    bucketBehind,
    reconciliation,
    ...further.map(({ metric }) => metric),
    clockSkew,
  ]
  const ofRelease = [activities, held, releaseAge]
  // Nothing is reported before it was read; a process without a queue never reports one.
  for (const metric of [...ofLedger, ...ofRelease, queueUp, disk]) forget(metric)
  let readQueue: (() => Promise<QueueNumbers>) | undefined
  let readProcesses: (() => Promise<readonly Measured[]>) | undefined

  const collectShared = async () => {
    const numbers = await shared()
    for (const metric of ofLedger) forget(metric)
    for (const [outcome, count] of Object.entries(numbers.runsFinished)) finished.inc({ outcome }, count)
    rendered.inc(numbers.activitiesRendered)
    watchdog.inc(numbers.watchdogRuns)
    for (const [state, count] of Object.entries(numbers.runsWaiting)) waiting.set({ state }, count)
    depth.set(
      { kind: 'run' },
      Object.values(numbers.runsWaiting).reduce((sum, count) => sum + count, 0),
    )
    depth.set({ kind: 'shard' }, numbers.openShards)
    for (const [stage, seconds] of Object.entries(numbers.stageSeconds)) stageSeconds.set({ stage }, seconds)
    if (numbers.goodRunAgeSeconds !== undefined) goodRunAge.set(numbers.goodRunAgeSeconds)
    if (numbers.goodSyncAgeSeconds !== undefined) goodSyncAge.set(numbers.goodSyncAgeSeconds)
    overdue.set(numbers.overdue ? 1 : 0)
    if (numbers.bucketBehind !== undefined) bucketBehind.set(numbers.bucketBehind ? 1 : 0)
    for (const [currency, sum] of Object.entries(numbers.reconciliationDifference))
      reconciliation.set({ currency }, sum)
    for (const { label, read, metric } of further) {
      for (const [value, count] of Object.entries(await read())) metric.set({ [label]: value }, count)
    }
    if (numbers.clockSkewSeconds !== undefined) clockSkew.set(numbers.clockSkewSeconds)
  }
  const collectLive = async () => {
    const numbers = await live()
    for (const metric of ofRelease) forget(metric)
    if (!numbers) return
    activities.set(numbers.activities)
    held.set(numbers.held)
    releaseAge.set(numbers.ageSeconds)
  }
  const collectQueue = async (read: () => Promise<QueueNumbers>) => {
    const numbers = await read()
    jobs.reset()
    for (const [queue, states] of Object.entries(numbers)) {
      for (const [state, count] of Object.entries(states)) jobs.set({ queue, state }, count)
    }
  }
  /** Removes the values of a source that cannot be read: readers would take old values for current ones. */
  const attempt = async (source: string, metrics: readonly Metric[], work: () => Promise<void>, up?: Gauge) => {
    try {
      await within(sourceTimeoutMs, work(), () => new Error(`no answer within ${sourceTimeoutMs} ms`))
      up?.set(1)
    } catch (error) {
      for (const metric of metrics) forget(metric)
      up?.set(0)
      onError(error, source)
    }
  }
  const attemptQueue = async () => {
    const read = readQueue
    if (read) await attempt('queue', [jobs], () => collectQueue(read), queueUp)
  }

  return {
    observeRequest: ({ method, route, status, seconds }) =>
      requests.observe({ method, route, status: String(status) }, seconds),
    observeStage: (stage, seconds) => stages.observe({ stage }, seconds),
    countWebhook: (outcome) => webhooks.inc({ outcome }),
    watchQueue: (read) => {
      readQueue = read
    },
    addProcesses: (read) => {
      readProcesses = read
    },
    measured: async () => {
      await attemptQueue()
      return await registry.getMetricsAsJSON()
    },
    text: async () => {
      const [others] = await Promise.all([
        readProcesses?.(),
        attempt('ledger', ofLedger, collectShared, database),
        attempt('live release', ofRelease, collectLive),
        freeDisk && attempt('disk', [disk], async () => disk.set(await freeDisk())),
        attemptQueue(),
      ])
      if (!others) return await registry.metrics()
      return await AggregatorRegistry.aggregate([await registry.getMetricsAsJSON(), ...others]).metrics()
    },
    contentType: registry.contentType,
  }
}

type Metric = Gauge<string> | Counter<string>

/** What remains of the numbers of a process that has ended: sums never decrease. */
export function totalsOf(measured: Measured): Measured {
  return measured.filter(({ type }) => ['counter', 'histogram'].includes(String(type)))
}

/** The numbers of several processes as those of one. */
export function addMeasured(all: readonly Measured[]): Measured {
  // With values, unlike what the library's type says.
  return AggregatorRegistry.aggregate([...all]).getMetricsAsArray() as Measured
}
