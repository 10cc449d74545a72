import { setTimeout as sleep } from 'node:timers/promises'
import { type Job, type JobsOptions, UnrecoverableError } from 'bullmq'
import type { ConfigOf, Secrets } from '../src/config/config.js'
import { ServiceError } from '../src/domain/errors.js'
import type { Schedule } from '../src/domain/schedule.js'
import type { Log } from '../src/observability/log.js'
import type { ShardRange } from '../src/store/runs/run-leases.js'
import { createEngine, type Engine, type EngineFlow, type EngineQueue, type QueueConnection } from './engine.js'
import { closeSoon, type JobHandler, QueueWorker, toProcessor } from './queue-worker.js'

/** How the queue behaves; everything that the configuration does not say has one default here. */
export type QueueSettings = {
  readonly connection: QueueConnection
  /** A worker that gave no sign of life for so long is taken for dead. */
  readonly lockSeconds: number
  /** How often a failing job is tried before its run is failed. */
  readonly attempts: number
  /** Wait before the second try; doubles with every further one. */
  readonly backoffMs: number
}

/** The queue's settings as the configuration has them; `databaseUrl` is where the embedded or given database is. */
export function queueSettings(config: ConfigOf<'queue'>, secrets: Secrets, databaseUrl: string): QueueSettings {
  const connection: QueueConnection =
    config.queue.engine === 'redis' && secrets.redisUrl !== undefined
      ? { kind: 'redis', url: secrets.redisUrl, prefix: 'giving' }
      : { kind: 'postgres', url: databaseUrl }
  return { connection, lockSeconds: config.queue.lockSeconds, attempts: 5, backoffMs: 1000 }
}

/** One queue a kind of work: decisions and publishing in one, rendering, data sync and settlement in their own. */
export type QueueName = 'publish' | 'render' | 'sync' | 'settlement'

/** A scheduler as BullMQ keeps it. */
export type Scheduler = { readonly name: string; readonly schedule: Schedule; readonly next: Date | undefined }

/** What an attempt of a run needs to be found again. */
export type Attempt = { readonly runId: number; readonly attempt: number }

const answerMs = 15_000

const kept = { removeOnComplete: { age: 86_400, count: 1000 }, removeOnFail: { age: 7 * 86_400, count: 1000 } }

/** All queues and the flow producer of one process: the only door to BullMQ. */
export class JobQueue implements AsyncDisposable {
  readonly settings: QueueSettings
  readonly #engine: Engine
  readonly #queues: Readonly<Record<QueueName, EngineQueue>>
  readonly #flow: EngineFlow
  readonly #workers: QueueWorker[] = []
  readonly #closed = new AbortController()

  constructor(settings: QueueSettings, engine: Engine, queues: Record<QueueName, EngineQueue>) {
    this.settings = settings
    this.#engine = engine
    this.#queues = queues
    this.#flow = engine.flow()
  }

  /** Asks the workers to take up a queued run; asking twice does no harm. */
  async addStart(run: Attempt): Promise<void> {
    await this.#reached(this.#queues.publish.add('start', run, this.#jobOptions()))
  }

  /** Asks the workers to take up a queued sync; asking twice does no harm. */
  async addSync(runId: number): Promise<void> {
    await this.#reached(this.#queues.sync.add('sync', { runId }, this.#jobOptions()))
  }

  /** Adds an attempt's shards and, behind them, its publication. The ids are the ledger's, never the day's. */
  async addFlow(run: Attempt, shards: readonly ShardRange[]): Promise<void> {
    const id = `run-${run.runId}-${run.attempt}`
    await this.#reached(
      this.#flow.add({
        name: 'publish',
        queueName: 'publish',
        data: run,
        opts: { ...this.#jobOptions(), jobId: id },
        children: shards.map((shard) => ({
          name: 'render',
          queueName: 'render',
          data: { ...run, ...shard },
          opts: { ...this.#jobOptions(), jobId: `${id}-${shard.fromId}`, failParentOnFailure: true },
        })),
      }),
    )
  }

  /**
   * Creates or changes a scheduler whose jobs are called `tick`. Processes that start together trip over each other's
   * next job ("job ID already exists", -10); whoever loses tries again and finds the winner's.
   */
  async upsertScheduler(name: string, schedule: Schedule, queue: QueueName = 'publish'): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      try {
        const scheduled = this.#queues[queue].upsertJobScheduler(
          name,
          { pattern: schedule.expression, tz: schedule.timezone },
          { name: 'tick', data: { schedule: name }, opts: this.#jobOptions() },
        )
        await within(answerMs, scheduled, this.#closed.signal)
        return
      } catch (error) {
        const current = isSchedulerRace(error) ? await this.findScheduler(name, queue) : undefined
        if (current && isSame(current.schedule, schedule)) return
        if (attempt >= 10) throw toQueueError(error)
        await sleep(20 * attempt + Math.random() * 50)
      }
    }
  }

  /** The scheduler with this name; undefined when there is none. */
  async findScheduler(name: string, queue: QueueName = 'publish'): Promise<Scheduler | undefined> {
    return toScheduler(await this.#reached(this.#queues[queue].getJobScheduler(name)))
  }

  /** Removes the schedulers of other names, which an older version left; returns their names. */
  async removeSchedulersExcept(names: string | readonly string[], queue: QueueName = 'publish'): Promise<string[]> {
    const schedulers = await this.#reached(this.#queues[queue].getJobSchedulers())
    const stale = schedulers.map(({ key }) => key).filter((key) => ![names].flat().includes(key))
    for (const key of stale) await this.#reached(this.#queues[queue].removeJobScheduler(key))
    return stale
  }

  /** How many worker processes are connected to this queue now. */
  async liveWorkers(queue: QueueName = 'publish'): Promise<number> {
    return await this.#reached(this.#queues[queue].getWorkersCount())
  }

  /** Jobs of each queue by state: `waiting`, `active`, `delayed`, `failed`, ... */
  async counts(): Promise<Record<QueueName, Record<string, number>>> {
    return {
      publish: await this.#reached(this.#queues.publish.getJobCounts()),
      render: await this.#reached(this.#queues.render.getJobCounts()),
      sync: await this.#reached(this.#queues.sync.getJobCounts()),
      settlement: await this.#reached(this.#queues.settlement.getJobCounts()),
    }
  }

  /** Starts taking jobs of one queue. Resolves when the connections stand. */
  async work(name: QueueName, concurrency: number, handler: JobHandler): Promise<QueueWorker> {
    const lockMs = this.settings.lockSeconds * 1000
    const activity = { deliveries: new Set<Promise<unknown>>(), stopping: false }
    const options = {
      concurrency,
      lockDuration: lockMs,
      // A dead worker's job is found at most a third of a lock after the lock ran out.
      stalledInterval: Math.round(lockMs / 3),
      // Every kill counts as a stall; the run ledger, not this number, decides when a run has failed.
      maxStalledCount: 100,
      // After a lost connection: how soon the next job is asked for again.
      runRetryDelay: 1000,
    }
    const worker = this.#engine.worker(name, toProcessor(handler, activity), options, (job, error) => {
      if (job && isGivenUp(job, error)) handler.onGivenUp?.(job.name, job.data, error)
    })
    const running = new QueueWorker(worker, activity)
    this.#workers.push(running)
    await this.#reached(worker.waitUntilReady())
    return running
  }

  /** Closes all connections within 2 s; whatever still waits for an answer fails. */
  async close(): Promise<void> {
    this.#closed.abort()
    await Promise.all([
      ...this.#workers.map((worker) => worker.close()),
      ...[...Object.values(this.#queues), this.#flow].map(closeSoon),
    ])
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
  }

  #jobOptions(): JobsOptions {
    return {
      ...kept,
      attempts: this.settings.attempts,
      backoff: { type: 'exponential', delay: this.settings.backoffMs },
    }
  }

  /** Turns what a producer throws when the engine is away into `queue-unavailable`, within bounded time. */
  async #reached<T>(work: Promise<T>): Promise<T> {
    try {
      return await within(answerMs, work, this.#closed.signal)
    } catch (error) {
      throw toQueueError(error)
    }
  }
}

/** Opens the queue; on PostgreSQL its tables are created or brought up to date first. Throws `queue-unavailable`. */
export async function openQueue(settings: QueueSettings, log: Log): Promise<JobQueue> {
  const engine = createEngine(settings.connection, log)
  const publish = await openFirst(engine, settings.connection.kind === 'redis' ? 5000 : answerMs)
  const later = (name: QueueName) => engine.queue(name, { migrate: false })
  const queues = { publish, render: later('render'), sync: later('sync'), settlement: later('settlement') }
  return new JobQueue(settings, engine, queues)
}

// Unique violations, duplicate objects, serialisation and deadlock: processes that create the same schema at once.
const migrationRaces = /^(23505|42P06|42P07|42710|42723|40001|40P01|XX000)$/

// Redis never gives up connecting by itself, so we do; PostgreSQL may be busy with another process's migration.
async function openFirst(engine: Engine, patienceMs: number): Promise<EngineQueue> {
  for (let attempt = 1; ; attempt++) {
    const queue = engine.queue('publish', { migrate: true })
    try {
      await within(patienceMs, queue.waitUntilReady())
      return queue
    } catch (error) {
      await closeSoon(queue)
      const code = error instanceof Error && 'code' in error ? String(error.code) : ''
      if (!migrationRaces.test(code) || attempt >= 10) throw toQueueError(error)
      await sleep(50 * attempt + Math.random() * 100)
    }
  }
}

function isSchedulerRace(error: unknown): boolean {
  return error instanceof Error && /already exists|-1[01]\b|collision|slots busy/i.test(error.message)
}

function isGivenUp(job: Job, error: Error): boolean {
  return error instanceof UnrecoverableError || job.attemptsMade >= (job.opts.attempts ?? 1)
}

function isSame(one: Schedule, other: Schedule): boolean {
  return one.expression === other.expression && one.timezone === other.timezone
}

type SchedulerJson = Awaited<ReturnType<EngineQueue['getJobScheduler']>>

function toScheduler(json: SchedulerJson): Scheduler | undefined {
  if (!json?.pattern) return undefined
  return {
    name: json.key,
    schedule: { expression: json.pattern, timezone: json.tz ?? 'UTC' },
    next: json.next ? new Date(json.next) : undefined,
  }
}

async function within<T>(ms: number, work: Promise<T>, closed?: AbortSignal): Promise<T> {
  const timer = new AbortController()
  const signal = closed ? AbortSignal.any([timer.signal, closed]) : timer.signal
  // A closed queue never answers: without the signal this wait would keep a process that is stopping alive.
  const late = sleep(ms, undefined, { signal }).then(
    () => {
      throw new ServiceError('queue-unavailable', `the job queue did not answer within ${ms / 1000} seconds`)
    },
    () => {
      throw new ServiceError('queue-unavailable', 'the job queue has been closed')
    },
  )
  late.catch(() => undefined)
  try {
    return await Promise.race([work, late])
  } finally {
    timer.abort()
    work.catch(() => undefined)
  }
}

/** An error of the queue's connection as `queue-unavailable`; errors with a code of the catalogue are kept. */
export function toQueueError(error: unknown): ServiceError {
  if (error instanceof ServiceError) return error
  const reason = error instanceof Error ? error.message || error.name : String(error)
  return new ServiceError('queue-unavailable', `the job queue cannot be reached: ${reason}`, { cause: error })
}
