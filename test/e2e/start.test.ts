import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { afterAll, describe, expect, it, onTestFinished } from 'vitest'
import { createClient } from '../../src/client/client.js'
import type { Manifest } from '../../src/release/read/manifest.js'
import { newInstallation, type RunningService } from '../support/commands/cli.js'
import { officialStandard, realRecords } from '../support/values/borrowed-files.js'
import { temporaryFolder } from '../support/values/temporary-folder.js'

const standardDir = officialStandard('the official schema over the demo')
const samples = realRecords('real records beside the demo')

let service: RunningService

const installation = await newInstallation()
service = await installation.start()

afterAll(async () => {
  await installation.remove()
})

async function manifest(): Promise<Manifest> {
  const response = await fetch(`${service.baseUrl}/feeds/manifest.json`)
  expect(response.status).toBe(200)
  return (await response.json()) as Manifest
}

/** The file's bytes and what a poller compares. */
async function published(address: string) {
  const response = await fetch(service.baseUrl + address, { headers: { 'accept-encoding': 'identity' } })
  const { headers } = response
  return {
    status: response.status,
    text: await response.text(),
    etag: headers.get('etag'),
    modified: headers.get('last-modified'),
  }
}

it('a start that cannot listen says why, and leaves no run behind', async () => {
  const late = await newInstallation({ PORT: new URL(service.baseUrl).port })
  onTestFinished(() => late.remove())
  const { code, stderr } = await late.run(['start'])
  expect(code).toBe(2)
  expect(stderr).toContain('another program is listening there; set PORT or HOST')
  const runs = await late.run(['runs', 'list', '--json'])
  expect(runs.code).toBe(0)
  expect(JSON.parse(runs.stdout)).toEqual({ runs: [] })
})

// One story: each test goes on from where the one before it has left the service.
describe('giving start on a bare machine', { shuffle: false }, () => {
  it('serves a release of the demo data and says where everything is', async () => {
    const { files, totals, held } = await manifest()
    expect(totals.activities).toBe(120)
    expect(held.count).toBe(0)
    expect(files.map((file) => file.path)).toEqual(
      expect.arrayContaining(['/iati/activities.xml', '/iati/organisations.xml', '/feeds/reports.atom']),
    )
    for (const wanted of [
      '/iati/activities.xml',
      'curl ',
      'users create',
      'console:',
      'next publication',
      installation.dataDir,
    ]) {
      expect(service.output()).toContain(wanted)
    }
    // What is not a terminal gets one format.
    const said = service.output().trimEnd().split('\n')
    const messages = said.map((line) => (JSON.parse(line) as { msg: string }).msg)
    expect(messages[0]).toBe(`giving start: data directory ${installation.dataDir}`)
    expect(messages[1]).toMatch(/^making a new database in \S+$/)
    expect(messages).toContain('the store was empty: 120 invented demo projects were put in')
    const index = await fetch(`${service.baseUrl}/`)
    expect(index.headers.get('content-type')).toContain('text/html')
    expect(await index.text()).toContain('/iati/activities.xml')
    // The system chose the port.
    const { text } = await published('/iati/activities.xml')
    const linked = [...text.matchAll(/(http[^"<>]*)\/demo\//g)].map(([, address]) => address)
    expect(new Set(linked)).toEqual(new Set([service.baseUrl]))
  })

  it('publishes files that the official schema accepts', async (context) => {
    if (!standardDir) return context.skip('the official schemas are not here')
    if (spawnSync('xmllint', ['--version']).error) return context.skip('xmllint is not installed')
    const dir = await temporaryFolder()
    for (const name of ['activities', 'organisations']) {
      const file = path.join(dir, `${name}.xml`)
      await writeFile(file, (await published(`/iati/${name}.xml`)).text)
      const schema = path.join(standardDir, `schemas/iati-${name}-schema.xsd`)
      const { status, stderr } = spawnSync('xmllint', ['--noout', '--schema', schema, file], { encoding: 'utf8' })
      expect(stderr).toContain('validates')
      expect(status).toBe(0)
    }
    await rm(dir, { recursive: true })
  })

  it('answers API requests of a user made on the command line', async () => {
    const created = await installation.run(
      ['users', 'create', '--email', 'ops@example.org', '--password-stdin', '--token-timeout', '10h', '--json'],
      'seven quiet rivers run\n',
    )
    expect(created).toMatchObject({ code: 0, stderr: '' })
    const { apiKey } = JSON.parse(created.stdout) as { apiKey: string }
    const client = createClient({ url: service.baseUrl, apiKey })
    expect((await client.get('/api/public/projectservice/all/projects')).projects.numberFound).toBe(120)
    const user = { email: 'ops@example.org', password: 'seven quiet rivers run' }
    const tokens = await client.post('/api/userservice/tokens', { body: { auth_request: { user, api_key: apiKey } } })
    expect(tokens.auth_response.access_token).toMatch(/^[a-z0-9]{40}$/)
  })

  it('publishes the real records beside the demo, none held; a second publication changes no byte', async (context) => {
    if (!samples) return context.skip('TEST_FILES has no real records')
    const imported = await installation.runHere(['import', samples, '--json'])
    expect(imported.code).toBe(0)
    expect(JSON.parse(imported.stdout)).toMatchObject({ created: 50, refused: 0 })
    expect((await installation.runHere(['publish', '--wait'])).code).toBe(0)
    const first = await published('/iati/activities.xml')
    const ids = [...readFileSync(samples, 'utf8').matchAll(/^ {8}<id>(\d+)<\/id>/gm)].map((match) => match[1])
    expect(ids).toHaveLength(50)
    for (const id of ids) expect(first.text).toContain(`<iati-identifier>XE-EXAMPLE-INVENTED-${id}</iati-identifier>`)
    expect((await manifest()).held.count).toBe(0)

    const again = await installation.runHere(['publish', '--wait', '--json'])
    expect(again.code).toBe(0)
    expect(JSON.parse(again.stdout)).toMatchObject({ state: 'unchanged', rendered: 0 })
    expect(await published('/iati/activities.xml')).toEqual(first)
    expect((await installation.runHere(['import', samples, '--json'])).stdout).toContain('"unchanged":50')
  })

  it('a forced publication maps everything again and still changes no byte', async () => {
    const before = await published('/iati/activities.xml')
    const forced = await installation.runHere(['publish', '--force', '--wait', '--json'])
    expect(JSON.parse(forced.stdout)).toMatchObject({ state: 'unchanged' })
    expect((JSON.parse(forced.stdout) as { rendered: number }).rendered).toBeGreaterThanOrEqual(120)
    expect(await published('/iati/activities.xml')).toEqual(before)
  })

  it('holds a project that maps to an invalid activity, names it, and publishes everything else', async () => {
    const record = (id: number, title: string) =>
      `<project><id>${id}</id><active>true</active><status>active</status><title>${title}</title><goal>100</goal>` +
      `<funding>5.00</funding><numberOfDonations>1</numberOfDonations></project>`
    const file = path.join(installation.dataDir, 'two.xml')
    await writeFile(file, `<projects>${record(501, 'Good at first')}${record(502, 'Good for ever')}</projects>`)
    expect((await installation.runHere(['import', file])).code).toBe(0)
    expect((await installation.runHere(['publish', '--wait'])).code).toBe(0)
    const good = (await published('/iati/activities.xml')).text
    expect(good).toContain('Good at first')

    // A title of nothing but markup leaves no narrative: rule 4.3.1.
    await writeFile(file, `<projects>${record(501, '&lt;p&gt;&lt;/p&gt;')}${record(502, 'Better for ever')}</projects>`)
    expect((await installation.runHere(['import', file])).code).toBe(0)
    expect((await installation.runHere(['publish', '--wait'])).code).toBe(0)
    const after = (await published('/iati/activities.xml')).text
    expect(after).toContain('Good at first')
    expect(after).toContain('Better for ever')
    const { held } = await manifest()
    expect(held).toMatchObject({ count: 1, sample: [{ identifier: 'XE-EXAMPLE-INVENTED-501', stillPublished: true }] })
    expect(held.sample[0]?.notices.length).toBeGreaterThan(0)
    const status = await installation.runHere(['status', '--json'])
    expect(status.code).toBe(1)
    expect(JSON.parse(status.stdout)).toMatchObject({ held: { count: 1 } })
  })

  it('survives kill -9: it serves the last release at once and takes the interrupted run up', async () => {
    const before = await manifest()
    const seeded = await installation.runHere(['seed', '--projects', '60'])
    expect(seeded.code).toBe(0)
    await installation.runHere(['publish'])
    service.kill('SIGKILL')
    expect(await service.ended).toBe('SIGKILL')
    service = await installation.start()
    expect((await manifest()).run).toBeGreaterThan(before.run)
    const runs = (await (await fetch(`${service.baseUrl}/feeds/status.json`)).json()) as { runs: { state: string }[] }
    expect(runs.runs.filter((run) => run.state === 'failed')).toEqual([])
    expect((await manifest()).totals.activities).toBe(before.totals.activities + 60)
  })

  it('stops on SIGTERM within its time and leaves no process', async () => {
    service.kill('SIGTERM')
    expect(await service.ended).toBe(0)
    const record = JSON.parse(
      readFileSync(path.join(installation.dataDir, 'postgres-launcher/server.json'), 'utf8'),
    ) as { clusterDir: string }
    const processesOfCluster = () =>
      spawnSync('ps', ['-eo', 'args'], { encoding: 'utf8' })
        .stdout.split('\n')
        .filter((line) => line.includes(record.clusterDir))
    // The guard of the process that the test before killed waits five seconds before it looks.
    await expect.poll(processesOfCluster).toEqual([])
  })
})

describe('the command line', () => {
  it('prints its help and its version', async () => {
    expect(await installation.run(['--help'])).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^Usage: giving /),
    })
    expect((await installation.run(['--version'])).stdout).toMatch(/^\d+\.\d+\.\d+(-rc\.\d+)?\n$/)
  })
})
