import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { openQueue, queueSettings } from '../../../jobs/queue.js'
import { readConfig } from '../../../src/platform/config/config.js'
import { createLog } from '../../../src/platform/observability/log.js'
import { newInstallation } from '../../support/commands/cli.js'
import { runCommandLine } from '../../support/commands/command-line.js'
import { type CommandStore, commandStore } from '../../support/commands/command-store.js'
import { type BucketServer, startBucketServer } from '../../support/servers/bucket-server.js'
import { RegistryServer } from '../../support/servers/registry-server.js'
import { insertProjects } from '../../support/store/catalogue.js'

const realRef = 'GB-CHC-1164883'

describe('processes of a store whose publisher differs', () => {
  let ours: CommandStore
  let registry: RegistryServer
  let bucket: BucketServer

  beforeAll(async () => {
    ours = await commandStore({
      ...{ REPORTING_ORG_REF: realRef, DEFAULT_CURRENCY: 'EUR', PAYMENT_GATEWAY: 'stripe' },
      ...{ STRIPE_SECRET_KEY: 'sk_live_1', STRIPE_PUBLISHABLE_KEY: 'pk_live_1' },
      DONOR_KEYS: `2026:${Buffer.alloc(32, 1).toString('base64')}`,
    })
    registry = await new RegistryServer().listen()
    registry.addOrganisation(realRef, 'giving', 'admin')
    bucket = await startBucketServer()
    await insertProjects(ours.store.db, [{ id: 7 }])
    // Hubs hear of reports.
    await ours.store.db.query(
      `insert into progress_report (id, project_id, title, published_at, updated_at, content_html, url)
        values (1, 7, 'Water flows', '2026-02-01', '2026-02-01', '<p>Well dug.</p>', 'https://giving.example/reports/1')`,
    )
    expect((await ours.run('publish --inline')).code).toBe(0)
  })
  afterAll(async () => {
    await registry[Symbol.asyncDispose]()
    await bucket[Symbol.asyncDispose]()
    await ours.remove()
  })

  it('takes no donations, and answers readers, while a variable differs', async () => {
    const asked = async (changes: Record<string, string>) => {
      const { LOG_LEVEL: _, ...environment } = ours.environment
      const installation = await newInstallation({ ...environment, ...changes })
      onTestFinished(installation.remove)
      const service = await installation.serve('api', 'listening on ')
      const [, base = ''] = /Server listening at (http:[^"]+)"/.exec(service.output()) ?? []
      const key = await credentials(ours, base)
      const token = await fetch(`${base}/api/secure/givingservice/clienttoken?${key}`)
      const files = await Promise.all(
        ['/iati/activities.xml', '/feeds/manifest.json', `/api/public/projectservice/projects/7?${key}`].map(
          async (address) => (await fetch(base + address)).status,
        ),
      )
      const [, consoleUrl = ''] = /console on (http:[^\s"]+)/.exec(service.output()) ?? []
      const page = await (await fetch(consoleUrl)).text()
      const answer = { status: token.status, body: await token.text(), files, page, log: service.output() }
      service.kill('SIGTERM')
      await service.ended
      return answer
    }
    expect(await asked({})).toMatchObject({ status: 200, files: [200, 200, 200] })
    const closed = await asked({ REPORTING_ORG_REF: 'GB-CHC-1164884' })
    expect(closed).toMatchObject({ status: 503, files: [200, 200, 200] })
    expect(closed.page).toMatch(/The publisher differs[\s\S]*<p>publishing, registering and donations have stopped/)
    expect(closed.body).not.toMatch(/REPORTING_ORG|GB-CHC/)
    expect(closed.log).toContain('no donations are taken: publishing, registering and donations have stopped')
  }, 60_000)

  it('tells nobody of a release while a variable differs, but its operator', async () => {
    const told: string[] = []
    const listener = createServer((request, response) => {
      void text(request).then((body) => {
        told.push(`${request.url} ${body}`)
        response.end()
      })
    })
    await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve))
    const at = `http://127.0.0.1:${(listener.address() as AddressInfo).port}`
    const { LOG_LEVEL: _, ...environment } = ours.environment
    const settings = {
      ...{ ...environment, WEBSUB_HUB: `${at}/hub`, LICENCE_ID: 'cc-by', ALERT_WEBHOOK_URL: `${at}/alerts` },
      ...{ ALERT_WEBHOOK_SECRET: 'a secret of sixteen'.replaceAll(' ', '-'), REGISTRY_SYNC: 'true' },
      ...{ REGISTRY_URL: registry.url, REGISTRY_TOKEN: registry.issueToken(), FEEDS_S3_BUCKET: 'giving' },
      ...{ FEEDS_S3_ENDPOINT: bucket.settings.endpoint ?? '', FEEDS_S3_ACCESS_KEY_ID: 'S3RVER' },
      FEEDS_S3_SECRET_ACCESS_KEY: 'S3RVER',
    }
    const config = readConfig(settings, ['queue'])
    await using queue = await openQueue(queueSettings({ config, databaseUrl: ours.url }), createLog('silent', 'json'))
    /** A worker that has done each row of its work once. */
    const work = async (changes: Record<string, string>) => {
      const installation = await newInstallation({ ...settings, ...changes })
      onTestFinished(installation.remove)
      const worker = await installation.serve('worker')
      for (const schedule of ['registry', 'alarms', 'bucket', 'hub']) {
        await queue.add({ queue: 'settlement', name: 'tick', data: { schedule } })
      }
      while (!told.some((one) => one.startsWith('/alerts'))) await sleep(100)
      for (;;) {
        const { settlement = {} } = await queue.counts(['settlement'])
        if ((settlement.active ?? 0) + (settlement.waiting ?? 0) === 0) break
        await sleep(100)
      }
      worker.kill('SIGTERM')
      expect(await worker.ended).toBe(0)
    }
    await work({ DEFAULT_CURRENCY: 'USD' })
    expect(bucket.writes()).toEqual([])
    expect(registry.datasets).toEqual([])
    expect(told.filter((one) => one.startsWith('/hub'))).toEqual([])
    const alarms = told.map((one) => JSON.parse(one.slice('/alerts '.length)) as { alarms: { cause: string }[] })
    expect(alarms.flatMap((one) => one.alarms)).toContainEqual(
      expect.objectContaining({ cause: 'publisher', message: expect.stringContaining('DEFAULT_CURRENCY is USD') }),
    )
    told.length = 0
    await work({})
    expect(bucket.writes().length).toBeGreaterThan(0)
    expect(registry.datasets.length).toBeGreaterThan(0)
    expect(told.join()).toContain('/hub hub.mode=publish')
    listener.close()
  }, 120_000)
})

/** An account that may donate, and its token, as a query. */
async function credentials({ run, environment }: CommandStore, base: string): Promise<string> {
  const user = { email: `${Math.random().toString(36).slice(2)}@example.org`, password: 'seven quiet rivers run' }
  const create = ['users', 'create', '--email', user.email, '--password-stdin', '--json']
  const { apiKey } = JSON.parse((await runCommandLine(create, environment, `${user.password}\n`)).stdout) as {
    apiKey: string
  }
  await run(`users grant donations --email ${user.email}`)
  const answer = await fetch(`${base}/api/userservice/tokens`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ auth_request: { user, api_key: apiKey } }),
  })
  const { auth_response } = (await answer.json()) as { auth_response: { access_token: string } }
  return `api_key=${apiKey}&api_token=${auth_response.access_token}`
}
