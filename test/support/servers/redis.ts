import { spawn, spawnSync } from 'node:child_process'
import { rm } from 'node:fs/promises'
import { Redis } from 'ioredis'
import { temporaryFolder } from '../values/temporary-folder.js'
import { freePort } from './free-port.js'

/** A Redis of this test file's own. */
export type TestRedis = {
  readonly url: string
  /** Forgets everything. */
  flush(): Promise<void>
  /** Ends every connection. */
  cut(): Promise<void>
  stop(): Promise<void>
}

/** Why there is no Redis to test with; undefined when there is one. */
export function redisMissing(): string | undefined {
  if (process.env.TEST_REDIS_URL) return undefined
  const found = spawnSync('redis-server', ['--version'])
  return found.error ? 'redis-server is not on the PATH and TEST_REDIS_URL is not set' : undefined
}

/** Starts `redis-server` from the PATH on a free port, keeping nothing on disk; or uses TEST_REDIS_URL, unless a password is wanted. */
export async function startRedis(password = ''): Promise<TestRedis> {
  const given = process.env.TEST_REDIS_URL
  if (given && password === '')
    return { url: given, flush: () => flush(given), cut: () => cut(given), stop: async () => undefined }
  const dir = await temporaryFolder()
  const port = await freePort()
  const settings = [
    '--port',
    `${port}`,
    '--bind',
    '127.0.0.1',
    '--dir',
    dir,
    '--save',
    '',
    '--appendonly',
    'no',
    '--requirepass',
    password,
  ]
  const server = spawn('redis-server', settings, { stdio: 'ignore' })
  const ended = new Promise<void>((resolve) => server.once('exit', () => resolve()))
  const url = `redis://${password === '' ? '' : `:${password}@`}127.0.0.1:${port}`
  await flush(url)
  return {
    url,
    flush: () => flush(url),
    cut: () => cut(url),
    stop: async () => {
      server.kill('SIGKILL')
      await ended
      await rm(dir, { recursive: true, force: true })
    },
  }
}

async function flush(url: string): Promise<void> {
  await withClient(url, (client) => client.flushdb())
}

async function cut(url: string): Promise<void> {
  await withClient(url, (client) => client.client('KILL', 'TYPE', 'normal', 'SKIPME', 'yes'))
}

async function withClient(url: string, work: (client: Redis) => Promise<unknown>): Promise<void> {
  const client = new Redis(url, { retryStrategy: () => 50, maxRetriesPerRequest: 100 })
  client.on('error', () => undefined)
  await work(client)
  client.disconnect()
}

/** Every key of the Redis with everything in it, as text. */
export async function everyKey(url: string): Promise<string> {
  const client = new Redis(url)
  try {
    const texts: string[] = []
    for (const key of await client.keys('*')) {
      const type = await client.type(key)
      const value =
        type === 'string'
          ? await client.get(key)
          : type === 'hash'
            ? await client.hgetall(key)
            : type === 'list'
              ? await client.lrange(key, 0, -1)
              : type === 'set'
                ? await client.smembers(key)
                : type === 'zset'
                  ? await client.zrange(key, 0, -1)
                  : await client.xrange(key, '-', '+')
      texts.push(`${key} ${JSON.stringify(value)}`)
    }
    return texts.join('\n')
  } finally {
    client.disconnect()
  }
}
