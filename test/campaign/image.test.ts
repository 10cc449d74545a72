import { execFile } from 'node:child_process'
import { chmod, mkdir } from 'node:fs/promises'
import path from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Podman, podmanMissing, startPodman } from './support/compose/podman.js'
import { makeStandIns } from './support/compose/stand-ins.js'
import { record } from './support/record.js'

const project = path.resolve(import.meta.dirname, '../..')
const projects = 40
const [port, databasePort] = [18_082, 18_432]

const missing = podmanMissing()
if (missing) console.log(`the image is not started: ${missing}`)

describe.skipIf(missing)('the image by itself, in Podman', () => {
  let podman: Podman

  beforeAll(async () => {
    podman = await startPodman()
    await makeStandIns(podman)
    await podman.run('build', '--tag', 'giving-iati', project)
  }, 1_200_000)
  afterAll(async () => await podman?.close())

  it('publishes and serves for a random user id, below a root that is read-only, in 512 MB', async () => {
    const account = {
      ...{ POSTGRES_USER: 'giving', POSTGRES_PASSWORD: 'quietrivers', POSTGRES_DB: 'giving' },
      POSTGRES_INITDB_ARGS: '--encoding=UTF8 --locale-provider=builtin --builtin-locale=C.UTF-8',
    }
    const told = Object.entries(account).flatMap(([variable, value]) => ['--env', `${variable}=${value}`])
    const detached = (name: string, ...rest: readonly string[]) =>
      podman.run('run', '--detach', '--network', 'host', '--name', name, ...rest)
    const listens = ['-c', 'listen_addresses=127.0.0.1', '-c', `port=${databasePort}`]
    await detached('store', '--user', 'postgres', ...told, 'postgres:18', 'postgres', ...listens)
    const data = path.join(podman.folder, 'data')
    await mkdir(data)
    await chmod(data, 0o777)
    const confined = ['--user', '54321:54321', '--read-only', '--memory', '512m', '--volume', `${data}:/data`]
    const database = ['--env', `DATABASE_URL=postgresql://giving:quietrivers@127.0.0.1:${databasePort}/giving`]
    const publisher = { REPORTING_ORG_REF: 'XE-EXAMPLE-IMAGE', FACTS_CONFIRMED: 'yes', PORT: port, OPS_PORT: 0 }
    const given = Object.entries(publisher).flatMap(([variable, value]) => ['--env', `${variable}=${value}`])
    await detached('service', ...confined, ...database, ...given, 'giving-iati')
    const inService = (...words: readonly string[]) => podman.run('exec', 'service', 'node', ...words)
    const giving = (...args: readonly string[]) => inService('/app/dist/src/cli.js', ...args)
    // What a program says of its end is on standard error.
    const logs = async () =>
      (await promisify(execFile)('sh', ['-c', 'podman logs service 2>&1'], { env: podman.environment })).stdout
    const health = () => giving('health').catch(async (error) => `${error}${await logs()}`)
    await expect.poll(health, { timeout: 300_000, interval: 500 }).not.toMatch(/Error/)
    await giving('seed', '--projects', String(projects))
    await giving('publish', '--wait')
    const asked = `fetch('http://127.0.0.1:${port}/iati/activities.xml').then(async (answer) =>
      console.log((await answer.text()).split('<iati-activity ').length - 1))`
    expect(await inService('--eval', asked)).toBe(String(projects))
    const wanted = `const names = ['@aws-sdk/client-s3', 'braintree', 'ssh2', 'stripe']
      const { components } = require('/app/sbom.json')
      Promise.all(names.map((name) => import(name))).then(() =>
        console.log(names.filter((name) => components.some((one) => one.name === name)).join()))`
    expect(await inService('--eval', wanted)).toBe('@aws-sdk/client-s3,braintree,ssh2,stripe')
    const { OOMKilled } = JSON.parse(await podman.run('inspect', '--format', '{{json .State}}', 'service')) as {
      OOMKilled: boolean
    }
    expect(OOMKilled).toBe(false)
    const outcome = `${projects} activities published and served`
    record({ name: 'the image: another user id, read-only root, 512 MB', engine: 'PostgreSQL', tried: 1, outcome })
  })
})
