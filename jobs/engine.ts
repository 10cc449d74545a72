import {
  createPostgresBackend,
  createRedisBackend,
  type Processor,
  type Queue,
  type Worker,
  type WorkerOptions,
  withBackend,
} from 'bullmq'
import { Redis } from 'ioredis'
import { ServiceError } from '../src/kernel/errors.js'
import { sessionOptions } from '../src/platform/database/connection.js'
import type { Log } from '../src/platform/observability/log.js'

/** Where the queue lives. */
export type QueueConnection =
  | { readonly kind: 'postgres'; readonly url: string }
  | { readonly kind: 'redis'; readonly url: string; readonly prefix: string }

/** The parts of BullMQ's classes that are alike on both engines. */
export type EngineQueue = Pick<
  Queue,
  | 'add'
  | 'upsertJobScheduler'
  | 'getJobScheduler'
  | 'getJobSchedulers'
  | 'removeJobScheduler'
  | 'getWorkersCount'
  | 'getJobCounts'
  | 'getFailed'
  | 'waitUntilReady'
  | 'close'
  | 'disconnect'
> & { on(event: 'error', listener: (error: Error) => void): unknown }
export type EngineWorker = Pick<Worker, 'pause' | 'cancelAllJobs' | 'close' | 'waitUntilReady' | 'disconnect'>

/** Makes queues and workers on one engine; each opens connections of its own. */
export type Engine = {
  queue(name: string): EngineQueue
  /** A queue that brings BullMQ's own tables up to date first (PostgreSQL only). */
  migratingQueue(name: string): EngineQueue
  worker(name: string, processor: Processor, options: EngineWorkerOptions): EngineWorker
}

type EngineWorkerOptions = Omit<WorkerOptions, 'connection' | 'prefix'>

/** BullMQ's schema; the connection's search_path names it, so one database can hold ours and BullMQ's tables. */
const schema = 'bullmq'
const connectTimeoutMs = 5000
// Without an answer in this time the connection counts as dead.
const answerTimeoutMs = 30_000

/** The engine at this address. Errors of idle connections are logged; none can end the process. */
export function createEngine(connection: QueueConnection, log: Log): Engine {
  const heard = <T extends { on(event: 'error', listener: (error: Error) => void): unknown }>(
    emitter: T,
    what: string,
  ) => {
    emitter.on('error', quietly(log, what))
    return emitter
  }
  const { Queue, Worker, forQueue, forMigration, forWorker } = backendOf(connection)
  return {
    queue: (name) => heard(new Queue(name, forQueue), `queue ${name}`),
    migratingQueue: (name) => heard(new Queue(name, forMigration), `queue ${name}`),
    worker: (name, processor, options) =>
      heard(new Worker(name, processor, { ...options, ...forWorker }), `worker ${name}`),
  }
}

function backendOf(connection: QueueConnection) {
  if (connection.kind === 'postgres') {
    const options = { connection: postgresOptions(connection.url) }
    const migrating = { connection: { ...options.connection, migrate: true } }
    return { ...withBackend(createPostgresBackend), forQueue: options, forMigration: migrating, forWorker: options }
  }
  const { prefix } = connection
  // A producer fails within seconds while Redis is away; a worker waits for it to come back.
  const producer = { connection: { ...redisOptions(connection.url), maxRetriesPerRequest: 1 }, prefix }
  const consumer = { connection: { ...redisOptions(connection.url), maxRetriesPerRequest: null }, prefix }
  return { ...withBackend(createRedisBackend), forQueue: producer, forMigration: producer, forWorker: consumer }
}

function postgresOptions(address: string) {
  const { onConnect, ...options } = sessionOptions(address)
  return {
    ...options,
    schema,
    max: 2,
    application_name: 'giving queue',
    connectionTimeoutMillis: connectTimeoutMs,
    query_timeout: answerTimeoutMs,
    keepAlive: true,
    onConnect: async (client: Parameters<typeof onConnect>[0]) => {
      // BullMQ listens to idle connections only: a busy one that breaks would end the process. Its statement fails too.
      client.on('error', () => undefined)
      await onConnect(client)
    },
  }
}

function redisOptions(url: string) {
  return {
    url,
    connectTimeout: connectTimeoutMs,
    // Longer than any blocking read of a worker (10 s). Not `socketTimeout`: its timer outlives the connection.
    commandTimeout: answerTimeoutMs,
    keepAlive: 10_000,
    retryStrategy: (times: number) => Math.min(times * 200, 2000),
  }
}

/**
 * Throws `configuration-invalid` when the address is that of a server which takes no jobs, however long one waits. One that
 * gives no answer is left to whoever connects next.
 */
export async function refuseOtherRedis(url: string): Promise<void> {
  const redis = new Redis(url, {
    lazyConnect: true,
    connectTimeout: connectTimeoutMs,
    commandTimeout: connectTimeoutMs,
    retryStrategy: () => null,
    // Waits for a server that is still reading its file otherwise.
    enableReadyCheck: false,
  })
  redis.on('error', () => undefined)
  try {
    const text = await redis.connect().then(() => redis.info())
    const what = /^redis_mode:sentinel/m.test(text)
      ? 'a sentinel'
      : /^cluster_enabled:1/m.test(text)
        ? 'a node of a cluster'
        : /^role:slave/m.test(text)
          ? 'a replica'
          : undefined
    if (what === undefined) return
    const message = `REDIS_URL: expected the address of a primary server (one that stands alone, or a proxy before it), got ${what} (docs/how-to/redis.md)`
    throw new ServiceError('configuration-invalid', message)
  } catch (error) {
    if (error instanceof ServiceError) throw error
  } finally {
    redis.disconnect()
  }
}

/** Logs an error of a connection at once, and the same one again at most every 10 s with the number left out. */
function quietly(log: Log, source: string): (error: Error) => void {
  const seen = new Map<string, { at: number; left: number }>()
  return (error) => {
    const text = error.message || ('code' in error ? String(error.code) : error.name)
    const entry = seen.get(text)
    const now = performance.now()
    if (entry && now - entry.at < 10_000) {
      entry.left++
      return
    }
    if (seen.size > 100) seen.clear()
    seen.set(text, { at: now, left: 0 })
    log.warn(
      { source, error: text, ...(entry && entry.left > 0 && { repeated: entry.left }) },
      'queue connection error',
    )
  }
}
