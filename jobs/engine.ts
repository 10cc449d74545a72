import { readFileSync } from 'node:fs'
import {
  createPostgresBackend,
  createRedisBackend,
  type Processor,
  type Queue,
  type Worker,
  type WorkerOptions,
  withBackend,
} from 'bullmq'
import { Redis, type RedisOptions } from 'ioredis'
import { ServiceError } from '../src/kernel/errors.js'
import { readRedisAddress } from '../src/kernel/redis-address.js'
import { messageOf } from '../src/kernel/system-errors.js'
import { within } from '../src/kernel/within.js'
import { sessionOptions, sqlState } from '../src/platform/database/connection.js'
import { isUnproven } from '../src/platform/database/refusal.js'
import type { Log } from '../src/platform/observability/log.js'

/** Where the queue lives. */
export type QueueConnection = { readonly kind: 'postgres'; readonly url: string } | RedisConnection
type RedisConnection = {
  readonly kind: 'redis'
  readonly url: string
  /** Certificates of who vouches for the server, where it has TLS. */
  readonly caFile?: string | undefined
  readonly prefix: string
}

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
  const producer = { connection: { ...redisOptions(connection), maxRetriesPerRequest: 1 }, prefix }
  const consumer = { connection: { ...redisOptions(connection), maxRetriesPerRequest: null }, prefix }
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

function redisOptions(connection: RedisConnection) {
  return {
    ...redisPlace(connection),
    connectTimeout: connectTimeoutMs,
    // Longer than any blocking read of a worker (10 s). Not `socketTimeout`: its timer outlives the connection.
    commandTimeout: answerTimeoutMs,
    keepAlive: 10_000,
    retryStrategy: (times: number) => Math.min(times * 200, 2000),
    // After a failover the connection may lead to what is a replica now.
    reconnectOnError: (error: Error) => (error.message.startsWith('READONLY') ? 2 : false),
  } as const
}

/** Where the server is, as the driver takes it. */
function redisPlace({ url, caFile }: RedisConnection) {
  const address = readRedisAddress(url)
  const tls = address?.encrypted ? { tls: caFile === undefined ? {} : { ca: readCertificates(caFile) } } : {}
  if (address?.kind !== 'sentinels') return { url, ...tls }
  const { sentinels, name, database: db, username, password, sentinelPassword, encrypted } = address
  return {
    ...tls,
    sentinels: [...sentinels],
    name,
    db,
    ...(username !== undefined && { username }),
    ...(password !== undefined && { password }),
    ...(sentinelPassword !== undefined && { sentinelPassword }),
    ...(encrypted && { enableTLSForSentinelMode: true, sentinelTLS: tls.tls }),
    sentinelRetryStrategy: (times: number) => Math.min(times * 200, 2000),
  }
}

function readCertificates(file: string): Buffer {
  try {
    return readFileSync(file)
  } catch (cause) {
    const message = `REDIS_CA_FILE: expected a file that can be read: ${messageOf(cause)}`
    throw new ServiceError('configuration-invalid', message, { cause })
  }
}

/**
 * Throws `configuration-invalid` when the address is that of a server which takes no jobs, however long one waits, and
 * `queue-unavailable` when it gives no answer. What else it says is left to whoever connects next.
 */
export async function refuseOtherRedis(connection: RedisConnection): Promise<void> {
  const place = redisPlace(connection)
  if ('name' in place) {
    const { sentinelPassword: password, sentinelTLS: tls, name } = place
    const problems = place.sentinels.map(async ({ host, port }) => {
      const at = { host, port, ...(password && { password }), ...(tls && { tls }) }
      const problem = await looked(at, (redis) => sentinelProblem(redis, name))
      return problem && `${problem} at ${host}:${port}`
    })
    const answers = await Promise.allSettled(problems)
    // One that answers is enough.
    const [answered] = answers.filter((one) => one.status === 'fulfilled')
    const silent = answers.find((one) => one.status === 'rejected')
    if (!answered && silent) throw silent.reason
    for (const one of answers) if (one.status === 'fulfilled' && one.value) throw redisRefused(one.value)
  }
  const problem = await looked(place, async (redis) => {
    const text = await redis.info()
    if (/^redis_mode:sentinel/m.test(text)) {
      return 'the address of a primary server (one that stands alone, or a proxy before it) or redis+sentinel://host/name, got a sentinel'
    }
    const [other] = [
      /^cluster_enabled:1/m.test(text) && 'a node of a cluster',
      /^role:slave/m.test(text) && 'a replica',
    ].filter((what) => what !== false)
    return other && `the address of a primary server (one that stands alone, or a proxy before it), got ${other}`
  })
  if (problem !== undefined) throw redisRefused(problem)
}

function redisRefused(problem: string): ServiceError {
  return new ServiceError('configuration-invalid', `REDIS_URL: expected ${problem} (docs/how-to/redis.md)`)
}

/** What is wrong with a sentinel, where it answers. */
async function sentinelProblem(redis: Redis, name: string): Promise<string | undefined> {
  try {
    const found = await redis.call('SENTINEL', 'get-master-addr-by-name', name)
    return found === null ? `the name of a primary that its sentinels know, got ${name}, which is unknown` : undefined
  } catch (error) {
    return /unknown command/i.test(messageOf(error)) ? 'a sentinel, got another server' : undefined
  }
}

/** Asks a server once; undefined when it refuses. */
async function looked<T>(place: RedisOptions & { readonly url?: string }, ask: (redis: Redis) => Promise<T>) {
  const { url, ...others } = place
  const options: RedisOptions = {
    ...others,
    lazyConnect: true,
    connectTimeout: connectTimeoutMs,
    commandTimeout: connectTimeoutMs,
    retryStrategy: () => null,
    sentinelRetryStrategy: () => null,
    // Waits for a server that is still reading its file otherwise.
    enableReadyCheck: false,
  }
  const redis = url === undefined ? new Redis(options) : new Redis(url, options)
  let failure: Error | undefined
  redis.on('error', (error) => {
    failure = error
  })
  try {
    // The driver's own limits add up, and some of its steps have none.
    const late = () => new Error(`no answer within ${connectTimeoutMs / 1000} s`)
    return await within(
      connectTimeoutMs,
      redis.connect().then(() => ask(redis)),
      late,
    )
  } catch (error) {
    const cause = failure ?? error
    if (isUnproven(sqlState(cause) ?? '')) {
      throw redisRefused(`a server that its certificate vouches for, else set REDIS_CA_FILE: ${messageOf(cause)}`)
    }
    if (cause instanceof Error && cause.name === 'ReplyError') return undefined
    throw new ServiceError('queue-unavailable', `the job queue cannot be reached: ${messageOf(cause)}`, { cause })
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
