import { execFile } from 'node:child_process'
import { cp, mkdir, readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { Agent, request } from 'undici'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { parse, stringify } from 'yaml'
import { startReadyProxy } from '../support/servers/ready-proxy.js'
import { expandVariables } from './support/compose/expand-variables.js'
import {
  driveHealthChecks,
  keepBridgeAddresses,
  type Podman,
  podmanMissing,
  startPodman,
} from './support/compose/podman.js'
import { makeStandIns } from './support/compose/stand-ins.js'
import { neverSoon } from './support/fleet.js'
import { startLoad } from './support/load.js'
import { record } from './support/record.js'

const project = path.resolve(import.meta.dirname, '../..')
const name = 'givingcampaign'
const port = '18080'
const address = `http://127.0.0.1:${port}`
const [plainPort, securePort] = ['18081', '18443']
const lookMs = 200
const projects = 40

type ComposeFile = { readonly services: { readonly api: Record<string, unknown> } }
type State = Readonly<Record<'Status' | 'StartedAt', string>> & {
  readonly ExitCode: number
  readonly Health?: { readonly Status: string }
}

const missing = podmanMissing()
if (missing) console.log(`docker-compose.yml is not started: ${missing}`)

describe.skipIf(missing)('docker-compose.yml in Podman', () => {
  let podman: Podman
  let stopDriving: (() => Promise<void>) | undefined
  let began = 0

  /** Runs docker-compose on the file as it is, with the source of a folder. */
  const compose = async (args: readonly string[], source = project) => {
    const file = path.join(podman.folder, 'docker-compose.yml')
    const all = ['--project-name', name, '--file', file, '--project-directory', source, ...args]
    const { stdout } = await promisify(execFile)('docker-compose', all, {
      env: podman.environment,
      maxBuffer: 2 ** 26,
    })
    await keepBridgeAddresses(podman)
    return stdout
  }
  const inspect = async <Value>(container: string, format: string) =>
    JSON.parse(await podman.run('inspect', '--format', `{{json ${format}}}`, container)) as Value
  const idsOf = async (service: string) => {
    const label = `label=com.docker.compose.service=${service}`
    const ids = await podman.run('ps', '--quiet', '--filter', label, '--filter', 'status=running')
    return ids.split('\n').filter(Boolean)
  }
  const giving = async (...args: readonly string[]) => {
    const [api = ''] = await idsOf('api')
    return await podman.run('exec', api, 'node', '/app/dist/src/cli.js', ...args)
  }
  const threeWorkersAlive = () =>
    expect.poll(() => giving('health', 'worker').catch(String), { timeout: 60_000 }).toBe('live workers: 3')
  const healthy = async (service: string, count: number) => {
    await expect
      .poll(
        async () =>
          (await Promise.all((await idsOf(service)).map((id) => inspect<State>(id, '.State')))).map(
            ({ Health }) => Health?.Status,
          ),
        { timeout: 120_000, interval: 500 },
      )
      .toEqual(Array.from({ length: count }, () => 'healthy'))
  }
  const activities = async () => {
    const answer = await fetch(`${address}/iati/activities.xml`)
    const text = await answer.text()
    return { count: text.split('<iati-activity ').length - 1, tag: answer.headers.get('etag') }
  }

  beforeAll(async () => {
    began = performance.now()
    podman = await startPodman()
    await makeStandIns(podman)
    const environment = {
      POSTGRES_PASSWORD: 'quietrivers',
      REDIS_PASSWORD: 'sevenrivers',
      REPORTING_ORG_REF: 'XE-EXAMPLE-COMPOSE',
      REPORTING_ORG_NAME: 'Our platform',
      PORT: port,
      BASE_URL: `https://localhost:${securePort}`,
      PUBLISH_SCHEDULE: neverSoon,
      RATE_LIMIT_PER_ADDRESS: '0',
      TRUST_PROXY: 'uniquelocal',
      REVISION: 'abc123',
      SOURCE: 'https://git.example.org/giving-iati',
    }
    const text = expandVariables(await readFile(path.join(project, 'docker-compose.yml'), 'utf8'), environment)
      .replace('"80:80"', `"${plainPort}:80"`)
      .replaceAll('"443:443', `"${securePort}:443`)
      .replace('API_ADDRESS: api:8080', 'API_ADDRESS: api:8080 beside:8080')
    await writeFile(path.join(podman.folder, 'docker-compose.yml'), text)
    // The API process that serves while the one with the port is replaced.
    const { ports: _taken, ...beside } = (parse(text, { merge: true }) as ComposeFile).services.api
    await writeFile(path.join(podman.folder, 'beside.yml'), stringify({ services: { beside } }))
    stopDriving = driveHealthChecks(podman)
  }, 600_000)

  // Each step needs the one before.
  let failed = false
  beforeEach(({ skip, onTestFailed }) => {
    if (failed) skip('an earlier step failed')
    onTestFailed(() => {
      failed = true
    })
  })

  afterAll(async () => {
    await stopDriving?.()
    await podman?.close()
  })

  it('builds the image: not root, labelled, asked for its health by the program itself', async () => {
    await compose(['build'])
    const { User, Labels } = await inspect<{ User: string; Labels: Record<string, string> }>('giving-iati', '.Config')
    expect(User).toBe('node')
    const { version } = JSON.parse(await readFile(path.join(project, 'package.json'), 'utf8')) as { version: string }
    expect(Labels).toMatchObject({
      'org.opencontainers.image.title': 'giving-iati',
      'org.opencontainers.image.description': expect.stringContaining('IATI 2.03'),
      'org.opencontainers.image.licenses': 'MIT',
      'org.opencontainers.image.version': version,
      'org.opencontainers.image.revision': 'abc123',
      'org.opencontainers.image.source': 'https://git.example.org/giving-iati',
    })
    expect(await podman.run('run', '--rm', 'giving-iati', '--version')).toBe(version)
    const sbom = await podman.run('run', '--rm', '--entrypoint', 'cat', 'giving-iati', '/app/sbom.json')
    const packages = (JSON.parse(sbom) as { components: { name: string }[] }).components.map(({ name }) => name)
    expect(packages).toContain('fastify')
    expect(packages).not.toContain('vitest')
    const { Test } = await inspect<{ Test: readonly string[] }>('giving-iati', '.HealthCheck')
    expect(Test).toEqual(['CMD', 'node', '/app/dist/src/cli.js', 'health'])
  })

  it('starts every service in its turn, each healthy, after the migration', async () => {
    await compose(['up', '--detach'])
    for (const service of ['postgres', 'redis', 'api', 'worker']) await healthy(service, 1)
    expect(await inspect<State>(`${name}_migrate_1`, '.State')).toMatchObject({ Status: 'exited', ExitCode: 0 })
    expect((await fetch(`${address}/healthz`)).status).toBe(200)
  })

  it('confines every container', async () => {
    for (const service of ['postgres', 'redis', 'api', 'worker']) {
      const [id = ''] = await idsOf(service)
      const status = await podman.run('exec', id, 'cat', '/proc/1/status')
      expect(status, service).toMatch(/^CapBnd:\s0+$/m)
      expect(status, service).toMatch(/^NoNewPrivs:\s1$/m)
      expect(status, service).toMatch(/^Uid:\s[1-9]/m)
      await expect(podman.run('exec', id, 'touch', '/root-is-read-only'), service).rejects.toThrow(/Read-only/)
    }
  })

  it('publishes what is put in, and serves it', async () => {
    await giving('seed', '--projects', String(projects))
    await giving('publish', '--wait')
    expect(await activities()).toMatchObject({ count: projects })
  })

  it('gives each volume to the user who writes it', async () => {
    const ownerOf = async (service: string, folder: string) => {
      const [id = ''] = await idsOf(service)
      return await podman.run('exec', id, 'stat', '--format=%U %a', folder)
    }
    expect(await ownerOf('api', '/data')).toMatch(/^node /)
    expect(await ownerOf('worker', '/data/feeds')).toMatch(/^node /)
    expect(await ownerOf('postgres', '/var/lib/postgresql/18/docker')).toBe('postgres 700')
    expect(await ownerOf('redis', '/data')).toMatch(/^redis /)
  })

  it('runs three workers', async () => {
    await compose(['up', '--detach', '--no-recreate', '--scale', 'worker=3'])
    await healthy('worker', 3)
    await threeWorkersAlive()
  })

  it('has HTTPS with the profile tls, behind which an API process stops without a lost request', async () => {
    await compose(['--file', path.join(podman.folder, 'beside.yml'), 'up', '--detach', '--no-deps', 'beside'])
    await healthy('beside', 1)
    await compose(['--profile', 'tls', 'up', '--detach', '--no-deps', 'proxy'])
    await healthy('proxy', 1)
    const [proxy = ''] = await idsOf('proxy')
    const status = await podman.run('exec', proxy, 'cat', '/proc/1/status')
    // CAP_NET_BIND_SERVICE, and no other.
    expect(status).toMatch(/^CapBnd:\s0+400$/m)
    expect(status).toMatch(/^NoNewPrivs:\s1$/m)
    await expect(podman.run('exec', proxy, 'touch', '/root-is-read-only')).rejects.toThrow(/Read-only/)

    const ca = await podman.run('exec', proxy, 'cat', '/data/caddy/pki/authorities/local/root.crt')
    const dispatcher = new Agent({ connect: { ca }, connections: 4 })
    const secure = `https://localhost:${securePort}`
    const ask = async (at: string) => {
      const { statusCode, headers, body } = await request(secure + at, { dispatcher })
      return { statusCode, headers, text: await body.text() }
    }
    const redirected = await request(`http://localhost:${plainPort}/iati/activities.xml`)
    await redirected.body.dump()
    expect([redirected.statusCode, redirected.headers.location]).toEqual([308, 'https://localhost/iati/activities.xml'])
    const file = await ask('/iati/activities.xml')
    expect(file.headers['strict-transport-security']).toMatch(/max-age/)
    expect(file.text).toBe(await (await fetch(`${address}/iati/activities.xml`)).text())
    // What needs HTTPS is refused without the proxy, which says how it was asked.
    const body = {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"auth_request":{}}',
    } as const
    const signedIn = await request(`${secure}/api/userservice/tokens`, { ...body, dispatcher })
    await signedIn.body.dump()
    expect([(await fetch(`${address}/api/userservice/tokens`, body)).status, signedIn.statusCode]).toEqual([403, 400])

    const answers: Record<string, number> = {}
    let ended = false
    const asking = Array.from({ length: 4 }, async () => {
      while (!ended) {
        const said = await ask('/feeds/manifest.json').then(({ statusCode }) => `${statusCode}`, String)
        answers[said] = (answers[said] ?? 0) + 1
      }
    })
    await podman.run('stop', '--time=20', ...(await idsOf('beside')))
    await sleep(1000)
    ended = true
    await Promise.all(asking)
    await dispatcher.close()
    expect(answers).toEqual({ 200: expect.any(Number) })
    await podman.run('stop', '--time=20', proxy)
  })

  it('stops within the time it is given, and has its data when it starts again', async () => {
    const before = await activities()
    const running = (await podman.run('ps', '--quiet')).split('\n')
    expect(running).toHaveLength(6)
    await compose(['stop'])
    // 137 is that of a process that had to be killed.
    for (const id of running) expect((await inspect<State>(id, '.State')).ExitCode).toBe(0)
    await compose(['up', '--detach', '--scale', 'worker=3'])
    await healthy('api', 1)
    await healthy('worker', 3)
    expect(await activities()).toEqual(before)
  })

  it('is replaced by a newer version, with a migration, while it serves', async () => {
    const newer = path.join(podman.folder, 'newer')
    await mkdir(newer)
    const dockerfile = await readFile(path.join(project, 'Dockerfile'), 'utf8')
    const copied = [...dockerfile.matchAll(/^COPY (?!--)(.+) \S+$/gm)].flatMap(([, files = '']) => files.split(' '))
    for (const part of ['Dockerfile', '.dockerignore', ...copied]) {
      await cp(path.join(project, part), path.join(newer, part), { recursive: true })
    }
    const migration = '-- compatible\ncreate table newer_version (id integer primary key);\n'
    await writeFile(path.join(newer, 'src/platform/database/migrations/9999-newer-version.sql'), migration)
    await compose(['build'], newer)

    const proxy = await startReadyProxy(lookMs)
    const addressOf = async (id: string) => {
      const networks = await inspect<Record<string, { IPAddress: string }>>(id, '.NetworkSettings.Networks')
      return `http://${networks[`${name}_default`]?.IPAddress}:8080`
    }
    const [old = ''] = await idsOf('api')
    const oldAddress = await addressOf(old)
    await proxy.add(oldAddress)
    const load = startLoad(proxy.baseUrl, ['/iati/activities.xml', '/feeds/manifest.json', '/themes.json'], 4)
    await compose(['run', '--rm', '--no-deps', '-T', 'migrate'], newer)
    // The older version goes on with a newer schema.
    expect(await giving('migrate', '--check')).toBe('pending: none')
    await compose(['--file', path.join(podman.folder, 'beside.yml'), 'up', '--detach', '--no-deps', 'beside'], newer)
    const [beside = ''] = await idsOf('beside')
    await proxy.add(await addressOf(beside))
    proxy.remove(oldAddress)
    await compose(['up', '--detach', '--no-deps', '--scale', 'worker=3', 'api', 'worker'], newer)
    await healthy('worker', 3)
    const [replaced = ''] = await idsOf('api')
    expect(replaced).not.toBe(old)
    await proxy.add(await addressOf(replaced))
    await sleep(5 * lookMs)
    await podman.run('stop', '--time=20', beside)
    const { answers, faults } = await load.stop()
    await proxy.close()
    expect({ failures: proxy.failures, faults }).toEqual({ failures: [], faults: [] })
    await threeWorkersAlive()
    await giving('publish', '--wait')
    expect(await activities()).toMatchObject({ count: projects })
    record({
      name: 'docker-compose.yml in Podman: build, start, three workers, HTTPS, stop, start, rolling upgrade with a migration',
      engine: 'Redis',
      tried: 1,
      outcome: `every container healthy and confined, none killed; ${answers} requests during the upgrade, none failed; ${Math.round((performance.now() - began) / 1000)} s`,
    })
  })
  it('runs a public demo, which forgets everything at its time', async ({ onTestFailed }) => {
    await compose(['down', '--volumes', '--remove-orphans'])
    await compose(['build', 'api'])
    const demo = `${name}demo`
    const file = path.join(podman.folder, 'demo.yml')
    const source = await readFile(path.join(project, 'deploy/demo/docker-compose.yml'), 'utf8')
    const resetInThreeMinutes = async () => {
      const at = new Date(Date.now() + 180_000).toISOString().slice(11, 19)
      const text = expandVariables(source, { BASE_URL: address, PORT: port, RESET_AT: at })
      await writeFile(file, text.replace('context: ../..', 'context: .'))
    }
    await resetInThreeMinutes()
    const ofDemo = ['--project-name', demo, '--file', file, '--project-directory', project]
    const run = (...args: readonly string[]) =>
      promisify(execFile)('docker-compose', [...ofDemo, ...args], { env: podman.environment, maxBuffer: 2 ** 26 })
    onTestFailed(async () => console.log(await run('ps'), await run('logs')))
    // A slow machine builds for longer than the demo lasts.
    await run('build')
    await resetInThreeMinutes()
    await run('up', '--detach')
    await keepBridgeAddresses(podman)
    const published = () =>
      activities().then(
        ({ count }) => count,
        () => 0,
      )
    await expect.poll(published, { timeout: 120_000, interval: 500 }).toBe(120)
    expect(await (await fetch(`${address}/`, { headers: { accept: 'text/html' } })).text()).toContain('invented')
    const user = { email: 'me@example.org', password: 'seven quiet rivers run' }
    const giving = async (...args: readonly string[]) =>
      await podman.run('exec', `${demo}_giving_1`, 'node', '/app/dist/src/cli.js', ...args)
    const users = async () => JSON.parse(await giving('users', 'list', '--json').catch(() => '"away"')) as unknown
    await podman.run(
      'exec',
      `${demo}_giving_1`,
      'sh',
      '-c',
      `echo '${user.password}' | node /app/dist/src/cli.js users create --email ${user.email} --password-stdin`,
    )
    expect(JSON.stringify(await users())).toContain(user.email)
    expect(await (await fetch(`${address}/iati/activities.xml`)).text()).toContain('XE-EXAMPLE-DEMO-')

    // 124 is that of `timeout`. Docker's engine starts containers again, and so do some versions of Podman.
    const containers = [`${demo}_postgres_1`, `${demo}_giving_1`]
    const states = () => Promise.all(containers.map(async (one) => await inspect<State>(one, '.State')))
    const before = await states()
    const ended = async () =>
      (await states()).every(({ ExitCode, StartedAt }, at) => ExitCode === 124 || StartedAt !== before[at]?.StartedAt)
    await expect.poll(ended, { timeout: 300_000, interval: 1000 }).toBe(true)
    for (const one of containers) expect(await inspect(one, '.HostConfig.RestartPolicy.Name')).toBe('always')
    await run('up', '--detach', '--no-recreate')
    await keepBridgeAddresses(podman)
    await expect.poll(published, { timeout: 120_000, interval: 500 }).toBe(120)
    expect(await users()).not.toContain('away')
    expect(JSON.stringify(await users())).not.toContain(user.email)
    await run('down', '--volumes')
  })
})
