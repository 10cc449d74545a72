import pino from 'pino'
import { beforeAll, describe, expect, it } from 'vitest'
import { accountMail } from '../../../../jobs/mails.js'
import type { JobCall } from '../../../../jobs/queue-worker.js'
import type { WorkDeps } from '../../../../jobs/work-row.js'
import { mailDueCodes } from '../../../../src/accounts/mail-account-codes.js'
import { disableAccount, enableAccount, recordGrant } from '../../../../src/accounts/sql/account-administration.js'
import { readConfig } from '../../../../src/platform/config/config.js'
import { SmtpSender } from '../../../../src/platform/mail/smtp.js'
import { pruneDatabase } from '../../../../src/release/sql/pruning.js'
import { proxyHeaders, type TestApi, testApi, testConfig } from '../../../support/api/api.js'
import { printed, runCommandLine } from '../../../support/commands/command-line.js'
import { readMail, startMailServer } from '../../../support/servers/mail-server.js'
import { testDatabase } from '../../../support/store/database.js'
import { everyRow } from '../../../support/store/every-row.js'

const password = 'seven quiet rivers'
const newPassword = 'eight louder mountains'
const never = new AbortController().signal
const signInUrl = '/api/secure/givingservice/nothing'

/** An API whose clients come from addresses of their own, with mail or without. */
async function accountsApi(config: Partial<typeof testConfig>) {
  const database = await testDatabase()
  const { store } = database
  let api: TestApi
  let address = '192.0.2.1'
  beforeAll(async () => {
    api = await testApi(store, { store, config: { ...testConfig, trustProxy: true, ...config } })
  })
  const post = (path: string, body: object) =>
    api.app.inject({
      ...{ method: 'POST', url: `/api/userservice/${path}`, payload: JSON.stringify(body) },
      headers: { 'content-type': 'application/json', ...proxyHeaders(address) },
    })
  const told = (answer: Awaited<ReturnType<typeof post>>) => [answer.statusCode, api.log.at(-1)?.error]
  const register = (email: string, tried = password, more: object = {}) =>
    post('accounts', { account_request: { user: { email, password: tried }, ...more } })
  const newKey = (email: string, tried = password) =>
    post('keys', { key_request: { user: { email, password: tried } } })
  const reset = (code: string, tried = newPassword, more: object = {}) =>
    post('passwords/reset', { new_password_request: { reset_code: code, new_password: tried, ...more } })
  /** A token of a new key. */
  const signIn = async (email: string, tried = password) => {
    const user = { email, password: tried }
    const apiKey: string = (await newKey(email, tried)).json().key_response.api_key
    const answer = await post('tokens', { auth_request: { user, api_key: apiKey } })
    const token: string = answer.json().auth_response.access_token
    const { rows } = await store.db.query<{ id: number }>('select id from account where email = $1', [email])
    await recordGrant(store.db, rows[0]?.id ?? 0, 'donations', api.now)
    return {
      apiKey,
      tokenStatus: async () => (await api.app.inject(`${signInUrl}?api_key=${apiKey}&api_token=${token}`)).statusCode,
    }
  }
  const from = (other: string) => {
    address = other
  }
  const later = (minutes: number) => {
    api.now = new Date(api.now.getTime() + minutes * 60_000)
  }
  return { ...database, post, told, register, newKey, reset, signIn, from, later, api: () => api }
}

type Accounts = Awaited<ReturnType<typeof accountsApi>>

/** Mails what is due through a real server; the codes it took, by recipient. */
async function takeMail({ store, api }: Accounts, language = 'en') {
  const server = await startMailServer()
  const outcome = await mailDueCodes(
    {
      ...{ store, platform: 'Giving Platform', baseUrl: 'https://giving.example', clock: () => api().now },
      sender: new SmtpSender(server.url, 'accounts@giving.example'),
      choice: { language, operatorsDir: undefined },
      warn: () => undefined,
    },
    never,
  )
  await server.close()
  return {
    outcome,
    messages: server.taken.map((taken) => {
      const { headers, text, html } = readMail(taken)
      return {
        to: taken.to[0],
        headers,
        text,
        html,
        code: /^[0-9a-f]{64}$/m.exec(text.replaceAll('\r', ''))?.[0] ?? '',
      }
    }),
  }
}

describe('a password', async () => {
  const accounts = await accountsApi({})
  const { register, signIn, post, told, from, later } = accounts
  const change = (email: string, more: object = {}, tried = password) =>
    post('passwords', {
      password_change_request: { user: { email, password: tried }, new_password: newPassword, ...more },
    })

  it('is changed by its owner, which ends all tokens and leaves the keys', async () => {
    await register('one@example.org')
    const [first, second] = [await signIn('one@example.org'), await signIn('one@example.org')]
    expect(await first.tokenStatus()).toBe(404)
    expect((await change('one@example.org')).json()).toEqual({ password_response: { changed: true } })
    expect([await first.tokenStatus(), await second.tokenStatus()]).toEqual([401, 401])
    expect(told(await accounts.newKey('one@example.org'))).toEqual([401, 'credentials-wrong'])
    expect((await accounts.newKey('one@example.org', newPassword)).statusCode).toBe(200)
    const read = await accounts.api().app.inject(`/api/public/projectservice/themes?api_key=${first.apiKey}`)
    expect(read.statusCode).toBe(200)
  })

  it.each(['true', 1, true])('ends the keys too where that is asked: %s', async (revoke_keys) => {
    from(`192.0.2.${10 + String(revoke_keys).length}`)
    const email = `keys-${revoke_keys}-${typeof revoke_keys}@example.org`
    await register(email)
    const { apiKey } = await signIn(email)
    expect((await change(email, { revoke_keys })).statusCode).toBe(200)
    const list = await post('keys/list', { key_list_request: { user: { email, password: newPassword } } })
    expect(list.json()).toEqual({ key_list_response: { keys: {} } })
    expect(
      told(await post('tokens', { auth_request: { user: { email, password: newPassword }, api_key: apiKey } })),
    ).toEqual([401, 'key-unknown'])
  })

  it('stays when the old one is wrong, or the new one is easy to guess', async () => {
    from('192.0.2.2')
    await register('two@example.org')
    expect(told(await change('two@example.org', {}, 'not the password'))).toEqual([401, 'credentials-wrong'])
    const weak = await change('two@example.org', { new_password: 'password1234' })
    expect([weak.statusCode, weak.json().error_response.errors.error[0].error_message]).toEqual([
      ...[400, expect.stringContaining('password_change_request.new_password: expected')],
    ])
    expect((await change('two@example.org', { revoke_keys: 'perhaps' })).statusCode).toBe(400)
    expect((await accounts.newKey('two@example.org')).statusCode).toBe(200)
  })

  it('is reset with a code of the operator where there is no mail', async () => {
    from('192.0.2.3')
    const email = 'three@example.org'
    await register(email)
    const { tokenStatus } = await signIn(email)
    const forgotten = await post('passwords/forgotten', { password_reset_request: { email } })
    expect(told(forgotten)).toEqual([503, 'mail-missing'])
    const environment = { DATABASE_URL: accounts.url, LOG_LEVEL: 'silent' }
    const reset = 'users reset-password --email THREE@example.org'
    const { resetCode } = await printed<{ resetCode: string }>(reset, environment)
    accounts.api().now = new Date()
    expect(told(await accounts.reset(`${resetCode.slice(1)}0`))).toEqual([401, 'code-unknown'])
    expect((await accounts.reset(resetCode, 'short')).statusCode).toBe(400)
    expect((await accounts.reset(resetCode.toUpperCase())).json()).toEqual({ password_response: { changed: true } })
    expect(await tokenStatus()).toBe(401)
    expect((await accounts.newKey(email, newPassword)).statusCode).toBe(200)
    expect(told(await accounts.reset(resetCode))).toEqual([401, 'code-unknown'])
  })

  it('is valid however old it is', async () => {
    from('192.0.2.9')
    await register('old@example.org')
    later(10 * 365 * 24 * 60)
    expect((await accounts.newKey('old@example.org')).statusCode).toBe(200)
  })
})

describe('a forgotten password', { shuffle: false }, async () => {
  const accounts = await accountsApi({ sendsMail: true })
  const { store, post, told, from, later, reset, newKey } = accounts
  const email = 'Owner@example.org'
  const forget = (who: string) => post('passwords/forgotten', { password_reset_request: { email: who } })
  beforeAll(async () => {
    const environment = { DATABASE_URL: accounts.url, LOG_LEVEL: 'silent' }
    await runCommandLine(['users', 'create', '--email', email, '--password-stdin'], environment, password)
  })

  it('is replaced with a code that is mailed to its owner, once, and kept as a hash only', async () => {
    expect((await forget('owner@EXAMPLE.org')).json()).toEqual({ password_reset_response: { requested: true } })
    const { messages, outcome } = await takeMail(accounts)
    expect(outcome).toEqual({ sent: 1, later: 0, ended: 0 })
    const [message] = messages
    expect(message).toMatchObject({ to: email, code: expect.stringMatching(/^[0-9a-f]{64}$/) })
    expect(message?.text).toContain('https://giving.example/api/userservice/passwords/reset')
    expect(message?.text).toContain('November 21, 2026 at 9:10')
    const code = message?.code ?? ''
    expect(JSON.stringify([await everyRow(store.db), accounts.api().log])).not.toContain(code)
    expect((await takeMail(accounts)).messages).toEqual([])
    expect((await reset(code)).statusCode).toBe(200)
    expect((await newKey(email, newPassword)).statusCode).toBe(200)
    expect(told(await reset(code, password))).toEqual([401, 'code-unknown'])
  })

  it('has the same answer and the same row for an e-mail without an account, which gets no mail', async () => {
    from('192.0.2.2')
    const answers = [await forget('owner@example.org'), await forget('nobody@example.org')]
    const seen = answers.map(({ statusCode, body, headers }) => [statusCode, body, Object.keys(headers)])
    expect(seen[0]).toEqual(seen[1])
    expect((await store.db.query('select from account_code')).rowCount).toBe(2)
    const { messages, outcome } = await takeMail(accounts)
    expect([messages.map(({ to }) => to), outcome]).toEqual([[email], { sent: 1, later: 0, ended: 1 }])
    expect((await store.db.query('select from account_code')).rowCount).toBe(1)
  })

  it('keeps its codes for ten minutes, and none once another has set a password', async () => {
    from('192.0.2.3')
    later(60)
    await forget(email)
    await forget(email)
    const [first, second] = (await takeMail(accounts)).messages
    later(9)
    expect((await reset(first?.code ?? '', password)).statusCode).toBe(200)
    expect(told(await reset(second?.code ?? ''))).toEqual([401, 'code-unknown'])
    await forget(email)
    const [third] = (await takeMail(accounts)).messages
    later(10)
    expect(told(await reset(third?.code ?? ''))).toEqual([401, 'code-unknown'])
  })

  it('is not replaced for an account that is disabled', async () => {
    from('192.0.2.4')
    later(60)
    await forget(email)
    const [message] = (await takeMail(accounts)).messages
    await disableAccount(store.db, 1, accounts.api().now)
    expect(told(await reset(message?.code ?? ''))).toEqual([401, 'code-unknown'])
    await forget(email)
    expect((await takeMail(accounts)).messages).toEqual([])
    await enableAccount(store.db, 1)
  })

  it('fills nobody’s mailbox, and codes cannot be tried without end', async () => {
    later(120)
    const answers = []
    for (let count = 0; count < 4; count++) {
      from(`198.51.100.${count}`)
      answers.push((await forget('flooded@example.org')).statusCode)
    }
    expect(answers).toEqual([200, 200, 200, 503])
    from('198.51.100.99')
    const statuses = []
    for (let count = 0; count < 21; count++) statuses.push((await reset('0'.repeat(64))).statusCode)
    expect(statuses).toEqual([...Array.from({ length: 20 }, () => 401), 503])
    const many = []
    for (let count = 0; count < 11; count++) many.push((await forget(`many${count}@example.org`)).statusCode)
    expect(many.at(-1)).toBe(503)
    expect(
      (
        await pruneDatabase(store.db, new Date(accounts.api().now.getTime() + 3_600_001), {
          ...{ keepReleases: 3, donorRetentionDays: undefined },
        })
      ).codes,
    ).toBeGreaterThan(0)
  })

  it('waits while the mail server is away, then gets a new code in the language of the platform', async () => {
    from('192.0.2.6')
    later(120)
    // Of this e-mail six were asked for today.
    for (const table of ['account_code', 'asked_mail']) await store.db.query(`delete from ${table}`)
    await forget(email)
    const mailing = {
      ...{ store, platform: 'P', baseUrl: '', clock: () => accounts.api().now, warn: () => undefined },
      sender: new SmtpSender('smtp://127.0.0.1:1', 'accounts@giving.example'),
      choice: { language: 'fr', operatorsDir: undefined },
    }
    expect(await mailDueCodes(mailing, never)).toEqual({ sent: 0, later: 1, ended: 0 })
    expect(await mailDueCodes(mailing, never)).toEqual({ sent: 0, later: 0, ended: 0 })
    later(1)
    const [message] = (await takeMail(accounts, 'fr')).messages
    expect(message?.text).toContain('un nouveau mot de passe')
    expect((await reset(message?.code ?? '')).statusCode).toBe(200)
  })
})

describe('an account with mail', { shuffle: false }, async () => {
  const accounts = await accountsApi({ sendsMail: true })
  const { store, register, post, told, newKey, from, later } = accounts
  const verify = (email: string, code: string, tried = password) =>
    post('accounts/verify', { verification_request: { user: { email, password: tried }, verification_code: code } })
  const accountCount = async () => (await store.db.query('select from account')).rowCount

  it('is nobody’s before somebody asks for one', async () => {
    expect(await accountCount()).toBe(0)
  })

  it('is made when its e-mail is verified, and not before', async () => {
    const email = 'New@example.org'
    expect((await register(email)).json()).toEqual({ account_response: { email } })
    expect(told(await newKey(email))).toEqual([401, 'credentials-wrong'])
    const [message] = (await takeMail(accounts)).messages
    expect([message?.to, message?.headers]).toEqual([email, expect.stringContaining('Subject: Your account at')])
    expect(await accountCount()).toBe(0)
    expect((await verify('new@example.org', message?.code ?? '')).json()).toEqual({ account_response: { email } })
    expect((await newKey(email)).statusCode).toBe(200)
    expect(told(await verify(email, message?.code ?? ''))).toEqual([401, 'code-unknown'])
  })

  it('is told to its owner alone when it exists already', async () => {
    from('192.0.2.2')
    const answers = [await register('NEW@example.org', newPassword), await register('free@example.org', newPassword)]
    const seen = answers.map(({ statusCode, json, headers }) => [statusCode, Object.keys(json()), Object.keys(headers)])
    expect(seen[0]).toEqual(seen[1])
    const messages = new Map((await takeMail(accounts)).messages.map((message) => [message.to, message]))
    expect(messages.get('New@example.org')).toMatchObject({
      code: '',
      text: expect.stringContaining('has one already'),
    })
    expect(messages.get('free@example.org')?.code).toMatch(/./)
    expect((await newKey('new@example.org')).statusCode).toBe(200)
    expect(told(await newKey('new@example.org', newPassword))).toEqual([401, 'credentials-wrong'])
  })

  it('has the password of whoever verifies it, not of somebody who asked with the e-mail before', async () => {
    from('192.0.2.3')
    await register('victim@example.org', newPassword)
    await register('victim@example.org', password)
    const codes = (await takeMail(accounts)).messages.map(({ code }) => code)
    // The owner of the mailbox does not know the password of the first request.
    for (const code of codes) {
      expect(told(await verify('other@example.org', code))).toEqual([401, 'code-unknown'])
    }
    const statuses = []
    for (const code of codes) statuses.push((await verify('victim@example.org', code)).statusCode)
    expect(statuses.toSorted()).toEqual([200, 401])
    expect((await newKey('victim@example.org', password)).statusCode).toBe(200)
    for (const code of codes) {
      expect(told(await verify('victim@example.org', code, newPassword))).toEqual([401, 'code-unknown'])
    }
  })

  it('is not made a day later', async () => {
    from('192.0.2.4')
    await register('late@example.org')
    const [message] = (await takeMail(accounts)).messages
    later(24 * 60)
    expect(told(await verify('late@example.org', message?.code ?? ''))).toEqual([401, 'code-unknown'])
  })

  it('is made once, however often its code is sent at the same moment', async () => {
    from('192.0.2.5')
    await register('twice@example.org')
    const [message] = (await takeMail(accounts)).messages
    const answers = await Promise.all([1, 2, 3].map(() => verify('twice@example.org', message?.code ?? '')))
    expect(answers.map(({ statusCode }) => statusCode).toSorted()).toEqual([200, 401, 401])
  })
})

describe('registration', async () => {
  const closed = await accountsApi({ registration: 'closed' })
  const invited = await accountsApi({ registration: 'invite' })
  const both = await accountsApi({ registration: 'invite', sendsMail: true })
  const invite = async ({ url }: Accounts, line = ''): Promise<string> => {
    const environment = { DATABASE_URL: url, LOG_LEVEL: 'silent' }
    return (await printed<{ invitation: string }>(`users invite ${line}`.trim(), environment)).invitation
  }
  beforeAll(() => {
    for (const { api } of [closed, invited, both]) api().now = new Date()
  })

  it('that is closed makes no account, with whatever', async () => {
    const answer = await closed.register('a@example.org', password, { invitation: await invite(closed) })
    expect(closed.told(answer)).toEqual([401, 'registration-closed'])
  })

  it('by invitation takes each invitation once, for its e-mail, in its time', async () => {
    const { register, told, from } = invited
    expect(told(await register('a@example.org'))).toEqual([401, 'registration-closed'])
    expect(told(await register('a@example.org', password, { invitation: 'f'.repeat(64) }))).toEqual([
      401,
      'code-unknown',
    ])
    const own = await invite(invited, '--email Guest@example.org')
    expect(told(await register('a@example.org', password, { invitation: own }))).toEqual([401, 'code-unknown'])
    expect((await register('guest@example.org', 'short', { invitation: own })).statusCode).toBe(400)
    expect((await register('guest@example.org', password, { invitation: own })).statusCode).toBe(200)
    expect(told(await register('guest@example.org', password, { invitation: own }))).toEqual([401, 'code-unknown'])
    from('192.0.2.2')
    const anybodys = await invite(invited, '--expires 1h')
    const together = await Promise.all(
      ['b', 'c'].map((name) => register(`${name}@example.org`, password, { invitation: anybodys })),
    )
    expect(together.map(({ statusCode }) => statusCode).toSorted()).toEqual([200, 401])
    const late = await invite(invited, '--expires 1h')
    invited.later(61)
    expect(told(await register('d@example.org', password, { invitation: late }))).toEqual([401, 'code-unknown'])
  })

  it('by invitation and mail uses the invitation up when the e-mail is verified', async () => {
    const { register, post, told, newKey } = both
    const invitation = await invite(both)
    for (const email of ['a@example.org', 'b@example.org']) {
      expect((await register(email, password, { invitation })).statusCode).toBe(200)
    }
    const messages = new Map((await takeMail(both)).messages.map(({ to, code }) => [to, code]))
    const verify = (email: string) =>
      post('accounts/verify', {
        verification_request: { user: { email, password }, verification_code: messages.get(email) ?? '-' },
      })
    expect((await verify('b@example.org')).statusCode).toBe(200)
    expect(told(await verify('a@example.org'))).toEqual([401, 'code-unknown'])
    expect((await newKey('b@example.org')).statusCode).toBe(200)
    expect(told(await register('c@example.org', password, { invitation }))).toEqual([401, 'code-unknown'])
  })

  it('is open in the demo and closed for a real publisher, unless REGISTRATION says otherwise', () => {
    const read = (environment: Record<string, string>) => readConfig(environment, ['registration']).registration
    const publisher = { REPORTING_ORG_REF: 'US-EIN-123456789' }
    expect([read({}), read(publisher)]).toEqual(['open', 'closed'])
    expect([read({ REGISTRATION: 'closed' }), read({ ...publisher, REGISTRATION: 'invite' })]).toEqual([
      'closed',
      'invite',
    ])
  })
})

describe('the work of mailing codes', async () => {
  const { store } = await testDatabase()

  it('is done every minute where there is a mail server, with the address that the API has', async () => {
    const server = await startMailServer()
    for (const SMTP_URL of [undefined, server.url]) {
      const config = readConfig({ SMTP_URL, MAIL_FROM: 'a@giving.example' })
      expect(Object.keys(accountMail.schedules(config))).toEqual(SMTP_URL === undefined ? [] : ['account-mail'])
      const opened = accountMail.open({
        ...{ config, store, clock: () => new Date(), log: pino({ level: 'silent' }) },
      } as WorkDeps)
      await opened?.begin?.()
      const done = await opened?.tick?.({ signal: never } as JobCall)
      expect(done).toBe(SMTP_URL === undefined ? undefined : '0 sent, 0 later, 0 not sent')
    }
  })
})
