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
import { Cluster, Redis, type RedisOptions } from 'ioredis'
import { ServiceError } from '../src/kernel/errors.js'
import { type RedisAddress, readRedisAddress } from '../src/kernel/redis-address.js'
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
> &
  Emitter
export type EngineWorker = Pick<Worker, 'pause' | 'cancelAllJobs' | 'close' | 'waitUntilReady' | 'disconnect'>

/** Makes queues and workers on one engine; each opens connections of its own, but queues in a cluster share one. */
export type Engine = {
  queue(name: string): EngineQueue
  /** A queue that brings BullMQ's own tables up to date first (PostgreSQL only). */
  migratingQueue(name: string): EngineQueue
  worker(name: string, processor: Processor, options: EngineWorkerOptions): EngineWorker
  /** Ends what queues share, after they were closed. */
  close(): void
}

type EngineWorkerOptions = Omit<WorkerOptions, 'connection' | 'prefix'>

/** BullMQ's schema; the connection's search_path names it, so one database can hold ours and BullMQ's tables. */
const schema = 'bullmq'
const connectTimeoutMs = 5000
// Without an answer in this time the connection counts as dead.
const answerTimeoutMs = 30_000

/** The engine at this address. Errors of idle connections are logged; none can end the process. */
export function createEngine(connection: QueueConnection, log: Log): Engine {
  const heard = <T extends Emitter>(emitter: T, what: string) => {
    emitter.on('error', quietly(log, what))
    return emitter
  }
  const { queue, migratingQueue, worker, close } =
    connection.kind === 'postgres' ? makersInPostgres(connection.url) : makersInRedis(connection)
  return {
    queue: (name) => heard(queue(name), `queue ${name}`),
    migratingQueue: (name) => heard(migratingQueue(name), `queue ${name}`),
    worker: (name, ...more) => heard(worker(name, ...more), `worker ${name}`),
    close,
  }
}

type Emitter = { on(event: 'error', listener: (error: Error) => void): unknown }
type Makers = Omit<Engine, 'worker'> & { worker(...given: Parameters<Engine['worker']>): EngineWorker & Emitter }

function makersInPostgres(url: string): Makers {
  const { Queue, Worker } = withBackend(createPostgresBackend)
  const connection = postgresOptions(url)
  return {
    queue: (name) => new Queue(name, { connection }),
    migratingQueue: (name) => new Queue(name, { connection: { ...connection, migrate: true } }),
    worker: (name, processor, options) => new Worker(name, processor, { ...options, connection }),
    close: () => undefined,
  }
}

function makersInRedis(place: RedisConnection): Makers {
  const { Queue, Worker } = withBackend(createRedisBackend)
  const address = readRedisAddress(place.url)
  const cluster = address?.kind === 'cluster' ? address : undefined
  // In a cluster all keys have one tag, so that they lie in one slot: each step of a job is one script over several keys.
  const prefix = cluster ? `{${place.prefix}}` : place.prefix
  const to = (maxRetriesPerRequest: number | null) =>
    cluster ? clusterOf(place, cluster, maxRetriesPerRequest) : { ...redisOptions(place), maxRetriesPerRequest }
  // A producer fails within seconds while Redis is away; a worker waits for it to come back.
  const [producer, consumer] = [to(1), to(null)]
  const queue = (name: string) => new Queue(name, { connection: producer, prefix })
  return {
    queue,
    migratingQueue: queue,
    worker: (name, processor, options) => new Worker(name, processor, { ...options, connection: consumer, prefix }),
    close: () => {
      if (producer instanceof Cluster) producer.disconnect()
    },
  }
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

const pauseOf = (times: number) => Math.min(times * 200, 2000)

const waits = {
  connectTimeout: connectTimeoutMs,
  // Longer than any blocking read of a worker (10 s). Not `socketTimeout`: its timer outlives the connection.
  commandTimeout: answerTimeoutMs,
  keepAlive: 10_000,
} as const

function redisOptions(connection: RedisConnection) {
  return {
    ...redisPlace(connection),
    ...waits,
    retryStrategy: pauseOf,
    // After a failover the connection may lead to what is a replica now.
    reconnectOnError: (error: Error) => (error.message.startsWith('READONLY') ? 2 : false),
  } as const
}

/** BullMQ takes its listeners away before a connection has ended, and the driver prints errors that nobody listens to. */
class ListenedCluster extends Cluster {
  constructor(...given: ConstructorParameters<typeof Cluster>) {
    super(...given)
    this.on('error', () => undefined)
  }

  override duplicate(...given: Parameters<Cluster['duplicate']>): Cluster {
    return super.duplicate(...given).on('error', () => undefined)
  }
}

type ClusterAddress = Extract<RedisAddress, { kind: 'cluster' }>

/** A connection to a cluster, made when it is first used; workers copy it. */
function clusterOf(connection: RedisConnection, address: ClusterAddress, maxRetriesPerRequest: number | null): Cluster {
  return new ListenedCluster([...address.hosts], {
    lazyConnect: true,
    clusterRetryStrategy: pauseOf,
    slotsRefreshTimeout: connectTimeoutMs,
    redisOptions: { ...credentialsOf(address), ...tlsOf(connection, address), ...waits, maxRetriesPerRequest },
  })
}

function tlsOf({ caFile }: RedisConnection, address: RedisAddress | undefined) {
  return address?.encrypted ? { tls: caFile === undefined ? {} : { ca: readCertificates(caFile) } } : {}
}

function credentialsOf({ username, password }: Exclude<RedisAddress, { kind: 'server' }>) {
  return { ...(username !== undefined && { username }), ...(password !== undefined && { password }) }
}

/** Where the server is, as the driver takes it. */
function redisPlace(connection: RedisConnection) {
  const address = readRedisAddress(connection.url)
  const tls = tlsOf(connection, address)
  if (address?.kind !== 'sentinels') return { url: connection.url, ...tls }
  const { hosts, name, database: db, sentinelPassword, encrypted } = address
  return {
    ...tls,
    sentinels: [...hosts],
    name,
    db,
    ...credentialsOf(address),
    ...(sentinelPassword !== undefined && { sentinelPassword }),
    ...(encrypted && { enableTLSForSentinelMode: true, sentinelTLS: tls.tls }),
    sentinelRetryStrategy: pauseOf,
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
  const address = readRedisAddress(connection.url)
  if (address?.kind === 'cluster') {
    const shared = { ...credentialsOf(address), ...tlsOf(connection, address) }
    return await refuseEach(address.hosts, (at) =>
      looked({ ...at, ...shared }, async (redis) =>
        /^cluster_enabled:1/m.test(await redis.info()) ? undefined : 'nodes of a cluster, got a server that is in none',
      ),
    )
  }
  const place = redisPlace(connection)
  if ('name' in place) {
    const { sentinelPassword: password, sentinelTLS: tls, name } = place
    await refuseEach(place.sentinels, (at) =>
      looked({ ...at, ...(password && { password }), ...(tls && { tls }) }, (redis) => sentinelProblem(redis, name)),
    )
  }
  const problem = await looked(place, async (redis) => {
    const text = await redis.info()
    if (/^redis_mode:sentinel/m.test(text)) {
      return 'the address of a primary server (one that stands alone, or a proxy before it) or redis+sentinel://host/name, got a sentinel'
    }
    if (/^cluster_enabled:1/m.test(text)) {
      return 'the address of a primary server (one that stands alone, or a proxy before it) or redis+cluster://host,host, got a node of a cluster'
    }
    return /^role:slave/m.test(text)
      ? 'the address of a primary server (one that stands alone, or a proxy before it), got a replica'
      : undefined
  })
  if (problem !== undefined) throw redisRefused(problem)
}

type Host = { readonly host: string; readonly port: number }

/** Throws what is wrong with one of several servers; one that answers is enough. */
async function refuseEach(hosts: readonly Host[], problemAt: (host: Host) => Promise<string | undefined>) {
  const answers = await Promise.allSettled(
    hosts.map(async (at) => {
      const problem = await problemAt(at)
      return problem && `${problem} at ${at.host}:${at.port}`
    }),
  )
  const failures = answers.flatMap((one) => (one.status === 'rejected' ? [one.reason as unknown] : []))
  if (failures.length === answers.length) {
    // Prefer a server's error over another's time-out.
    throw failures.find((one) => one instanceof ServiceError && one.code === 'configuration-invalid') ?? failures[0]
  }
  for (const one of answers) if (one.status === 'fulfilled' && one.value) throw redisRefused(one.value)
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
    if (cause instanceof Error && cause.name === 'ReplyError') {
      // Later the driver says it in an event only, and asks again and again.
      if (!/^(?:WRONGPASS|NOAUTH|NOPERM)\b/.test(cause.message)) return undefined
      throw redisRefused(`a user and password that Redis accepts: ${cause.message}`)
    }
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
