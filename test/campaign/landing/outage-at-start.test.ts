import { spawnSync } from 'node:child_process'
import { readdir, readFile } from 'node:fs/promises'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import pino from 'pino'
import { describe, expect, type TestContext, test } from 'vitest'
import { demoReportingOrgRef } from '../../../src/kernel/demo-publisher.js'
import { findPostmaster } from '../../../src/platform/embedded-postgres/postmaster.js'
import { onceReachable } from '../../../src/work/outage.js'
import { type Installation, newInstallation } from '../../support/commands/cli.js'
import { redisMissing, startRedis } from '../../support/servers/redis.js'
import { type StallingProxy, startProxy } from '../../support/servers/stalling-proxy.js'
import { testDatabase } from '../../support/store/database.js'

const waits = 'the start waits until it can be reached'

async function install(test: TestContext, environment: Record<string, string>): Promise<Installation> {
  const installation = await newInstallation(environment)
  test.onTestFinished(() => installation.remove())
  return installation
}

async function behindProxy(test: TestContext, address: string): Promise<{ url: string; proxy: StallingProxy }> {
  const url = new URL(address)
  const proxy = await startProxy(Number(url.port))
  test.onTestFinished(() => proxy.close())
  url.hostname = '127.0.0.1'
  url.port = String(proxy.port)
  return { url: url.href, proxy }
}

/** Starts a service while the proxy refuses all connections; ends the outage after the start has met it. */
async function startDuring(installation: Installation, proxy: StallingProxy, kind: 'api' | 'worker', outageMs = 1500) {
  proxy.mode = 'refuse'
  const starting = installation.serve(kind)
  while (proxy.refused === 0) await sleep(50)
  await sleep(outageMs)
  proxy.mode = 'pass'
  return await starting
}

// Together, since most of the time is spent waiting.
describe.concurrent('a service that starts during an outage', () => {
  test.for(['worker', 'api'] as const)('of the database waits for it: giving %s', async (kind, context) => {
    const { url, proxy } = await behindProxy(context, (await testDatabase()).url)
    const installation = await install(context, { DATABASE_URL: url, REPORTING_ORG_REF: 'US-EIN-123456789' })
    const service = await startDuring(installation, proxy, kind)
    expect(service.output()).toContain(waits)
    service.kill('SIGTERM')
    expect(await service.ended).toBe(0)
  })

  test('of Redis waits for it', async (context) => {
    const missing = redisMissing()
    if (missing) context.skip(missing)
    const redis = await startRedis()
    context.onTestFinished(() => redis.stop())
    const { url, proxy } = await behindProxy(context, redis.url)
    const installation = await install(context, {
      DATABASE_URL: (await testDatabase()).url,
      REDIS_URL: url,
      REPORTING_ORG_REF: 'US-EIN-123456789',
    })
    // The driver of Redis itself waits for five seconds.
    const service = await startDuring(installation, proxy, 'worker', 7000)
    expect(service.output()).toContain(waits)
    service.kill('SIGTERM')
    expect(await service.ended).toBe(0)
  })

  test('ends well when it is asked to stop while it waits', async (context) => {
    const { url, proxy } = await behindProxy(context, (await testDatabase()).url)
    proxy.mode = 'refuse'
    const installation = await install(context, { DATABASE_URL: url })
    const service = await installation.serve('worker', waits)
    service.kill('SIGTERM')
    expect(await service.ended).toBe(0)
  })

  test.for(['database', 'Redis'] as const)(
    'ends well when it is asked to stop while the %s stalls',
    async (server, context) => {
      const missing = server === 'Redis' && redisMissing()
      if (missing) context.skip(missing)
      const database = (await testDatabase()).url
      const redis = server === 'Redis' ? await startRedis() : undefined
      if (redis) context.onTestFinished(() => redis.stop())
      const { url, proxy } = await behindProxy(context, redis?.url ?? database)
      const addresses = redis ? { DATABASE_URL: database, REDIS_URL: url } : { DATABASE_URL: url }
      const installation = await install(context, { ...addresses, REPORTING_ORG_REF: 'US-EIN-123456789' })
      const service = await installation.serve('worker')
      proxy.mode = 'stall'
      await sleep(1500)
      service.kill('SIGTERM')
      expect(await service.ended).toBe(0)
    },
  )

  test('is waited for no longer when it stalls and the process is asked to stop', async () => {
    const waiting = onceReachable(pino({ level: 'silent' }), AbortSignal.timeout(100), () => new Promise(() => {}))
    await expect(waiting).rejects.toMatchObject({ code: 'aborted' })
  })

  test('that waiting cannot end ends the start: a password that Redis refuses, or none', async (context) => {
    const found = spawnSync('redis-server', ['--version'])
    if (found.error) context.skip('redis-server is not on the PATH')
    const redis = await startRedis('right')
    context.onTestFinished(() => redis.stop())
    const environment = { DATABASE_URL: (await testDatabase()).url, REPORTING_ORG_REF: 'US-EIN-123456789' }
    for (const [password, said] of [
      [':wrong@', 'WRONGPASS'],
      ['', 'NOAUTH'],
    ] as const) {
      const installation = await install(context, { ...environment, REDIS_URL: redis.url.replace(':right@', password) })
      const { code, stderr } = await installation.run(['worker'])
      expect(code).toBe(2)
      expect(stderr).toMatch(new RegExp(`REDIS_URL: expected a user and password that Redis accepts: ${said}`))
    }
  })

  test('that waiting cannot end ends the start: a database that does not exist', async (context) => {
    const url = new URL((await testDatabase()).url)
    url.pathname = '/no_such_database'
    const installation = await install(context, { DATABASE_URL: url.href })
    expect(await installation.run(['worker'])).toMatchObject({ code: 2 })
  })
})

test('a start says what it does before it looks at what it needs, and leaves no server where that is wrong', async (context) => {
  const installation = await install(context, { PORT: 'none' })
  const { code, stderr } = await installation.run(['start'])
  expect(code).toBe(2)
  expect(stderr).toMatch(/^\{"level":30,[^\n]*"msg":"giving start: data directory [^\n]*\n.*PORT: expected/s)
  expect(await readdir(path.join(installation.dataDir, 'postgres-launcher/leases'))).toEqual([])
  const record = await readFile(path.join(installation.dataDir, 'postgres-launcher/server.json'), 'utf8')
  expect(await findPostmaster((JSON.parse(record) as { clusterDir: string }).clusterDir)).toBeUndefined()
})

// A step that is begun after the signal holds connections when our own PostgreSQL stops.
describe('a first start that is asked to stop', () => {
  const steps = ['giving start: data', 'making a new database', 'started PostgreSQL', 'schema: ', 'were put in']
  test.for(steps)('after "%s" ends without a warning, and the next one goes on', async (step, context) => {
    const installation = await install(context, { REPORTING_ORG_REF: demoReportingOrgRef })
    const stopped = await installation.serve('start', step)
    stopped.kill('SIGTERM')
    expect([await stopped.ended, warnings(stopped.output())]).toEqual([0, []])
    if (step !== 'making a new database') return
    const next = await installation.serve('start', 'were put in')
    next.kill('SIGTERM')
    expect([await next.ended, warnings(next.output())]).toEqual([0, []])
  })

  const warnings = (output: string) =>
    output.split('\n').filter((line) => line !== '' && !line.startsWith('{"level":30,'))
})
