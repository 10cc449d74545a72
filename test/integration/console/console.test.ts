import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { openQueue, queueSettings } from '../../../jobs/queue.js'
import { listAudit } from '../../../src/accounts/sql/audit-events.js'
import { findSource, holdFile, saveSource } from '../../../src/catalogue/sql/import-sources.js'
import { openRuntime } from '../../../src/cli/wiring/runtime.js'
import { sendTestAlarm } from '../../../src/platform/alarms.js'
import { listRuns } from '../../../src/work/sql/runs.js'
import { adoptSchedule, findSchedule } from '../../../src/work/sql/schedules.js'
import { type Console, openConsole } from '../../support/api/console.js'
import { sync } from '../../support/catalogue/sync.js'
import { runCommandLine } from '../../support/commands/command-line.js'
import { readProjectFile } from '../../support/documents/markdown-table.js'
import { testPublisher } from '../../support/release/publishing.js'
import { someOf } from '../../support/runner/some-of.js'
import { redisMissing, startRedis } from '../../support/servers/redis.js'
import { apiKey, records, startUpstream } from '../../support/servers/upstream-server.js'
import { insertProjects, loseProjects } from '../../support/store/catalogue.js'
import { testDatabase } from '../../support/store/database.js'
import { mappingConfig } from '../../support/values/builders.js'
import { temporaryFolder } from '../../support/values/temporary-folder.js'

/** Ids of the releases in the order of their making; the last one is held. */
const ids: string[] = []

const environmentOf = (more: Record<string, string> = {}) => ({
  DATABASE_URL: database.url,
  GIVING_DATA_DIR: dataDir,
  ...more,
})
const database = await testDatabase()
const dataDir = await temporaryFolder()
const publisher = await testPublisher(database.store, { feedsDir: path.join(dataDir, 'feeds') })
const { db } = database.store
await insertProjects(
  db,
  Array.from({ length: 40 }, (_, at) => ({ id: at + 1 })),
)
const publish = async () => {
  ids.push((await publisher.publish()).releaseId ?? '')
  publisher.now = new Date(publisher.now.getTime() + 60_000)
}
await publish()
await db.query(`update project set title = 'Wells & <pumps>' where id = 5`)
await db.query(`update project set goal = goal + 5000 where id = 6; update project set goal = goal - 10 where id = 7`)
await publish()
await loseProjects(database.store, [3])
await publish()
const email = 'partner@example.org'
await runCommandLine(
  `users create --email ${email} --password-stdin`.split(' '),
  environmentOf(),
  'nine louder mountains',
)
for (const limits of ['--scope read --origin https://a.example', '--expires 90d', '--expires 90d']) {
  await runCommandLine(`keys issue --email ${email} ${limits}`.split(' '), environmentOf())
}
await runCommandLine(['keys', 'revoke', '--id', '1'], environmentOf())
await db.query(`update api_key set expires_at = created_at where id = 4`)
const file = path.join(dataDir, 'bad & good.csv')
await writeFile(file, 'id,title,status\n90,Tara,active\n91,,active\n')
await runCommandLine(['import', file, '--kind', 'projects'], environmentOf())
const old = path.join(dataDir, 'old.xml')
const { ref } = mappingConfig.reportingOrg
await writeFile(
  old,
  `<iati-organisations version="2.03"><iati-organisation xml:lang="en"><organisation-identifier>${ref}</organisation-identifier><name><narrative>Old</narrative></name><reporting-org ref="${ref}" type="21"><narrative>Old</narrative></reporting-org><document-link url="https://old.example/" format="text/html"><title><narrative>A &lt;b&gt;</narrative></title><category code="B1"/></document-link></iati-organisation></iati-organisations>`,
)
await runCommandLine(['import', old, '--kind', 'iati'], environmentOf({ REPORTING_ORG_REF: ref }))
const source = { name: 'crm', kind: 'gifts', from: '/srv/gifts & more', schedule: '30 1 * * *', reading: {} }
await saveSource(db, { ...source, complete: true, guard: 5 }, new Date('2026-11-24T01:30:00Z'))
const held = {
  file: 'gifts.csv',
  sha256: 'a'.repeat(64),
  before: 40,
  changed: 3,
  gone: 2,
  examples: ['reference G-<1>'],
}
await holdFile(db, 'crm', { ...held, since: '2026-11-23T01:30:00.000Z' })
await adoptSchedule(db, 'publish', { expression: '0 2 * * *', timezone: 'UTC' }, new Date())

async function consoleOfTest(more?: Record<string, string>): Promise<Console> {
  const opened = await openConsole(environmentOf(more))
  onTestFinished(opened.close)
  return opened
}

describe('the console', { shuffle: false }, () => {
  describe('the console on this machine', () => {
    let one: Console
    beforeAll(async () => {
      one = await openConsole(environmentOf())
    })
    afterAll(() => one.close())

    it('leads to earlier imports where a page is full, and only there', async () => {
      const leads = async () => (await one.ask('/imports')).text.includes('href="/imports?before=')
      expect(await leads()).toBe(false)
      await db.query(`insert into import (actor, origin, started_at, finished_at, state)
        select 'many', 'many', now() - interval '1 day', now(), 'done' from generate_series(1, 100)`)
      expect(await leads()).toBe(true)
      await db.query(`delete from import where actor = 'many'`)
    })

    it('shows the state of the service, without scripts and without asking another host', async () => {
      const shown = {
        '/': [
          ids[1],
          '2 things need you',
          /<h2>.*Waits for you.*A release is held/,
          '0 2 * * * (UTC)',
          '/schedules/publish/pause',
        ],
        '/releases': [
          ...ids,
          '1 published identifier would vanish',
          `/releases/${ids[2]}/approve`,
          `/releases/${ids[0]}/rollback`,
        ],
        [`/releases/difference?from=${ids[0]}&to=${ids[1]}`]: ['US-EIN-123456789-5', '/iati/activities.xml'],
        '/runs': ['3 runs have ended, 0 of them failed, 1 held', /render \d[\d.]* s/],
        '/runs?state=held': ['href="/runs/3"', /(?!.*href="\/runs\/2")/],
        '/runs/3?live=yes': ['1 published identifier would vanish', `/releases/${ids[2]}/approve`, 'every 15 s'],
        [`/releases/${ids[2]}/approve`]: [
          '1 published identifier would vanish',
          'Activities removed',
          'US-EIN-123456789-3',
        ],
        [`/releases/${ids[0]}/rollback`]: [
          'title: Wells &amp;',
          /Largest changes.*US-EIN-123456789-6\b.*US-EIN-123456789-7\b.*US-EIN-123456789-5\b/s,
          '<code>title</code>',
        ],
        '/held': ['<p>none</p>'],
        '/audit?action=records-imported': ['records-imported', 'operator ', 'import 1'],
        '/audit?words=nobody': ['Events, newest first: none.'],
        '/accounts': ['partner@example.org', 'https://a.example'],
        '/imports': ['bad &amp; good.csv', 'href="/imports/1"', 'operator '],
        '/imports/1': [/[0-9a-f]{64}/, 'Problems', '<td>title</td>', 'giving imports undo 1'],
        '/imports/2': [
          /<code>document-link<.code><.th><td>code-unknown<.td>(<td class="number">0<.td>){3}<td class="number">1</,
          'expected a code of DocumentCategory, got &quot;B1&quot;',
          'REPORTING_ORG_NAME says otherwise',
        ],
        '/sources': [
          '/srv/gifts &amp; more',
          'gifts.csv would change 3 and end 2 of 40 records, such as reference G-&lt;1&gt;',
          'href="/sources/crm/approve"',
          'href="/sources/crm/refuse"',
        ],
        '/queues': ['settlement'],
      }
      for (const [address, parts] of Object.entries(shown)) {
        const { status, headers, text } = await one.ask(address)
        expect(status, address).toBe(200)
        for (const part of parts)
          expect(text, address).toMatch(part instanceof RegExp ? part : new RegExp(escaped(part ?? '?')))
        expect(text).not.toMatch(/<script|="https?:\/\//)
        expect(headers).toMatchObject({
          'content-security-policy': expect.stringMatching(
            /^default-src 'none'; style-src 'self'; form-action 'self';/,
          ),
          'cache-control': 'no-store',
        })
      }
    })

    it('shows all of it in words', async () => {
      const addresses = [
        '/',
        '/releases',
        `/releases/difference?from=${ids[0]}&to=${ids[2]}`,
        '/runs?state=held',
        '/runs/1',
        '/runs/3',
      ]
      const confirmations = [`/releases/${ids[2]}/approve`, `/releases/${ids[0]}/rollback`]
      const others = ['/accounts', '/imports', '/imports/1', '/sources', '/queues', '/audit', '/sign-out']
      const pages: string[] = []
      for (const address of [...addresses, ...confirmations, ...others]) {
        pages.push(`${address}\n${wordsOf((await one.ask(address)).text)}`)
      }
      const text = ids
        .reduce((all, id, at) => all.replaceAll(id, `RELEASE-${at + 1}`), pages.join('\n\n'))
        .replaceAll(`${dataDir}/`, '')
        .replaceAll(/operator \S+/g, 'operator NAME')
        .replaceAll(/(?<=operator NAME (?:from|\|) )[\w.-]+(?=,| \| (?:key|account|import) \d)/g, 'HOST')
      await expect(text).toMatchFileSnapshot('../../golden/console.txt')
    })

    it('answers metrics and health', async () => {
      expect((await one.ask('/metrics')).text).toMatch(/^giving_database_up 1$/m)
      expect((await one.ask('/healthz')).text).toBe('{"status":"alive"}')
      expect(JSON.parse((await one.ask('/readyz')).text)).toMatchObject({ ready: true, release: ids[1] })
    })

    it('says what is not there, and refuses what a command would refuse', async () => {
      expect(await one.ask('/nothing')).toMatchObject({ status: 404, text: expect.stringContaining('no such page') })
      for (const address of [
        '/releases/difference?from=a&to=b',
        '/releases/none/approve',
        '/releases/none/rollback',
        '/schedules/nightly/pause',
        '/sources/none/approve',
        '/runs/99',
        '/runs/99/cancel',
        '/runs/x/again',
        '/runs/x',
      ]) {
        expect((await one.ask(address)).status, address).toBe(404)
      }
      expect(await one.confirm(`/releases/${ids[1]}/rollback`, { name: 'Ana' })).toMatchObject({
        status: 409,
        text: expect.stringContaining('is live already'),
      })
      expect((await one.confirm('/publish', { name: 'Ana <b>' })).status).toBe(400)
    })

    it('does not answer under a name of another host, which a page elsewhere could make lead here', async () => {
      expect((await one.ask('/', { host: 'evil.example' })).status).toBe(403)
      expect((await one.ask('/metrics', { host: 'evil.example:8081' })).status).toBe(403)
      expect((await one.ask('/', { host: 'localhost:8081' })).status).toBe(200)
      expect((await one.ask('/', { host: '[::1]:8081' })).status).toBe(200)
    })

    it('does nothing for a form that no page of it has shown', async () => {
      const before = await listRuns(database.store.db, 1)
      const address = '/publish'
      const other = (await one.ask('/schedules/publish/pause')).text
      const [, foreign = ''] = /name="token" value="(\w+)"/.exec(other) ?? []
      const page = 'http://evil.example'
      for (const answer of [
        await one.ask(address, { origin: one.base }, 'name=Ana'),
        await one.ask(address, { origin: one.base }, `name=Ana&token=${foreign}`),
        await one.confirm(address, { name: 'Ana' }, { origin: page }),
        await one.confirm(address, { name: 'Ana' }, { origin: 'null' }),
        await one.confirm(address, { name: 'Ana' }, { origin: '' }),
      ]) {
        expect(answer).toMatchObject({ status: 400, text: expect.stringContaining('the form was not accepted') })
      }
      expect(await listRuns(database.store.db, 1)).toEqual(before)
    })

    it('does what the commands do once an operator has confirmed it, and enters who it was', async () => {
      const { db } = database.store
      const Ana = { name: 'Ana' }
      expect(await one.confirm('/publish', { ...Ana, force: 'yes' })).toMatchObject({
        status: 303,
        headers: { location: expect.stringMatching(/^\/runs\?done=The\+run\+is\+entered/) },
      })
      const [run] = await listRuns(db, 1)
      expect(run).toMatchObject({ state: 'queued', trigger: 'manual', force: true })
      expect((await one.confirm('/schedules/publish/pause', Ana)).status).toBe(303)
      expect((await findSchedule(db, 'publish'))?.pausedAt).toBeInstanceOf(Date)
      expect((await one.ask('/')).text).toContain('/schedules/publish/resume')
      expect((await one.confirm('/schedules/publish/resume', Ana)).status).toBe(303)
      expect(await one.confirm(`/runs/${run?.id}/cancel`, Ana)).toMatchObject({
        status: 303,
        headers: { location: expect.stringMatching(new RegExp(`^/runs/${run?.id}\\?done=`)) },
      })
      const cancelled = (await one.ask(`/runs/${run?.id}`)).text
      for (const part of [
        'failed</span>: an operator cancelled it',
        '<code>run-cancelled</code>',
        'operator Ana (console)',
      ])
        expect(cancelled).toContain(part)
      expect((await one.ask('/')).text).not.toContain('A publication failed')
      expect((await one.confirm(`/runs/${run?.id}/cancel`, Ana)).status).toBe(400)
      expect((await one.confirm(`/runs/${run?.id}/again`, Ana)).status).toBe(303)
      const [again] = await listRuns(db, 1)
      expect(again).toMatchObject({ state: 'queued', trigger: 'manual', force: true })
      expect((await one.ask(`/runs/${again?.id}`)).text).toContain(`/runs/${again?.id}/cancel`)
      const approve = `/releases/${ids[2]}/approve`
      expect(await one.confirm(approve, Ana)).toMatchObject({
        status: 409,
        text: expect.stringContaining('lacks 1 published identifier'),
      })
      const comment = 'project 3 was entered twice, says jo@example.org'
      expect((await one.confirm(approve, { ...Ana, loss: 'yes', comment })).status).toBe(303)
      expect((await publisher.live()).id).toBe(ids[2])
      expect((await one.ask('/runs/3')).text).toContain('held</span>: a person has decided since')
      expect((await one.ask('/runs/3')).text).not.toContain(approve)
      expect(await one.ask(approve)).toMatchObject({ status: 409, text: expect.stringContaining('it is live') })
      expect((await one.confirm(`/releases/${ids[1]}/rollback`, Ana)).status).toBe(303)
      expect((await publisher.live()).id).toBe(ids[1])
      expect((await one.confirm('/sources/crm/approve', Ana)).status).toBe(303)
      expect(await findSource(db, 'crm')).toMatchObject({ held: { approved: true } })
      expect((await one.ask('/sources')).text).not.toContain('/sources/crm/approve')
      const who = { actor: 'operator Ana (console)', origin: '127.0.0.1' }
      expect(await listAudit(db, { since: new Date(0), limit: 9 })).toMatchObject([
        { action: 'records-imported', subject: 'import 2' },
        { ...who, action: 'publication-requested', subject: `run ${run?.id}`, details: { force: true } },
        { ...who, action: 'schedule-paused', subject: 'schedule publish' },
        { ...who, action: 'schedule-resumed', subject: 'schedule publish' },
        { ...who, action: 'run-cancelled', subject: `run ${run?.id}` },
        { ...who, action: 'publication-requested', subject: `run ${again?.id}`, details: { force: true } },
        {
          ...who,
          action: 'release-approved',
          subject: `release ${ids[2]}`,
          details: { acceptLoss: true, withdrawn: 1, comment: 'project 3 was entered twice, says [redacted]' },
        },
        { ...who, action: 'release-rolled-back', subject: `release ${ids[1]}`, details: { from: ids[2] } },
        { ...who, action: 'source-decided', subject: 'source crm', details: { decision: 'approve' } },
      ])
    })
  })

  it('asks the workers for a test alarm, and says what became of it', async () => {
    const silent = await consoleOfTest()
    expect(await silent.confirm('/test-alarm', { name: 'Ana' })).toMatchObject({
      status: 400,
      text: expect.stringContaining('nobody is told of alarms: set ALERT_MAIL_TO or ALERT_WEBHOOK_URL'),
    })
    const one = await consoleOfTest({
      ALERT_WEBHOOK_URL: 'https://alerts.example.org/',
      ALERT_WEBHOOK_SECRET: 'seven-quiet-rivers',
    })
    expect((await one.confirm('/test-alarm', { name: 'Ana' })).status).toBe(303)
    expect((await one.ask('/')).text).toMatch(/by operator Ana \(console\); no worker has sent it yet/)
    await sendTestAlarm(database.store, new Date('2026-11-24T01:30:00Z'), async () => undefined)
    expect((await one.ask('/')).text).toMatch(/it was sent <time[^>]*>2026-11-24 01:30:00 UTC/)
    const [event] = await listAudit(database.store.db, { since: new Date(0), limit: 1 })
    expect(event).toMatchObject({ action: 'alarm-tested', actor: 'operator Ana (console)' })
  })

  it('counts the requests of an address', async () => {
    const one = await consoleOfTest({ RATE_LIMIT_PER_ADDRESS: '2' })
    const statuses = [await one.ask('/held'), await one.ask('/held'), await one.ask('/held')].map(
      ({ status }) => status,
    )
    expect(statuses).toEqual([200, 200, 429])
  })

  it('lets nobody in without tokens by a name that a proxy tells', async () => {
    const one = await consoleOfTest({ TRUST_PROXY: 'loopback' })
    const forwarded = { 'x-forwarded-host': '127.0.0.1', 'x-forwarded-for': '127.0.0.1' }
    expect((await one.ask('/', { host: 'console.example', ...forwarded })).status).toBe(403)
    expect((await one.ask('/', { ...forwarded, 'x-forwarded-host': 'console.example' })).status).toBe(200)
    for (const host of ['localhost:8081', '[::1]:8081', '127.0.0.1'])
      expect((await one.ask('/', { host })).status, host).toBe(200)
  })

  describe('a console with tokens', () => {
    const OPS_TOKEN = 'ana:a-long-token-of-ana, robot:a-long-token-of-robot'
    const basic = (text: string) => ({ authorization: `Basic ${Buffer.from(text).toString('base64')}` })

    it('lets in who has one, by the name it belongs to', async () => {
      const one = await consoleOfTest({ OPS_TOKEN })
      const refused = await one.ask('/')
      expect(refused).toMatchObject({ status: 401, headers: { 'www-authenticate': expect.stringMatching(/^Basic /) } })
      for (const address of ['/metrics', '/queues', '/publish', '/nothing']) {
        expect((await one.ask(address)).status, address).toBe(401)
      }
      for (const address of ['/healthz', '/readyz']) expect((await one.ask(address)).status, address).toBe(200)
      const robot = { authorization: 'Bearer a-long-token-of-robot' }
      expect((await one.ask('/metrics', robot)).status).toBe(200)
      expect((await one.ask('/', basic('ana:a-long-token-of-ana'))).status).toBe(200)
      // Names of hosts say nothing here: who has a token is let in.
      expect((await one.ask('/', { ...robot, host: 'console.example' })).status).toBe(200)
      expect(await one.ask('/sign-out', robot)).toMatchObject({
        ...{ status: 401, text: expect.stringContaining('Signed out') },
        headers: { 'www-authenticate': expect.stringMatching(/^Basic /), 'clear-site-data': '"cookies"' },
      })
      const wrong = ['ana:a-long-token-of-robot', 'robot:a-long-token-of-ana', 'ana:', ':a-long-token-of-ana', 'ana']
      for (const text of wrong) expect((await one.ask('/', basic(text))).status, text).toBe(401)
      await one.confirm('/schedules/publish/pause', { name: 'Somebody' }, basic('ana:a-long-token-of-ana'))
      await one.confirm('/schedules/publish/resume', {}, robot)
      const events = await listAudit(database.store.db, { since: new Date(0), limit: 2 })
      expect(events.map(({ actor }) => actor)).toEqual(['operator ana (console)', 'operator robot (console)'])
    })

    it('takes a form only from the operator to whom its page was shown', async () => {
      const one = await consoleOfTest({ OPS_TOKEN })
      const [ana, robot] = [basic('ana:a-long-token-of-ana'), basic('robot:a-long-token-of-robot')]
      const [, token = ''] = /name="token" value="(\w+)"/.exec((await one.ask('/publish', ana)).text) ?? []
      const send = (who: object) => one.ask('/publish', { origin: one.base, ...who }, `token=${token}`)
      expect(await send(robot)).toMatchObject({ status: 400, text: expect.stringContaining('of another operator') })
      expect((await send(ana)).status).toBe(303)
    })

    it('tells without a token only that it is there: docs/reference/keyless-routes.md names both addresses', async () => {
      const one = await consoleOfTest({ OPS_TOKEN })
      const open = ['/healthz', '/readyz']
      for (const address of open) expect([address, (await one.ask(address)).status]).toEqual([address, 200])
      const { text } = await one.ask('/', basic('ana:a-long-token-of-ana'))
      const linked = [...text.matchAll(/(?:href|action|src)="(\/[^"]*)"/g)].map(([, address = '']) => address)
      expect(linked).toEqual(expect.arrayContaining(['/releases', '/audit', '/publish']))
      const closed = [...linked, '/metrics', '/favicon.ico', '/runs/1', '/none', '/healthz/x', '/healthz//']
      for (const address of closed) expect([address, (await one.ask(address)).status]).toEqual([address, 401])
      expect(readProjectFile('docs/reference/keyless-routes.md')).toContain(
        'On the port of the console only `/healthz` and `/readyz` need no token: `test/integration/console/console.test.ts`.',
      )
    })

    it('keeps who guesses waiting, and nobody who has a token', async () => {
      const one = await consoleOfTest({ OPS_TOKEN })
      const guesses = Array.from({ length: 10 }, () => one.ask('/', { authorization: 'Bearer guess' }))
      expect((await Promise.all(guesses)).map(({ status }) => status)).toEqual(Array(10).fill(401))
      const another = await one.ask('/', { authorization: 'Bearer guess' })
      expect(another).toMatchObject({ status: 429, headers: { 'retry-after': '60' } })
      expect((await one.ask('/', basic('ana:a-long-token-of-ana'))).status).toBe(200)
      expect((await one.ask('/metrics', { authorization: 'Bearer a-long-token-of-robot' })).status).toBe(200)
    })

    it('counts wrong tokens by the address that a proxy names, where TRUST_PROXY names the proxy', async () => {
      const guess = (one: Console, from: string) =>
        one.ask('/', { authorization: 'Bearer guess', 'x-forwarded-for': from }).then(({ status }) => status)
      const known = await consoleOfTest({ OPS_TOKEN, TRUST_PROXY: 'loopback' })
      for (let at = 0; at < 10; at++) expect(await guess(known, '203.0.113.7')).toBe(401)
      expect(await guess(known, '203.0.113.7')).toBe(429)
      expect(await guess(known, '203.0.113.8')).toBe(401)
      await known.confirm(
        '/schedules/publish/pause',
        {},
        { ...basic('ana:a-long-token-of-ana'), 'x-forwarded-for': '203.0.113.9' },
      )
      await known.confirm('/schedules/publish/resume', {}, basic('ana:a-long-token-of-ana'))
      const events = await listAudit(database.store.db, { since: new Date(0), limit: 2 })
      expect(events.map(({ origin }) => origin)).toEqual(['203.0.113.9', '127.0.0.1'])
      // Of anybody else the header is not believed: it would make each guess the first one.
      const stranger = await consoleOfTest({ OPS_TOKEN, TRUST_PROXY: '192.0.2.1' })
      for (let at = 0; at < 10; at++) expect(await guess(stranger, `203.0.113.${at}`)).toBe(401)
      expect(await guess(stranger, '203.0.113.99')).toBe(429)
    })

    it('counts no requests of who has a token, since a proxy has one address for all', async () => {
      const one = await consoleOfTest({ OPS_TOKEN, RATE_LIMIT_PER_ADDRESS: '2' })
      const statuses: number[] = []
      for (let at = 0; at < 4; at++) statuses.push((await one.ask('/held', basic('ana:a-long-token-of-ana'))).status)
      expect(statuses).toEqual([200, 200, 200, 200])
    })

    it('answers a form of another type with 415', async () => {
      const one = await consoleOfTest({ OPS_TOKEN })
      for (const type of ['application/json', 'text/plain', 'multipart/form-data; boundary=x']) {
        const answer = await one.ask('/publish', { ...basic('ana:a-long-token-of-ana'), 'content-type': type }, '{}')
        expect([type, answer.status]).toEqual([type, 415])
      }
    })

    it('is needed where others than this machine can reach it', async () => {
      const serve = (environment: Record<string, string>) =>
        runCommandLine(['api'], { DATABASE_URL: database.url, GIVING_DATA_DIR: dataDir, PORT: '0', ...environment })
      expect(await serve({ OPS_HOST: '0.0.0.0' })).toMatchObject({
        code: 2,
        stderr: expect.stringMatching(
          /OPS_TOKEN: expected who may use the console, as NAME:TOKEN, since OPS_HOST is 0\.0\.0\.0/,
        ),
      })
      expect(await serve({ OPS_HOST: '0.0.0.0', OPS_TOKEN: 'short:token' })).toMatchObject({
        code: 2,
        stderr: expect.stringMatching(/OPS_TOKEN: expected names and tokens .*, got "\[redacted\]"/),
      })
    })
  })

  it('a port that is taken ends the start when it was asked for; the default one is replaced by a free one', async () => {
    const first = await consoleOfTest()
    await expect(openConsole(environmentOf({ OPS_PORT: new URL(first.base).port }))).rejects.toMatchObject({
      code: 'configuration-invalid',
      message: expect.stringMatching(/another program is listening there; set OPS_PORT or OPS_HOST$/),
    })
    // Whoever has the default port, one of both gets another one.
    const [one, other] = [await consoleOfTest({ OPS_PORT: '' }), await consoleOfTest({ OPS_PORT: '' })]
    expect(one.base).not.toBe(other.base)
    expect((await other.ask('/healthz')).status).toBe(200)
  })

  describe.each(someOf(['PostgreSQL', 'Redis'] as const, 2))('queues on %s', (engine) => {
    it('are shown with their failed jobs', async (context) => {
      const missing = engine === 'Redis' ? redisMissing() : undefined
      if (missing) return context.skip(missing)
      const redis = engine === 'Redis' ? await startRedis() : undefined
      if (redis) onTestFinished(redis.stop)
      const environment = redis ? { REDIS_URL: redis.url } : undefined
      const one = await consoleOfTest(environment)
      await failJob(environment)
      const page = await one.ask('/queues')
      expect(page.text).toMatch(
        /<th scope="row">work<\/th><td>settlement<\/td>[\s\S]*the mail to \[redacted\] was refused/,
      )
      expect(page.text).toContain(`The queue is in ${engine === 'Redis' ? 'redis' : 'postgres'}`)
    })

    async function failJob(environment: Record<string, string> | undefined): Promise<void> {
      const runtime = await openRuntime(
        { DATABASE_URL: database.url, GIVING_DATA_DIR: dataDir, LOG_LEVEL: 'silent', ...environment },
        ['queue'],
        { signal: new AbortController().signal },
      )
      const settings = queueSettings(runtime)
      const queue = await openQueue({ ...settings, attempts: 1 }, runtime.log)
      const worker = await queue.work('settlement', 1, async () => {
        throw new Error('the mail to jane@example.org was refused')
      })
      await queue.add({ queue: 'settlement', name: 'work', data: {} })
      await expect.poll(() => queue.failed(['settlement'], 1)).toHaveLength(1)
      await worker.close()
      await queue.close()
      await runtime[Symbol.asyncDispose]()
    }
  })

  it('of a mirror shows how long each sync took, and how old what it mirrors is', async () => {
    const mirror = await testDatabase()
    const upstream = await startUpstream({ records: records(3) })
    onTestFinished(upstream.close)
    const times = [0, 1, 2, 3].map((minutes) => new Date(Date.UTC(2026, 10, 24, 3, minutes)))
    const clock = () => times.shift() ?? new Date(Date.UTC(2026, 10, 24, 3, 4, 30))
    expect(await sync(mirror.store, upstream.url, 'full', { clock })).toMatchObject({ state: 'done', created: 3 })
    const settings = { DATABASE_URL: mirror.url, UPSTREAM_URL: upstream.url, UPSTREAM_API_KEY: apiKey }
    const { text } = await (await consoleOfTest(settings)).ask('/')
    expect(text).toContain('Sync lag')
    const [, row = ''] = /<h2 id="syncs">.*?<tr>(<th scope="row">1<.*?)<\/tr>/s.exec(text) ?? []
    expect([...row.matchAll(/<td class="number">([^<]*)</g)].map(([, cell]) => cell)).toEqual([
      '3 min 30 s',
      '3',
      '0',
      '0',
    ])
  })

  function escaped(text: string): string {
    return text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')
  }

  /** What a person reads below the links to the sections, a line for each part and row; what no two runs have in common is left out. */
  function wordsOf(page: string): string {
    const [, main = ''] = /<main[^>]*>(.*)<\/main>/s.exec(page) ?? []
    return main
      .replaceAll(/<time datetime="\d{4}-[^"]+Z">\d{4}-[\d: -]+ UTC<\/time>/g, 'INSTANT')
      .replaceAll(/<\/(?:th|td|dt|label|option)>/g, ' | ')
      .replaceAll(/<[^>]+>/g, '')
      .replaceAll(/\S+ inline/g, 'OWNER')
      .replaceAll(/\b[\d.]+ (?:bytes|kB|MB)\b/g, 'BYTES')
      .replaceAll(/\b(?:[\d.]+ (?:s|h|days)|\d+ min \d+ s)\b/g, 'DURATION')
      .replaceAll(/(?<![\w-])20\d\d-\d\d-\d\d(?!\d*T)/g, 'DAY')
      .replaceAll(/(?<![\w-])\d{4,}(?![\w-])/g, 'BYTES')
  }
})
