import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  type EmbeddedPostgres,
  openEmbeddedPostgres,
} from '../../../src/platform/embedded-postgres/embedded-postgres.js'
import { type Installation, newInstallation, type RunningService } from '../../support/commands/cli.js'

const realRef = 'GB-CHC-1164883'
const ownProject =
  '<projects><project><id>7</id><active>true</active><status>active</status><title>A well in Kisumu</title>' +
  '<goal>100</goal><funding>5.00</funding><numberOfDonations>1</numberOfDonations></project></projects>'

describe('giving start with a real identifier on an empty folder', () => {
  let installation: Installation
  beforeAll(async () => {
    installation = await newInstallation({ REPORTING_ORG_REF: realRef })
  })
  afterAll(async () => await installation.remove(), 60_000)

  it('invents nothing and publishes nothing', async () => {
    const service = await installation.serve('start', 'the store holds no project that can be published')
    const [, address] = /index page: +(http:[^\s"]+?)\/["\n]/.exec(service.output()) ?? []
    expect(service.output()).not.toContain('invented')
    expect((await fetch(`${address}/iati/activities.xml`)).status).toBe(503)
    service.kill('SIGTERM')
    expect(await service.ended).toBe(0)
  }, 120_000)
})

describe('a trial whose operator sets the real identifier', () => {
  let trial: Installation
  let real: Installation
  let server: EmbeddedPostgres
  let api: RunningService
  let catalogue = ''
  const trialPages = new Map<string, boolean>()
  beforeAll(async () => {
    trial = await newInstallation({ LICENCE_ID: 'cc-by' })
    const settings = { GIVING_DATA_DIR: trial.dataDir, REPORTING_ORG_REF: realRef, BASE_URL: 'https://giving.example' }
    // Nobody answers there: neither may be asked.
    const others = { LICENCE_ID: 'cc-by', REGISTRY_URL: 'http://127.0.0.1:9', REGISTRY_TOKEN: 'token' }
    real = await newInstallation({ ...settings, ...others })
    // Kept running, or each command would start it and stop it.
    server = await openEmbeddedPostgres({ dataDir: trial.dataDir })
    const service = await trial.start()
    for (const page of ['/', '/projects', '/projects/9000001', '/quality', '/status', '/developers', '/fr/changes']) {
      const text = await (await fetch(service.baseUrl + page)).text()
      trialPages.set(page, /<p class="trial" role="note">[^<]*(?:invented|inventés)\./.test(text))
    }
    catalogue = await (await fetch(`${service.baseUrl}/llms.txt`)).text()
    service.kill('SIGTERM')
    expect(await service.ended).toBe(0)
    api = await real.serve('api', 'Server listening at ')
  }, 120_000)
  afterAll(async () => {
    await real.remove()
    await server.release()
    await trial.remove()
  }, 120_000)

  const served = async (address: string) => {
    const [, base] = /Server listening at (http:[^"]+)"/.exec(api.output()) ?? []
    const response = await fetch(`${base}${address}`)
    return { status: response.status, text: await response.text() }
  }
  const activities = () => served('/iati/activities.xml')

  it('says on every page of the trial that its data is invented, and states no licence', () => {
    expect([...trialPages].filter(([, isMarked]) => !isMarked)).toEqual([])
    expect(catalogue).toContain('The publisher has not stated a licence.')
  })

  it('seeds no invented projects under the real identifier', async () => {
    const seeded = await real.runHere(['seed', '--projects', '3'])
    expect([seeded.code, seeded.stderr]).toEqual([
      2,
      expect.stringContaining(`invented projects are only for trials, and REPORTING_ORG_REF is ${realRef}`),
    ])
    expect((await trial.runHere(['seed', '--projects', '3'])).code).toBe(0)
  }, 120_000)

  it('publishes and registers nothing while the store has demo data, and says why and what to do', async () => {
    const why = `the store has 123 demo projects, which are invented, and REPORTING_ORG_REF is ${realRef}: remove them with giving reset-demo`
    const published = await real.runHere(['publish', '--inline', '--json'])
    expect(published.code).toBe(2)
    expect(JSON.parse(published.stdout)).toMatchObject({ error: { code: 'demo-data-present', message: why } })
    const { status: answered, text } = await activities()
    expect([answered, text.includes(realRef), text.includes('XE-EXAMPLE-INVENTED-9000001')]).toEqual([200, false, true])
    expect(await real.runHere(['registry', 'register'])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining(why),
    })
    const status = await real.runHere(['status', '--json'])
    expect(status.code).toBe(1)
    expect((JSON.parse(status.stdout) as { needs: string[] }).needs).toContain(why)
    const { stdout } = await real.runHere(['doctor'])
    expect(stdout).toMatch(new RegExp(`^FIX +database: +${why.replaceAll(/[()]/g, '.')}`, 'm'))
  }, 120_000)

  it('withdraws the demo with giving reset-demo, and publishes only what is its own', async () => {
    const reset = await real.runHere(['reset-demo'])
    expect(reset).toMatchObject({ code: 0, stdout: expect.stringMatching(/removed 123 demo projects.* is withdrawn/) })
    expect((await activities()).status).toBe(503)
    const file = path.join(trial.dataDir, 'own.xml')
    await writeFile(file, ownProject)
    expect((await real.runHere(['import', file])).code).toBe(0)
    const published = await real.runHere(['publish', '--inline', '--json'])
    expect(JSON.parse(published.stdout)).toMatchObject({ state: 'published' })
    const { text } = await activities()
    expect(text.match(/<iati-identifier>[^<]+/g)).toEqual([`<iati-identifier>${realRef}-7`])
    expect(text).not.toContain('XE-EXAMPLE-INVENTED')
    // Its variables were lost.
    const lost = await trial.runHere(['publish', '--inline'])
    expect([lost.code, lost.stderr + lost.stdout]).toEqual([
      2,
      expect.stringContaining(
        `REPORTING_ORG_REF is not set, and this store has ${realRef}: set REPORTING_ORG_REF=${realRef}`,
      ),
    ])
    const seeded = await trial.runHere(['seed', '--projects', '3'])
    expect([seeded.code, seeded.stderr]).toEqual([2, expect.stringContaining(`this store publishes as ${realRef}`)])
    expect((await served('/projects')).text).not.toContain('class="trial"')
    const status = JSON.parse((await real.runHere(['status', '--json'])).stdout) as { needs: string[] }
    expect(status.needs.filter((need) => need.includes('demo'))).toEqual([])
  }, 120_000)
})
