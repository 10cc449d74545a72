import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import type { FastifyInstance } from 'fastify'
import pino from 'pino'
import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { JobCall } from '../../../jobs/queue-worker.js'
import type { WorkDeps } from '../../../jobs/work-row.js'
import { subscriptions } from '../../../src/extensions/subscriptions/extension.js'
import { languages } from '../../../src/http/pages/words/words.js'
import { DonorVault } from '../../../src/money/donors/donor-vault.js'
import { readConfig } from '../../../src/platform/config/config.js'
import { createReleaseReader } from '../../../src/release/read/release-reader.js'
import { pruneDatabase } from '../../../src/release/sql/pruning.js'
import { type TestApi, testApi } from '../../support/api/api.js'
import { testConfig } from '../../support/api/api-config.js'
import { forkStripped } from '../../support/commands/cli.js'
import { runCommandLine } from '../../support/commands/command-line.js'
import { testDonors, testPayments } from '../../support/money/donations.js'
import { mailSubscribers } from '../../support/release/mail-subscribers.js'
import { type Publisher, testPublisher } from '../../support/release/publishing.js'
import { type MailServer, readMail, startMailServer, type TakenMail } from '../../support/servers/mail-server.js'
import { insertProjects } from '../../support/store/catalogue.js'
import { testDatabase } from '../../support/store/database.js'
import { everyRow } from '../../support/store/every-row.js'
import { storeWells } from '../../support/store/wells-store.js'
import { temporaryFolder } from '../../support/values/temporary-folder.js'

const lina = 'lina.findme@example.org'
const { en, fr } = languages
const updates = 'https://giving.example/projects/wells-for-tara/updates/?subid='

describe('subscriptions to the reports of a project', async () => {
  const { store, url } = await testDatabase()
  let publisher: Publisher
  let api: TestApi
  let app: FastifyInstance
  const warnings: string[] = []

  beforeAll(async () => {
    await storeWells(store.db)
    publisher = await testPublisher(store)
    await publisher.publish()
    api = await testApi(store, {
      payments: testPayments(store),
      config: { ...testConfig, publisherName: 'Giving Platform', sendsMail: true },
      ...releasesOf(),
    })
    app = api.app
  })
  beforeEach(async () => {
    api.now = new Date('2026-11-21T09:00:00Z')
    for (const table of ['subscription', 'followed_project', 'attempt_count', 'asked_mail']) {
      await store.db.query(`delete from ${table}`)
    }
    await store.db.query('delete from progress_report where id > 9002')
    await publish()
  })

  const releasesOf = () => ({ releases: createReleaseReader(publisher.feedsDir) })
  const publish = async () => {
    publisher.now = new Date(publisher.now.getTime() + 60_000)
    await publisher.publish()
  }
  const report = async (id: number, at = '2026-11-20T08:00:00Z') =>
    await store.db.query(
      `insert into progress_report (id, project_id, title, author_name, published_at, updated_at, content_html, url)
        values ($1::bigint, 2045, 'Well number ' || $1::bigint, 'Amina Sesay', $2, $2, '<p>Good news.</p>', $3)`,
      [id, at, `${updates}${id}`],
    )
  const mail = async (server: MailServer) =>
    await mailSubscribers(
      { store, feedsDir: publisher.feedsDir, smtpUrl: server.url },
      { clock: () => api.now, warn: (details, message) => void warnings.push(message + JSON.stringify(details)) },
    )
  const post = async (address: string, payload: string, remoteAddress = '127.0.0.1', type = form) =>
    await app.inject({ method: 'POST', url: address, headers: { 'content-type': type }, payload, remoteAddress })
  const form = 'application/x-www-form-urlencoded'
  const ask = async (email = lina, fields: Record<string, string> = {}, remoteAddress?: string) => {
    const payload = String(new URLSearchParams({ email, project: '2045', language: 'en', website: '', ...fields }))
    return await post('/subscriptions', payload, remoteAddress)
  }
  const linkIn = (taken: TakenMail | undefined) =>
    / https:\/\/giving\.example(\/subscriptions\/[0-9a-z]{40})\r?\n/.exec(readMail(taken as TakenMail).text)?.[1] ?? ''
  const subscribe = async (server: MailServer, email = lina, fields: Record<string, string> = {}) => {
    await ask(email, fields)
    await mail(server)
    const link = linkIn(server.taken.at(-1))
    expect((await post(link, 'confirm=yes')).body).toContain(
      languages[(fields.language ?? 'en') as 'en'].subscription.end,
    )
    return link
  }
  const states = async () =>
    (await store.db.query('select report, state from subscription_mail order by report, id')).rows
  const count = async (table = 'subscription') => (await store.db.query(`select from ${table}`)).rowCount

  it('are offered in each language where mail is sent and addresses are encrypted, and nowhere else', async () => {
    for (const [code, words] of Object.entries(languages)) {
      const { body } = await app.inject(`/${code}/projects/2045`)
      expect(body).toContain(`<h2 id="by-mail">${words.subscription.title.replaceAll("'", '&#39;')}</h2>`)
      expect(body).toContain(`<input type="hidden" name="language" value="${code}">`)
    }
    const config = { ...testConfig, sendsMail: true }
    const withoutKey = testPayments(store, { donors: new DonorVault([], 'DONOR_KEYS is not set') })
    for (const changes of [{}, { config, payments: withoutKey }, { config, openPortal: undefined }]) {
      const other = await testApi(store, { store, ...releasesOf(), ...changes })
      expect((await other.app.inject('/projects/2045')).body).not.toContain('by-mail')
      const payload = `email=${lina}&project=2045`
      const asked = { method: 'POST', url: '/subscriptions', headers: { 'content-type': form }, payload } as const
      expect((await other.app.inject(asked)).statusCode).toBe(404)
    }
    expect(await count()).toBe(0)
  })

  it('begin with a link that is read without effect and confirms when its button is pressed', async () => {
    const server = await startMailServer()
    await report(9003)
    const asked = await ask(lina, { language: 'fr' })
    expect([asked.statusCode, asked.headers['cache-control']]).toEqual([200, 'no-store'])
    expect(asked.body).toContain(fr.subscription.asked)
    expect(await mail(server)).toEqual({ sent: 1, later: 0, ended: 0 })
    expect(server.taken[0]?.to).toEqual([lina])
    const { headers, text } = readMail(server.taken[0] as TakenMail)
    expect(headers).toMatch(/Auto-Submitted: auto-generated/)
    expect(text).toContain('Ouvrez cette page et dites oui')
    const link = linkIn(server.taken[0])
    for (let scanned = 0; scanned < 2; scanned++) {
      const page = await app.inject(link)
      expect([page.statusCode, page.headers['x-robots-tag']]).toEqual([200, 'noindex'])
      expect(page.body).toContain(fr.subscription.yes)
      expect(page.body).toContain('Wells for Tara')
      expect(page.body).not.toContain(link)
    }
    await publish()
    expect(await mail(server)).toMatchObject({ sent: 0 })
    expect((await post(link, 'something=else')).body).toContain(fr.subscription.yes)
    expect((await post(link, 'confirm=yes')).body).toContain(fr.subscription.active)
    expect((await post(link, 'confirm=yes')).body).toContain(fr.subscription.active)
    // What was published before the confirmation is not new.
    await mail(server)
    expect(server.taken).toHaveLength(1)
    expect((await app.inject('/subscriptions/0123456789012345678901234567890123456789')).statusCode).toBe(404)
  })

  it('bring each report once, when a release has it, with a link that ends them by one request', async () => {
    const server = await startMailServer()
    const link = await subscribe(server)
    const other = await subscribe(server, 'kim@example.org', { language: 'fr' })
    server.taken.length = 0
    await report(9003)
    expect(await mail(server)).toMatchObject({ sent: 0 })
    await publish()
    expect(await mail(server)).toEqual({ sent: 2, later: 0, ended: 0 })
    const { id: live } = await publisher.live()
    expect((await store.db.query('select release_id from followed_project')).rows).toEqual([{ releaseId: live }])
    expect(server.taken.map(({ to }) => to[0])).toEqual([lina, 'kim@example.org'])
    const { headers, text } = readMail(server.taken[0] as TakenMail)
    expect(headers).toContain('Subject: Wells for Tara: Well number 9003')
    expect(headers).toContain(`List-Unsubscribe: <https://giving.example${link}>`)
    expect(headers).toContain('List-Unsubscribe-Post: List-Unsubscribe=One-Click')
    expect(text).toContain(`Read it: ${updates}9003`)
    expect(text).toContain('November 20, 2026\r\nBy Amina Sesay')
    expect(text).toContain('https://giving.example/en/projects/2045')
    expect(readMail(server.taken[1] as TakenMail).text.replace(/\s/g, ' ')).toContain('20 novembre 2026')
    // A change of the same report, another release, and a rollback tell nothing new.
    await store.db.query(`update progress_report set title = 'Well again', updated_at = now() where id = 9003`)
    await publish()
    await store.db.query('delete from progress_report where id = 9003')
    await publish()
    await report(9003)
    await publish()
    expect(await mail(server)).toMatchObject({ sent: 0 })

    const body = '--b\r\nContent-Disposition: form-data; name="List-Unsubscribe"\r\n\r\nOne-Click\r\n--b--\r\n'
    for (const _again of [1, 2]) {
      const ended = await post(link, body, '127.0.0.1', 'multipart/form-data; boundary=b')
      expect([ended.statusCode, ended.body]).toEqual([200, expect.stringContaining(en.subscription.ended)])
    }
    expect((await app.inject(link)).statusCode).toBe(404)
    expect((await post(other, 'List-Unsubscribe=One-Click')).body).toContain(fr.subscription.ended)
    expect([await count(), await count('subscription_mail')]).toEqual([0, 0])
    await report(9004)
    await publish()
    expect(await mail(server)).toMatchObject({ sent: 0 })
  })

  it('bring the five newest of many, and none that was taken back', async () => {
    const server = await startMailServer()
    await subscribe(server)
    server.taken.length = 0
    for (let n = 1; n <= 8; n++) await report(9010 + n, `2026-11-1${n}T08:00:00Z`)
    await publish()
    const busy = Object.assign(new Error('greylisted'), { responseCode: 451 })
    const grey = await startMailServer({ onRcptTo: (_address, _session, done) => done(busy) })
    expect(await mail(grey)).toEqual({ sent: 0, later: 5, ended: 0 })
    await store.db.query('delete from progress_report where id = 9018')
    await publish()
    api.now = new Date('2026-11-21T09:10:00Z')
    expect(await mail(server)).toEqual({ sent: 4, later: 0, ended: 1 })
    const titles = server.taken.map((one) => /Well number (\d+)/.exec(readMail(one).headers)?.[1])
    expect(titles).toEqual(['9014', '9015', '9016', '9017'])
  })

  it('bring a report at most once when the process is killed before it can record that it was taken', async () => {
    let child: Awaited<ReturnType<typeof forkStripped>> | undefined
    const server = await startMailServer({ onTaken: () => void child?.kill('SIGKILL') })
    await subscribe(server)
    await report(9003)
    await publish()
    child = await forkStripped('test/support/processes/subscription-process.ts', [url, publisher.feedsDir, server.url])
    await once(child, 'exit')
    child = undefined
    expect(await states()).toEqual([
      { report: '', state: 'sent' },
      { report: `${updates}9003`, state: 'sending' },
    ])
    api.now = new Date(Date.now() + 3 * 3_600_000)
    expect(await mail(server)).toMatchObject({ sent: 0 })
    expect(server.taken).toHaveLength(2)
  })

  it('are in the language of the page, from right to left in Arabic', async () => {
    const server = await startMailServer()
    const subjects = { es: 'Leerlo: ', pt: 'Ler: ', ar: 'لقراءته: ' }
    for (const language of Object.keys(subjects)) await subscribe(server, `${language}@example.org`, { language })
    server.taken.length = 0
    await report(9003)
    await publish()
    expect(await mail(server)).toMatchObject({ sent: 3 })
    for (const [at, [language, reads]] of Object.entries(subjects).entries()) {
      const { text, html } = readMail(server.taken[at] as TakenMail)
      expect(text).toContain(`${reads}${updates}9003`)
      expect(html).toContain(`<html lang="${language}"${language === 'ar' ? ' dir="rtl"' : ''}>`)
    }
  })

  it('that could not be mailed are told by giving status', async () => {
    const full = Object.assign(new Error('no such mailbox'), { responseCode: 550 })
    const server = await startMailServer({ onRcptTo: (_address, _session, done) => done(full) })
    await ask()
    await ask('kim@example.org')
    expect(await mail(server)).toEqual({ sent: 0, later: 0, ended: 2 })
    await store.db.query(
      `update subscription_mail set state = 'unknown' where id = (select max(id) from subscription_mail)`,
    )
    const { stdout } = await runCommandLine(['status'], { DATABASE_URL: url, LOG_LEVEL: 'silent' })
    expect(stdout).toContain('note: 1 messages to subscribers were not mailed: the mail server refuses the recipient')
    expect(stdout).toContain('note: 1 messages to subscribers may not have been mailed')
  })

  it('are mailed by a job, which is not there without SMTP_URL, and does not start with a bad template', async () => {
    const server = await startMailServer()
    const folder = await temporaryFolder()
    const open = (environment: Record<string, string>) => {
      const config = readConfig({ BASE_URL: 'https://giving.example', ...environment })
      expect(Object.keys(subscriptions.work.schedules(config))).toEqual(environment.SMTP_URL ? ['subscriptions'] : [])
      const deps = {
        config,
        store,
        clock: () => api.now,
        log: pino({ level: 'silent' }),
        payments: { donors: testDonors },
        telling: {
          feedsDir: publisher.feedsDir,
          refusal: async () => undefined,
          baseUrl: async () => config.baseUrl,
        },
      }
      return subscriptions.work.open(deps as unknown as WorkDeps)
    }
    expect(open({})).toBeUndefined()
    await ask()
    const mailed = { SMTP_URL: server.url, MAIL_FROM: 'reports@giving.example', MAIL_TEMPLATES_DIR: folder }
    const job = open(mailed)
    await job?.begin?.()
    expect(await job?.tick?.({ signal: new AbortController().signal } as JobCall)).toBe('1 sent, 0 later, 0 not sent')
    await writeFile(path.join(folder, 'progress-report.en.txt'), 'Hello')
    await expect(open(mailed)?.begin?.()).rejects.toMatchObject({ code: 'configuration-invalid' })
  })

  it('are sent once each by workers at the same time', async () => {
    const server = await startMailServer()
    for (const name of ['a', 'b', 'c']) await subscribe(server, `${name}@example.org`)
    server.taken.length = 0
    await report(9003)
    await report(9004)
    await publish()
    const done = await Promise.all([1, 2, 3].map(() => mail(server)))
    expect(done.reduce((sum, { sent }) => sum + sent, 0)).toBe(6)
    expect(new Set(server.taken.map((one) => /Message-ID: .*/.exec(readMail(one).headers)?.[0])).size).toBe(6)
  })

  it('answer the same page for every address: known, confirmed, asked too often, or of a program', async () => {
    const server = await startMailServer()
    const first = (await ask()).body
    expect((await ask()).body).toBe(first)
    expect(await mail(server)).toMatchObject({ sent: 1 })
    await post(linkIn(server.taken[0]), 'confirm=yes')
    expect((await ask('LINA.findme@example.org')).body).toBe(first)
    expect(await mail(server)).toMatchObject({ sent: 0 })
    // Somebody who did not find the first message gets it again, three times an hour.
    for (const _time of [1, 2, 3, 4, 5]) {
      expect((await ask('kim@example.org')).body).toBe(first)
      await mail(server)
    }
    const toKim = server.taken.filter(({ to }) => to[0] === 'kim@example.org')
    expect(toKim).toHaveLength(3)
    expect(new Set(toKim.map(linkIn)).size).toBe(1)
    expect((await ask('bot@example.org', { website: 'https://spam.example' })).body).toBe(first)
    expect(await count()).toBe(2)
    const wrong = await ask('not an address')
    expect([wrong.statusCode, wrong.body]).toEqual([400, expect.stringContaining(en.subscription.wrong)])
    expect((await ask(lina, { project: '999' })).statusCode).toBe(404)
  })

  it('are bounded for a network, a project and in all', async () => {
    for (let n = 0; n < 10; n++) expect((await ask(`n${n}@example.org`, {}, '127.0.0.9')).statusCode).toBe(200)
    const busy = await ask('n10@example.org', {}, '127.0.0.9')
    expect([busy.statusCode, busy.body]).toEqual([503, expect.stringContaining(en.subscription.busy)])
    expect(busy.headers['retry-after']).toBeDefined()
    expect((await ask('n10@example.org', {}, '127.0.0.10')).statusCode).toBe(200)
    await store.db.query(
      `insert into subscription (project_id, token_hash, language, key_id, wrapped_key, sealed, email_hash, requested_at)
        select 2045, sha256(int4send(n)), 'en', 'test', '', '', int4send(n), $1 from generate_series(1, 100) n`,
      [api.now],
    )
    expect((await ask('n11@example.org', {}, '127.0.0.10')).statusCode).toBe(503)
    // Others are let in, however many a few networks have asked for.
    expect((await ask('n13@example.org', {}, '127.0.0.11')).statusCode).toBe(200)
    expect((await ask('n11@example.org', { project: '2061' }, '127.0.0.10')).statusCode).toBe(200)
    await store.db.query(
      `insert into subscription (project_id, token_hash, language, key_id, wrapped_key, sealed, email_hash, requested_at)
        select 2046, sha256(int4send(n)), 'en', 'test', '', '', int4send(n), $1 from generate_series(101, 1000) n`,
      [api.now],
    )
    expect((await ask('n12@example.org', { project: '2061' }, '127.0.0.10')).statusCode).toBe(503)
    api.now = new Date('2026-11-21T10:00:01Z')
    expect((await ask('n12@example.org', { project: '2061' }, '127.0.0.10')).statusCode).toBe(200)
  })

  it('write to a stranger three times, from however many networks, and then not for a month', async () => {
    const server = await startMailServer()
    const minutes = async (count: number) => {
      api.now = new Date(api.now.getTime() + count * 60_000)
      await publish()
    }
    let network = 20
    const askSpelt = async (email: string) => {
      network += 1
      expect((await ask(email, {}, `127.0.0.${network}`)).statusCode).toBe(200)
      await mail(server)
    }
    for (let time = 0; time < 11; time++) {
      await askSpelt(['kim@example.org', 'KIM@example.org', 'kim+a@example.org'][time % 3] ?? '')
      await minutes(1)
    }
    expect(server.taken).toHaveLength(3)
    await minutes(25 * 60)
    await askSpelt('kim@example.org')
    await minutes(28 * 24 * 60)
    await askSpelt('kim@example.org')
    expect(server.taken).toHaveLength(3)
    await minutes(2 * 24 * 60)
    await askSpelt('kim@example.org')
    expect(server.taken).toHaveLength(4)
  })

  it('write six times a day to somebody who confirms', async () => {
    const server = await startMailServer()
    for (let time = 0; time < 9; time++) {
      await ask('kim@example.org', {}, `127.0.0.${60 + time}`)
      await mail(server)
      const last = server.taken.at(-1)
      if (last) await post(linkIn(last), 'confirm=yes')
      await store.db.query('delete from subscription')
      api.now = new Date(api.now.getTime() + 31 * 60_000)
    }
    expect(server.taken).toHaveLength(6)
  })

  it.each([
    'a@[127.0.0.1]',
    'a@127.0.0.1',
    'kim%0a@example.org',
    'kim%victim.example@example.org',
    'victim.example!kim@example.org',
    'ü@example.org',
    '"kim"@example.org',
    'kim@example.org@victim.example',
    'kim@[IPv6:::1]',
    'kim@example..org',
    'kim.@example.org',
    'kim@localhost',
    'kim@example.org,lina@example.org',
  ])('take no address that mail servers may read otherwise: %s', async (email) => {
    expect((await ask(email)).statusCode).toBe(400)
  })

  it.each(["o'neil+giving@example.org", 'kim@bücher.example', 'kim@xn--bcher-kva.example', 'a.b@example.co.uk'])(
    'take the address %s',
    async (email) => {
      expect((await ask(email)).statusCode).toBe(200)
    },
  )

  it('wait once 2,000 messages were sent within an hour', async () => {
    const server = await startMailServer()
    await ask()
    await store.db.query(
      `insert into subscription_mail (subscription_id, report, state, next_at, sent_at)
        select s.id, 'r' || n, 'sent', $1, $1 from subscription s, generate_series(1, 2000) n`,
      [api.now],
    )
    expect(await mail(server)).toMatchObject({ sent: 0 })
    api.now = new Date('2026-11-21T10:00:01Z')
    expect(await mail(server)).toMatchObject({ sent: 1 })
  })

  it('end by themselves: unconfirmed ones after 48 hours, all with their project', async () => {
    const server = await startMailServer()
    await subscribe(server)
    await ask('kim@example.org')
    await mail(server)
    const link = linkIn(server.taken.at(-1))
    const rules = { keepReleases: 3, donorRetentionDays: undefined }
    api.now = new Date('2026-11-23T09:00:01Z')
    expect((await app.inject(link)).statusCode).toBe(404)
    expect((await post(link, 'confirm=yes')).statusCode).toBe(404)
    expect(await pruneDatabase(store.db, api.now, rules)).toMatchObject({ subscriptions: 1, subscriptionMails: 0 })
    expect([await count(), await count('followed_project')]).toEqual([1, 1])
    await insertProjects(store.db, [{ id: 3000 }])
    await subscribe(server, 'kim@example.org')
    await store.db.query(`update subscription set project_id = 3000 where id = (select max(id) from subscription)`)
    await store.db.query('delete from project where id = 3000')
    expect(await count()).toBe(1)
    const withdrawn = async (at: string | null) =>
      await store.db.query('update published_identifier set withdrawn_at = $1 where project_id = 2045', [at])
    await withdrawn('2026-11-21T09:00:00Z')
    expect(await pruneDatabase(store.db, api.now, rules)).toMatchObject({ subscriptions: 1, followedProjects: 1 })
    await withdrawn(null)
    expect([await count(), await count('subscription_mail')]).toEqual([0, 0])
  })

  it('are in no row, log or message of the log, and known to the operator’s commands alone', async () => {
    const refuse = Object.assign(new Error(`no mailbox ${lina}`), { responseCode: 550 })
    const refusing = await startMailServer({ onRcptTo: (_address, _session, done) => done(refuse) })
    await ask()
    expect(await mail(refusing)).toMatchObject({ ended: 1 })
    api.now = new Date('2026-11-21T09:01:00Z')
    const server = await startMailServer()
    const link = await subscribe(server)
    const secrets = new RegExp(`findme|${link.split('/')[2]}`, 'i')
    expect(await everyRow(store.db)).not.toMatch(secrets)
    expect(JSON.stringify(api.log)).toContain('/subscriptions/')
    expect(JSON.stringify(api.log)).not.toMatch(secrets)
    expect(warnings.join()).toContain('a message to a subscriber was not mailed')
    expect(warnings.join()).not.toMatch(secrets)

    const [old, next] = [7, 8].map(
      (byte) => `${byte === 7 ? 'test' : 'next'}:${Buffer.alloc(32, byte).toString('base64')}`,
    )
    const give = (text: string, DONOR_KEYS = old ?? '') =>
      runCommandLine(text.split(' '), { DATABASE_URL: url, LOG_LEVEL: 'silent', DONOR_KEYS })
    const shown = await give('donors show --email LINA.findme@example.org')
    expect(shown).toMatchObject({
      code: 0,
      stdout: expect.stringContaining(`reports of project 2045 by mail to ${lina}`),
    })
    const rekeyed = await give('donors rekey --json', `${next},${old}`)
    expect(JSON.parse(rekeyed.stdout)).toMatchObject({ subscriptions: 1 })
    expect(await give('donors rekey', old)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('"next" is missing'),
    })
    const exported = await give('donors export --email lina.findme@example.org', next)
    expect(JSON.parse(exported.stdout)).toMatchObject({
      donations: [],
      subscriptions: [{ projectId: 2045, email: lina }],
    })
    expect((await app.inject(link)).body).toContain(en.subscription.active)
    expect(await give('donors erase --email lina.findme@example.org', next)).toMatchObject({ code: 0 })
    expect(await give('donors erase --email lina.findme@example.org', next)).toMatchObject({ code: 1 })
    expect([await count(), (await app.inject(link)).statusCode]).toEqual([0, 404])
  })
})
