import { setTimeout as sleep } from 'node:timers/promises'
import type { JobsOptions } from 'bullmq'
import { ServiceError } from '../src/kernel/errors.js'
import { within } from '../src/kernel/within.js'
import type { Config } from '../src/platform/config/config.js'
import { asRefusedSession } from '../src/platform/database/connection.js'
import type { Log } from '../src/platform/observability/log.js'
import type { Schedule } from '../src/work/schedule.js'
import { createEngine, type Engine, type EngineQueue, type QueueConnection, refuseOtherRedis } from './engine.js'
import { closeSoon, type JobHandler, QueueWorker } from './queue-worker.js'

/** How the queue behaves; everything that the configuration does not say has one default here. */
export type QueueSettings = {
  readonly connection: QueueConnection
  /** A worker that renews nothing for so long counts as dead. */
  readonly lockSeconds: number
  /** How often a failing job is tried before its run is failed. */
  readonly attempts: number
  /** Wait before the second try; doubles with every further one. */
  readonly backoffMs: number
}

/** The queue's settings; `databaseUrl` is that of the database, unless an address past a pooler is configured. */
export function queueSettings({
  config: { queue, secrets },
  databaseUrl,
}: {
  readonly config: Config
  readonly databaseUrl: string
}): QueueSettings {
  const connection: QueueConnection =
    queue.engine === 'redis' && secrets.redisUrl !== undefined
      ? { kind: 'redis', url: secrets.redisUrl, caFile: queue.caFile, prefix: 'giving' }
      : { kind: 'postgres', url: secrets.databaseDirectUrl ?? databaseUrl }
  return { connection, lockSeconds: queue.lockSeconds, attempts: 5, backoffMs: 1000 }
}

/** A scheduler as BullMQ keeps it. */
export type Scheduler = { readonly name: string; readonly schedule: Schedule; readonly next: Date | undefined }

/** Jobs by queue and state. */
export type QueueCounts = Readonly<Record<string, Readonly<Record<string, number>>>>

/** A job that was given up. */
export type FailedJob = {
  readonly queue: string
  readonly name: string
  readonly failedAt: Date | undefined
  readonly tries: number
  readonly reason: string
}

type NewJob = { readonly queue: string; readonly name: string; readonly data: object }

const answerMs = 15_000

const kept = { removeOnComplete: { age: 86_400, count: 1000 }, removeOnFail: { age: 7 * 86_400, count: 1000 } }

// Every process has this one, so it is opened first.
const firstQueue = 'publish'

/** The queues of one process; nothing else uses BullMQ. A queue is opened when it is first used. */
export class JobQueue implements AsyncDisposable {
  readonly settings: QueueSettings
  readonly #engine: Engine
  readonly #queues: Map<string, EngineQueue>
  readonly #consumers = new Set<QueueWorker>()
  readonly #closed = new AbortController()

  constructor(settings: QueueSettings, engine: Engine, first: EngineQueue) {
    this.settings = settings
    this.#engine = engine
    this.#queues = new Map([[firstQueue, first]])
  }

  /** Adds a job; every job may be delivered more than once. */
  async add({ queue, name, data }: NewJob): Promise<void> {
    await this.#asked(queue, (it) => it.add(name, data, this.#jobOptions()))
  }

  /**
   * Creates or changes a scheduler whose jobs are called `tick`. Processes that start together collide on the
   * scheduler's next job ("job ID already exists", -10); the loser tries again and finds the winner's.
   */
  async upsertScheduler(queue: string, name: string, schedule: Schedule): Promise<void> {
    const repeat = { pattern: schedule.expression, tz: schedule.timezone }
    const tick = { name: 'tick', data: { schedule: name }, opts: this.#jobOptions() }
    await retried(async () => {
      try {
        await this.#asked(queue, (it) => it.upsertJobScheduler(name, repeat, tick))
      } catch (error) {
        const current = isRace(error) ? await this.findScheduler(queue, name) : undefined
        if (!current || !isSame(current.schedule, schedule)) throw error
      }
    })
  }

  /** The scheduler with this name; undefined when there is none. */
  async findScheduler(queue: string, name: string): Promise<Scheduler | undefined> {
    return toScheduler(await this.#asked(queue, (it) => it.getJobScheduler(name)))
  }

  /** Removes the schedulers of other names, which an older version left; returns their names. */
  async removeSchedulersExcept(queue: string, names: readonly string[]): Promise<string[]> {
    const schedulers = await this.#asked(queue, (it) => it.getJobSchedulers())
    const stale = schedulers.map(({ key }) => key).filter((key) => !names.includes(key))
    for (const key of stale) await this.#asked(queue, (it) => it.removeJobScheduler(key))
    return stale
  }

  /** How many worker processes are connected to this queue now. */
  async liveWorkers(queue: string): Promise<number> {
    return await this.#asked(queue, (it) => it.getWorkersCount())
  }

  /** Jobs of each of these queues by state: `waiting`, `active`, `delayed`, `failed`, ... */
  async counts(queues: readonly string[]): Promise<QueueCounts> {
    const counts: Record<string, Record<string, number>> = {}
    for (const queue of queues) counts[queue] = await this.#asked(queue, (it) => it.getJobCounts())
    return counts
  }

  /** The newest failed jobs of each of these queues, at most `most` of each. */
  async failed(queues: readonly string[], most: number): Promise<FailedJob[]> {
    const jobs = await Promise.all(
      queues.map(async (queue) => {
        const failed = await this.#asked(queue, (it) => it.getFailed(0, most - 1))
        return failed.map(({ name, finishedOn, attemptsMade, failedReason }) => ({
          ...{ queue, name, tries: attemptsMade, reason: failedReason },
          failedAt: finishedOn === undefined ? undefined : new Date(finishedOn),
        }))
      }),
    )
    return jobs.flat()
  }

  async schedulers(queues: readonly string[]): Promise<(Scheduler & { readonly queue: string })[]> {
    const found = await Promise.all(
      queues.map(async (queue) => {
        const schedulers = await this.#asked(queue, (it) => it.getJobSchedulers())
        return schedulers.flatMap((one) => toScheduler(one) ?? []).map((one) => ({ ...one, queue }))
      }),
    )
    return found.flat()
  }

  /** Starts taking jobs of one queue; resolves when the connections stand. */
  async work(name: string, concurrency: number, handler: JobHandler): Promise<QueueWorker> {
    if (this.#closed.signal.aborted) throw new ServiceError('queue-unavailable', closedMessage)
    const lockMs = this.settings.lockSeconds * 1000
    const options = {
      concurrency,
      lockDuration: lockMs,
      // A dead worker's job is found at most a third of a lock after the lock ran out.
      stalledInterval: Math.round(lockMs / 3),
      // A job that lost so many workers is given up: it probably kills them.
      maxStalledCount: 5,
      // After a lost connection: how soon the next job is asked for again.
      runRetryDelay: 1000,
    }
    const worker = new QueueWorker(handler, (processor) => this.#engine.worker(name, processor, options))
    this.#consumers.add(worker)
    try {
      await this.#reached(worker.waitUntilReady())
      return worker
    } catch (error) {
      await worker.close()
      throw error
    }
  }

  /** Closes all connections within 2 s; whatever still waits for an answer fails. */
  async close(): Promise<void> {
    this.#closed.abort(new ServiceError('queue-unavailable', closedMessage))
    const consumers = [...this.#consumers].map((consumer) => consumer.close())
    await Promise.all([...consumers, ...[...this.#queues.values()].map(closeSoon)])
    this.#engine.close()
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

  #queue(name: string): EngineQueue {
    let queue = this.#queues.get(name)
    if (!queue) {
      if (this.#closed.signal.aborted) throw new ServiceError('queue-unavailable', closedMessage)
      queue = this.#engine.queue(name)
      this.#queues.set(name, queue)
    }
    return queue
  }

  async #asked<T>(queue: string, work: (queue: EngineQueue) => Promise<T>): Promise<T> {
    return await this.#reached(work(this.#queue(queue)))
  }

  async #reached<T>(work: Promise<T>): Promise<T> {
    return await answered(answerMs, work, this.#closed.signal)
  }
}

const closedMessage = 'the job queue has been closed'

/**
 * Opens the queue; on PostgreSQL its tables are created or brought up to date first. Throws `queue-unavailable`, or
 * `configuration-invalid` when Redis does not accept the user or password, or never accepts jobs (replica, sentinel); do not retry.
 */
export async function openQueue(settings: QueueSettings, log: Log): Promise<JobQueue> {
  const { connection } = settings
  if (connection.kind === 'redis') await refuseOtherRedis(connection)
  const engine = createEngine(connection, log)
  // Redis never gives up connecting by itself, so we do; PostgreSQL may be busy with another process's migration.
  const patienceMs = connection.kind === 'redis' ? 5000 : answerMs
  const first = retried(async () => {
    const opening = engine.migratingQueue(firstQueue)
    try {
      await answered(patienceMs, opening.waitUntilReady())
      return opening
    } catch (error) {
      await closeSoon(opening)
      throw error
    }
  })
  try {
    return new JobQueue(settings, engine, await first)
  } catch (error) {
    engine.close()
    throw error
  }
}

/** Repeats work that processes which start together make each other fail. */
async function retried<T>(work: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work()
    } catch (error) {
      if (attempt >= 10 || !isRace(error)) throw error
      await sleep(50 * attempt + Math.random() * 100)
    }
  }
}

/**
 * PostgreSQL: unique violations, duplicate objects, serialisation and deadlock, of processes that create the same schema
 * at once. BullMQ: the next job of a scheduler that another process has just made.
 */
function isRace(error: unknown): boolean {
  const cause = error instanceof ServiceError ? error.cause : error
  if (!(cause instanceof Error)) return false
  const code = 'code' in cause ? String(cause.code) : ''
  return (
    /^(23505|42P06|42P07|42710|42723|40001|40P01|XX000)$/.test(code) ||
    /already exists|-1[01]\b|collision|slots busy/i.test(cause.message)
  )
}

function isSame(one: Schedule, other: Schedule): boolean {
  return one.expression === other.expression && one.timezone === other.timezone
}

function toScheduler(json: Awaited<ReturnType<EngineQueue['getJobScheduler']>>): Scheduler | undefined {
  if (!json?.pattern) return undefined
  return {
    name: json.key,
    schedule: { expression: json.pattern, timezone: json.tz ?? 'UTC' },
    next: json.next ? new Date(json.next) : undefined,
  }
}

/** Waits for an answer of the queue. Throws `queue-unavailable` when it fails, is late, or the queue is closed. */
async function answered<T>(ms: number, work: Promise<T>, closed?: AbortSignal): Promise<T> {
  const late = () => new ServiceError('queue-unavailable', `the job queue did not answer within ${ms / 1000} s`)
  // A closed queue never answers: without the signal this wait would keep a process that is stopping alive.
  return await within(ms, work, late, closed).catch((error) => Promise.reject(toQueueError(error)))
}

/** An error of the queue's connection as `queue-unavailable`; errors that have a code are kept. */
function toQueueError(error: unknown): ServiceError {
  const refused = error instanceof ServiceError ? error : asRefusedSession(error)
  if (refused) return refused
  const reason = error instanceof Error ? error.message || error.name : String(error)
  return new ServiceError('queue-unavailable', `the job queue cannot be reached: ${reason}`, { cause: error })
}
