import { spawn } from 'node:child_process'
import { readdir, rm } from 'node:fs/promises'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Redis } from 'ioredis'
import { test } from 'vitest'
import { freePort } from '../../support/servers/free-port.js'
import { redisMissing } from '../../support/servers/redis.js'
import { temporaryFolder } from '../../support/values/temporary-folder.js'

/** A Redis that can be killed and started again on its port, with or without what it knew. */
export type CampaignRedis = {
  readonly port: number
  readonly url: string
  /** Kill -9. */
  kill(): Promise<void>
  /** `empty`: it has forgotten everything. */
  start(memory: 'kept' | 'empty'): Promise<void>
  stop(): Promise<void>
}

/** Why there is no Redis of our own to test with; undefined when there is. */
export function ownRedisMissing(): string | undefined {
  return process.env.TEST_REDIS_URL ? 'TEST_REDIS_URL names a server that is not ours to kill' : redisMissing()
}

/** Where a case has its queue, and what processes are told of it. */
export type CampaignEngine = {
  readonly name: 'PostgreSQL' | 'Redis'
  readonly environment: Readonly<Record<string, string>>
  readonly redis: CampaignRedis | undefined
}

/** A test on each engine; that on Redis has one of its own, and is skipped where there is none. */
export function testOnEachEngine(title: string, work: (engine: CampaignEngine) => Promise<void>): void {
  test(`${title}, queue on PostgreSQL`, () => work({ name: 'PostgreSQL', environment: {}, redis: undefined }))
  test(`${title}, queue on Redis`, async (context) => {
    const missing = ownRedisMissing()
    if (missing) return context.skip(missing)
    const redis = await startCampaignRedis()
    try {
      await work({ name: 'Redis', environment: { REDIS_URL: redis.url }, redis })
    } finally {
      await redis.stop()
    }
  })
}

/** A redis-server that writes every change to its disk, as an operator would run it. */
export async function startCampaignRedis(): Promise<CampaignRedis> {
  const dir = await temporaryFolder()
  const port = await freePort()
  const url = `redis://127.0.0.1:${port}`
  let ended: Promise<void> = Promise.resolve()
  let child: ReturnType<typeof spawn> | undefined
  const kill = async () => {
    child?.kill('SIGKILL')
    await ended
  }
  const start = async (memory: 'kept' | 'empty') => {
    if (memory === 'empty') {
      for (const name of await readdir(dir)) await rm(path.join(dir, name), { recursive: true })
    }
    const settings = ['--port', `${port}`, '--bind', '127.0.0.1', '--dir', dir, '--save', '', '--appendonly', 'yes']
    const started = spawn('redis-server', [...settings, '--appendfsync', 'always'], { stdio: 'ignore' })
    child = started
    ended = new Promise((resolve) => started.once('exit', () => resolve()))
    const client = new Redis(url, { retryStrategy: () => 50, maxRetriesPerRequest: 200 })
    client.on('error', () => undefined)
    // While it reads its file it answers LOADING.
    while ((await client.ping().catch(() => '')) !== 'PONG') await sleep(50)
    client.disconnect()
  }
  await start('kept')
  return {
    port,
    url,
    kill,
    start,
    stop: async () => {
      await kill()
      await rm(dir, { recursive: true, force: true })
    },
  }
}
