import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { stringify } from 'yaml'
import { type Manifest, readManifests, readVariables } from '../support/documents/kubernetes.js'
import { podmanMissing, startPodman } from './support/compose/podman.js'
import { makeStandIns } from './support/compose/stand-ins.js'
import { neverSoon } from './support/fleet.js'
import { record } from './support/record.js'

const project = path.resolve(import.meta.dirname, '../..')
const projects = 40

const missing = podmanMissing()
if (missing) console.log(`deploy/kubernetes is not started: ${missing}`)

test.skipIf(missing)(
  'the pods of deploy/kubernetes migrate, publish and serve in Podman',
  async () => {
    const podman = await startPodman()
    onTestFinished(() => podman.close())
    await makeStandIns(podman)
    await podman.run('build', '--tag', 'localhost/giving-iati', project)
    await podman.run('network', 'create', 'cluster')
    const beside = ['run', '--detach', '--network', 'cluster']
    const account = [
      '--env',
      'POSTGRES_USER=giving',
      '--env',
      'POSTGRES_PASSWORD=quietrivers',
      '--env',
      'POSTGRES_DB=giving',
    ]
    const locale = ['--env', 'POSTGRES_INITDB_ARGS=--encoding=UTF8 --locale-provider=builtin --builtin-locale=C.UTF-8']
    await podman.run(
      ...beside,
      '--name',
      'postgres',
      '--user',
      'postgres',
      ...account,
      ...locale,
      'docker.io/library/postgres:18',
    )
    await podman.run(
      ...beside,
      '--name',
      'redis',
      '--user',
      'redis',
      'docker.io/library/redis:8-alpine',
      'redis-server',
      '--protected-mode',
      'no',
    )

    const ready = () =>
      podman.run('exec', 'postgres', 'pg_isready', '--host=127.0.0.1', '--username=giving').catch(String)
    await expect.poll(ready, { timeout: 60_000 }).toContain('accepting connections')

    const secrets = {
      'database-url': 'postgres://giving:quietrivers@postgres:5432/giving',
      'redis-url': 'redis://redis:6379',
      'donor-keys': `1:${Buffer.alloc(32, 7).toString('base64')}`,
    }
    // Debian 12's Podman writes the values as they stand, which Kubernetes has in base64.
    const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'giving' }, data: secrets }
    const variables = { ...readVariables(), REPORTING_ORG_REF: 'XE-EXAMPLE-PODS', PUBLISH_SCHEDULE: neverSoon }
    const settings = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'giving' }, data: variables }
    const play = async (name: string, manifests: readonly object[]) => {
      const file = path.join(podman.folder, `${name}.yaml`)
      await writeFile(file, manifests.map((manifest) => stringify(manifest)).join('---\n'))
      return await podman.run('kube', 'play', '--network', 'cluster', file)
    }
    const secretFile = path.join(podman.folder, 'secret.yaml')
    await writeFile(secretFile, stringify(secret))
    await podman.run('secret', 'create', 'giving', secretFile)

    const manifests = readManifests()
    const named = (kind: string, name: string) => {
      const found = manifests.find(({ kind: its, metadata }) => its === kind && metadata.name === name)
      if (!found) throw new Error(`deploy/kubernetes has no ${kind} ${name}`)
      return found
    }
    // Podman has no jobs, so that one is played as the pod it would make, and does not pull images by a name without a host.
    const local = (manifest: Manifest) =>
      JSON.parse(JSON.stringify(manifest).replaceAll('"giving-iati"', '"localhost/giving-iati"')) as Manifest
    const { spec: job } = local(named('Job', 'giving-migrate'))
    const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'migrate' }, spec: job.template?.spec }
    await play('migrate', [settings, named('PersistentVolumeClaim', 'giving-data'), pod])
    // `wait` prints the exit code.
    const code = await podman.run('wait', 'migrate-migrate')
    expect(code, code === '0' ? '' : await podman.run('logs', '--tail', '5', 'migrate-migrate')).toBe('0')

    // This Podman takes the ports of its pods on the machine, so there is one worker.
    const worker = local(named('Deployment', 'giving-worker'))
    const played = [local(named('Deployment', 'giving-api')), { ...worker, spec: { ...worker.spec, replicas: 1 } }]
    await play('service', [settings, ...played])
    const idOf = async (component: string) => {
      const ids = await podman.run('ps', '--quiet', '--filter', `name=giving-${component}.*-${component}$`)
      return ids.split('\n')[0] ?? ''
    }
    const answerOf = (id: string, port: number, address: string) =>
      podman.run(
        'exec',
        id,
        'node',
        '--eval',
        `fetch('http://127.0.0.1:${port}${address}').then(async (answer) => console.log(answer.status, await answer.text()))`,
      )
    const giving = async (...args: readonly string[]) =>
      await podman.run('exec', await idOf('worker'), 'node', '/app/dist/src/cli.js', ...args)
    await giving('seed', '--projects', String(projects))
    await giving('publish', '--wait')
    for (const { spec } of played) {
      for (const { name, ports = [], startupProbe, readinessProbe, livenessProbe } of spec.template?.spec.containers ??
        []) {
        const id = await idOf(name)
        for (const { httpGet } of [startupProbe, readinessProbe, livenessProbe].flatMap((probe) => probe ?? [])) {
          const port = ports.find((one) => one.name === httpGet.port)?.containerPort ?? 0
          await expect.poll(() => answerOf(id, port, httpGet.path).catch(String), { timeout: 60_000 }).toMatch(/^200 /)
        }
        const status = await podman.run('exec', id, 'cat', '/proc/1/status')
        expect(status, name).toMatch(/^CapBnd:\s0+$/m)
        expect(status, name).toMatch(/^NoNewPrivs:\s1$/m)
        expect(status, name).toMatch(/^Uid:\s1000/m)
        await expect(podman.run('exec', id, 'touch', '/root-is-read-only'), name).rejects.toThrow(/Read-only/)
      }
    }
    const activities = await answerOf(await idOf('api'), 8080, '/iati/activities.xml')
    expect(activities.split('<iati-activity ').length - 1).toBe(projects)
    record({
      name: 'deploy/kubernetes: migration, API and worker played in Podman',
      engine: 'Redis',
      tried: 1,
      outcome: `${projects} activities published and served; each probe answered 200; no capabilities, root not written`,
    })
  },
  1_800_000,
)
