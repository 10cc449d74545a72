import { spawn, spawnSync } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { Redis } from 'ioredis'
import { expect, onTestFinished, test } from 'vitest'
import { openQueue } from '../../jobs/queue.js'
import { createLog } from '../../src/platform/observability/log.js'
import { newInstallation } from '../support/commands/cli.js'
import { freePort } from '../support/servers/free-port.js'
import { selfSigned } from '../support/servers/self-signed.js'
import { emptyDatabase } from '../support/store/database.js'
import { temporaryFolder } from '../support/values/temporary-folder.js'
import { until } from './support/fleet.js'
import { listening } from './support/listening.js'
import { record } from './support/record.js'

const missing = ['redis-server', 'redis-sentinel'].find((name) => spawnSync(name, ['--version']).error)

type Started = { readonly port: number; kill(): Promise<void> }

async function startRedisProgram(program: string, lines: (port: number) => readonly string[]): Promise<number> {
  return (await startProgram(program, lines)).port
}

/** Starts a program of Redis for the test. */
async function startProgram(program: string, lines: (port: number) => readonly string[]): Promise<Started> {
  const dir = await temporaryFolder()
  const port = await freePort()
  const file = path.join(dir, 'redis.conf')
  await writeFile(file, [`port ${port}`, 'bind 127.0.0.1', `dir ${dir}`, ...lines(port)].join('\n'))
  const child = spawn(program, [file], { stdio: 'ignore' })
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  const kill = async () => {
    child.kill('SIGKILL')
    await ended
  }
  onTestFinished(kill)
  await listening(port, () => child.exitCode === null)
  return { port, kill }
}

test.skipIf(missing)('a Redis that takes no jobs is refused in one sentence, by commands that end', async () => {
  const plain = ['save ""']
  const primary = await startRedisProgram('redis-server', () => plain)
  const servers = {
    'a sentinel': await startRedisProgram('redis-sentinel', () => [`sentinel monitor one 127.0.0.1 ${primary} 1`]),
    'a replica': await startRedisProgram('redis-server', () => [...plain, `replicaof 127.0.0.1 ${primary}`]),
    'a node of a cluster': await startRedisProgram('redis-server', () => [...plain, 'cluster-enabled yes']),
  }
  const { url } = await emptyDatabase()
  const addresses = {
    ...Object.fromEntries(Object.entries(servers).map(([what, port]) => [what, `redis://127.0.0.1:${port}`])),
    'two, which is unknown': `redis+sentinel://127.0.0.1:${servers['a sentinel']}/two`,
    'another server': `redis+sentinel://127.0.0.1:${primary}/one`,
    'a server that is in none': `redis+cluster://127.0.0.1:1,127.0.0.1:${primary}`,
  }
  for (const [what, address] of Object.entries(addresses)) {
    const service = await newInstallation({
      DATABASE_URL: url,
      REDIS_URL: address,
      REPORTING_ORG_REF: 'US-EIN-123456789',
    })
    onTestFinished(() => service.remove())
    const worker = await service.run(['worker'])
    expect([worker.code, worker.stderr]).toEqual([2, expect.stringMatching(/^giving: REDIS_URL: expected .*\n$/m)])
    expect(worker.stderr).toContain(`got ${what}`)
    const doctor = await service.run(['doctor'])
    expect(doctor.stdout).toMatch(new RegExp(`^FIX +queue: +REDIS_URL: expected .* got ${what}`, 'm'))
    expect(doctor.code).toBe(1)
  }
  record({
    name: 'cluster: the address of a sentinel, a replica, a node of a cluster; sentinels or nodes that are none; an unknown primary',
    engine: 'Redis',
    tried: 6,
    outcome: 'refused in one sentence; giving worker exits 2, giving doctor 1',
  })
})

test.skipIf(missing)('the queue follows what its sentinels say, through a failover', async () => {
  const secret = ['requirepass secret', 'masterauth secret']
  const primary = await startProgram('redis-server', () => secret)
  const replica = await startProgram('redis-server', () => [...secret, `replicaof 127.0.0.1 ${primary.port}`])
  const sentinel = await startRedisProgram('redis-sentinel', () => [
    `sentinel monitor one 127.0.0.1 ${primary.port} 1`,
    'sentinel auth-pass one secret',
    'sentinel down-after-milliseconds one 1000',
    'sentinel failover-timeout one 3000',
  ])
  const url = `redis+sentinel://:secret@127.0.0.1:1,127.0.0.1:${sentinel}/one/2`
  const connection = { kind: 'redis', url, prefix: 'test' } as const
  const seen: string[] = []
  const silent = createLog('silent')
  await using queue = await openQueue({ connection, lockSeconds: 5, attempts: 3, backoffMs: 100 }, silent)
  const worker = await queue.work('publish', 1, async ({ name }) => {
    seen.push(name)
    return 'seen'
  })
  onTestFinished(() => worker.close())
  const add = (name: string) => queue.add({ queue: 'publish', name, data: {} })
  await add('before')
  await until(async () => seen.includes('before'))
  const known = new Redis(replica.port, { password: 'secret', db: 2 })
  onTestFinished(() => known.disconnect())
  await until(async () => (await known.keys('test:publish:*')).length > 0)
  await primary.kill()
  await until(() =>
    add('after').then(
      () => true,
      () => false,
    ),
  )
  await until(async () => seen.includes('after'))
  expect(await known.info('replication')).toMatch(/^role:master/m)

  const service = await newInstallation({
    DATABASE_URL: (await emptyDatabase()).url,
    REDIS_URL: url,
    REPORTING_ORG_REF: 'US-EIN-123456789',
  })
  onTestFinished(() => service.remove())
  const doctor = await service.run(['doctor'])
  expect(doctor.stdout).toMatch(/^note +queue: +Redis answers; no worker is running/m)
  record({
    name: 'cluster: two Redis with a sentinel, and kill -9 of the primary',
    engine: 'Redis',
    tried: 1,
    outcome: 'jobs go on at the new primary',
  })
})

test.skipIf(missing)('the queue in a cluster of three primaries and their replicas, through a failover', async () => {
  const lines = ['requirepass secret', 'masterauth secret', 'save ""', 'cluster-enabled yes']
  const nodes = new Map<number, Started>()
  for (let one = 0; one < 6; one++) {
    const bus = await freePort()
    const timeouts = ['cluster-node-timeout 1000', 'cluster-replica-validity-factor 0']
    const node = await startProgram('redis-server', () => [...lines, ...timeouts, `cluster-port ${bus}`])
    nodes.set(node.port, node)
  }
  const addresses = [...nodes.keys()].map((port) => `127.0.0.1:${port}`)
  const create = ['--cluster', 'create', ...addresses, '--cluster-replicas', '1', '--cluster-yes']
  const created = spawnSync('redis-cli', ['--no-auth-warning', '-a', 'secret', ...create], { encoding: 'utf8' })
  expect(created.stdout, created.stderr).toContain('All 16384 slots covered')

  const url = `redis+cluster://:secret@127.0.0.1:1,${addresses.slice(0, 2).join(',')}`
  const connection = { kind: 'redis', url, prefix: 'giving' } as const
  const seen: string[] = []
  const silent = createLog('silent')
  const settings = { connection, lockSeconds: 5, attempts: 3, backoffMs: 100 }
  // The nodes have just met.
  await using queue = await until(() => openQueue(settings, silent).catch(() => undefined))
  const worker = await queue.work('publish', 1, async ({ name }) => {
    seen.push(name)
    return 'seen'
  })
  onTestFinished(() => worker.close())
  const add = (name: string) => queue.add({ queue: 'publish', name, data: {} })
  await add('before')
  await until(async () => seen.includes('before'))
  expect(await queue.liveWorkers('publish')).toBe(1)
  await queue.upsertScheduler('publish', 'nightly', { expression: '0 2 * * *', timezone: 'UTC' })
  expect(await queue.findScheduler('publish', 'nightly')).toMatchObject({ name: 'nightly' })

  // All keys lie at one primary; that one is killed.
  const keysAt = async (port: number) => {
    const node = new Redis(port, { password: 'secret' })
    try {
      const isPrimary = /^role:master/m.test(await node.info('replication'))
      return isPrimary ? await node.keys('{giving}:*') : []
    } finally {
      node.disconnect()
    }
  }
  const found = await Promise.all([...nodes.keys()].map(async (port) => ({ port, keys: await keysAt(port) })))
  const [holder, ...others] = found.filter(({ keys }) => keys.length > 0)
  expect(others).toEqual([])
  await nodes.get(holder?.port ?? 0)?.kill()
  await until(() =>
    add('after').then(
      () => true,
      () => false,
    ),
  )
  await until(async () => seen.includes('after'))

  const database = await emptyDatabase()
  const said = async (address: string) => {
    const environment = { DATABASE_URL: database.url, REDIS_URL: address, REPORTING_ORG_REF: 'US-EIN-123456789' }
    const service = await newInstallation(environment)
    onTestFinished(() => service.remove())
    return (await service.run(['doctor'])).stdout.split('\n').find((line) => / queue: /.test(line))
  }
  // The worker of this test counts as one of the service.
  expect(await said(url)).toMatch(/Redis answers; workers: 1$/)
  expect(await said(url.replace('secret', 'wrong'))).toMatch(
    /^FIX .* REDIS_URL: expected a user and password that Redis accepts: WRONGPASS/,
  )
  record({
    name: 'cluster: Redis Cluster of three primaries and three replicas, and kill -9 of the primary that has the queue',
    engine: 'Redis',
    tried: 1,
    outcome: 'jobs go on at its replica; keys lie in one slot',
  })
})

test.skipIf(missing)('a Redis with TLS that a private authority vouches for', async () => {
  const dir = await temporaryFolder()
  const [cert, key] = [path.join(dir, 'cert.pem'), path.join(dir, 'key.pem')]
  await Promise.all([writeFile(cert, selfSigned.cert), writeFile(key, selfSigned.key)])
  const port = await freePort()
  const tls = [
    `tls-port ${port}`,
    `tls-cert-file ${cert}`,
    `tls-key-file ${key}`,
    'tls-auth-clients no',
    `tls-ca-cert-file ${cert}`,
  ]
  await startRedisProgram('redis-server', () => tls)
  const { url } = await emptyDatabase()
  const said = async (environment: Record<string, string>) => {
    const address = { DATABASE_URL: url, REDIS_URL: `rediss://localhost:${port}`, ...environment }
    const service = await newInstallation({ ...address, REPORTING_ORG_REF: 'US-EIN-123456789' })
    onTestFinished(() => service.remove())
    return (await service.run(['doctor'])).stdout.split('\n').find((line) => / queue: /.test(line))
  }
  expect(await said({})).toMatch(
    /^FIX .* REDIS_URL: expected a server that its certificate vouches for, else set REDIS_CA_FILE/,
  )
  expect(await said({ REDIS_CA_FILE: path.join(dir, 'none') })).toMatch(/^FIX .* REDIS_CA_FILE: expected a file/)
  expect(await said({ REDIS_CA_FILE: cert })).toMatch(/^note .* Redis answers/)
  record({
    name: 'cluster: Redis with TLS of a private authority',
    engine: 'Redis',
    tried: 3,
    outcome: 'REDIS_CA_FILE lets it in; without it one sentence says so',
  })
})
