import { createHmac } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { alarms } from '../../../jobs/alarms.js'
import type { WorkDeps } from '../../../jobs/work-row.js'
import type { Cause } from '../../../src/kernel/conditions.js'
import { type AlarmChange, askTestAlarm, findTestAlarm } from '../../../src/platform/alarms.js'
import { readConfig } from '../../../src/platform/config/config.js'
import { openStore } from '../../../src/platform/database/store.js'
import { createLog } from '../../../src/platform/observability/log.js'
import { startMailServer } from '../../support/servers/mail-server.js'
import { testDatabase } from '../../support/store/database.js'

const secret = 'seven quiet rivers'.replaceAll(' ', '-')

describe('alarms', async () => {
  const { store, url: databaseUrl } = await testDatabase()
  let now: Date
  let causes: Cause[]

  beforeEach(async () => {
    await store.db.query("delete from store_fact where name = 'open-alarms'")
    now = new Date('2026-11-22T02:00:00Z')
    causes = []
  })

  /** A receiver of webhooks that answers with this status. */
  async function receiver() {
    const received: { signature: unknown; body: string; alarms: AlarmChange[] }[] = []
    const answers = { status: 204 }
    const server = createServer(async (request, response) => {
      let body = ''
      for await (const chunk of request) body += String(chunk)
      const { alarms: told } = JSON.parse(body) as { alarms: AlarmChange[] }
      received.push({ signature: request.headers['x-giving-signature'], body, alarms: told })
      response.writeHead(answers.status).end()
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => void server.close())
    return { received, answers, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook` }
  }

  /** What the row of work does each minute under these variables. */
  function ticking(environment: Record<string, string>, database = store) {
    const config = readConfig(environment, ['alerts', 'mail'])
    const needs = async () => causes
    const deps = { config, store: database, needs, clock: () => now, log: createLog('silent') }
    const open = alarms.open(deps as unknown as WorkDeps)
    const { signal } = new AbortController()
    return async () => await open?.tick?.({ signal } as Parameters<NonNullable<typeof open.tick>>[0])
  }
  const later = (hours: number) => {
    now = new Date(now.getTime() + hours * 3_600_000)
  }

  it('are told once for each cause, again after a day, and when they are over; signed', async () => {
    const { received, url } = await receiver()
    const tick = ticking({ ALERT_WEBHOOK_URL: url, ALERT_WEBHOOK_SECRET: secret })
    expect(await tick()).toBe('0 told')
    causes = [
      { cause: 'run-failed', message: 'run 7 failed' },
      { cause: 'books', message: 'one day differs' },
      { cause: 'books', message: 'another differs' },
    ]
    expect(await tick()).toBe('2 told')
    later(1)
    causes[0] = { cause: 'run-failed', message: 'run 8 failed' }
    expect(await tick()).toBe('0 told')
    later(23)
    expect(await tick()).toBe('2 told')
    causes = causes.slice(0, 1)
    expect(await tick()).toBe('1 told')
    expect(await tick()).toBe('0 told')
    const since = '2026-11-22T02:00:00.000Z'
    const books = { cause: 'books', message: 'one day differs; another differs', since }
    expect(received.map((one) => one.alarms)).toEqual([
      [
        { cause: 'run-failed', message: 'run 7 failed', state: 'new', since },
        { ...books, state: 'new' },
      ],
      [
        { cause: 'run-failed', message: 'run 8 failed', state: 'reminder', since },
        { ...books, state: 'reminder' },
      ],
      [{ ...books, state: 'over' }],
    ])
    for (const { signature, body } of received) {
      expect(signature).toBe(`sha256=${createHmac('sha256', secret).update(body).digest('hex')}`)
    }
  })

  it('that cannot be sent are sent when they can', async () => {
    const { received, answers, url } = await receiver()
    const tick = ticking({ ALERT_WEBHOOK_URL: url, ALERT_WEBHOOK_SECRET: secret })
    causes = [{ cause: 'run-failed', message: 'run 7 failed' }]
    answers.status = 500
    await expect(tick()).rejects.toThrow('status 500')
    answers.status = 204
    expect(await tick()).toBe('1 told')
    expect(received.map((one) => one.alarms[0]?.state)).toEqual(['new', 'new'])
  })

  it('are mailed, and one way is enough', async () => {
    const server = await startMailServer()
    const tick = ticking({
      ...{ ALERT_WEBHOOK_URL: 'http://127.0.0.1:9/', ALERT_WEBHOOK_SECRET: secret },
      ...{ ALERT_MAIL_TO: 'operator@example.org', SMTP_URL: server.url, MAIL_FROM: 'giving@example.org' },
    })
    causes = [{ cause: 'run-failed', message: 'run 7 failed' }]
    expect(await tick()).toBe('1 told')
    expect(await tick()).toBe('0 told')
    expect(server.taken.map(({ to }) => to)).toEqual([['operator@example.org']])
    expect(server.taken[0]?.raw).toMatch(/Subject: giving needs a person[\s\S]*new: run 7 failed/)
  })

  it('are tested when a person asks for it: once, by every way, with what became of it', async () => {
    const { received, answers, url } = await receiver()
    const tick = ticking({ ALERT_WEBHOOK_URL: url, ALERT_WEBHOOK_SECRET: secret })
    await askTestAlarm(store.db, 'operator ana', now)
    answers.status = 500
    expect(await tick()).toBe('0 told, and a test')
    const asked = { askedAt: now.toISOString(), by: 'operator ana' }
    expect(await findTestAlarm(store.db)).toEqual({ ...asked, failure: 'ALERT_WEBHOOK_URL answered with status 500' })
    answers.status = 204
    expect(await tick()).toBe('0 told')
    await askTestAlarm(store.db, 'operator ana', now)
    expect([await tick(), await tick()]).toEqual(['0 told, and a test', '0 told'])
    expect(await findTestAlarm(store.db)).toEqual({ ...asked, toldAt: now.toISOString() })
    const message = 'this is a test, asked for by operator ana; nothing has to be done'
    expect(received.at(-1)?.alarms).toEqual([{ cause: 'test', message, state: 'test', since: asked.askedAt }])
    expect(received).toHaveLength(2)
  })

  it('are told once while the database takes no writes, and recorded when it does again', async () => {
    const { received, url } = await receiver()
    const switchReadOnly = async (state: 'on' | 'off') => {
      await store.db.query(`begin; set transaction read write; do $$ begin
        execute format('alter database %I set default_transaction_read_only = ${state}', current_database()); end $$; commit`)
    }
    await switchReadOnly('on')
    // The setting is that of new sessions.
    await using readOnly = openStore({ url: databaseUrl, max: 1, applicationName: 'giving test' })
    const tick = ticking({ ALERT_WEBHOOK_URL: url, ALERT_WEBHOOK_SECRET: secret }, readOnly)
    causes = [{ cause: 'run-failed', message: 'run 7 failed' }]
    const recorded = async () => (await store.db.query("select from store_fact where name = 'open-alarms'")).rowCount
    for (let count = 0; count < 5; count++) await tick()
    expect(received).toHaveLength(1)
    expect(await recorded()).toBe(0)
    await switchReadOnly('off')
    await expect.poll(async () => [await tick(), await recorded()]).toEqual(['0 told', 1])
    expect(received).toHaveLength(1)
  })

  it.each([
    [{ ALERT_WEBHOOK_URL: 'https://alerts.example.org/' }, /ALERT_WEBHOOK_SECRET/],
    [{ ALERT_MAIL_TO: 'operator@example.org' }, /SMTP_URL/],
  ])('are refused half configured: %o', (environment, message) => {
    expect(() => readConfig(environment, ['alerts'])).toThrow(message)
  })

  it('are not looked for where nobody is to be told', async () => {
    expect(alarms.schedules(readConfig({}, ['alerts', 'mail']))).toEqual({})
    expect(await ticking({ ALERT_WEBHOOK_SECRET: 'short' })()).toBeUndefined()
  })
})
