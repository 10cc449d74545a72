import { readFile } from 'node:fs/promises'
import { hostname } from 'node:os'
import { beforeAll, describe, expect, it } from 'vitest'
import { auditActions, listAudit, recordAudit } from '../../../src/accounts/sql/audit-events.js'
import { pruneDatabase } from '../../../src/release/sql/pruning.js'
import { proxyHeaders, testApi, testConfig } from '../../support/api/api.js'
import { runCommandLine } from '../../support/commands/command-line.js'
import { testDatabase } from '../../support/store/database.js'

const email = 'partner@example.org'
const password = 'seven quiet rivers'
const address = '192.0.2.7'

describe('the audit trail', { shuffle: false }, async () => {
  const { store, url } = await testDatabase()
  const api = await testApi(store, { store, clock: () => new Date(), config: { ...testConfig, trustProxy: true } })
  beforeAll(async () => void (await post('accounts', { account_request: { user: { email, password } } })))

  const post = async (path: string, body: object) =>
    await api.app.inject({
      ...{ method: 'POST', url: `/api/userservice/${path}`, payload: JSON.stringify(body) },
      headers: { 'content-type': 'application/json', ...proxyHeaders(address) },
    })
  const giving = async (line: string, input = '') => {
    const environment = { DATABASE_URL: url, LOG_LEVEL: 'silent' }
    const { code, stdout } = await runCommandLine([...line.split(' '), '--json'], environment, input)
    return { code, said: JSON.parse(stdout) as Record<string, unknown> }
  }
  const trail = async () => await listAudit(store.db, { since: new Date(0), limit: 1_000 })
  const newestKey = async () =>
    Number((await store.db.query<{ id: number }>('select max(id) as id from api_key')).rows[0]?.id)
  const lastLine = () => api.log.findLast(({ msg }) => msg === 'request')

  it('tells what clients did with accounts, keys and tokens, from where, in the table and in the log', async () => {
    const user = { email, password }
    const { key_response } = (await post('keys', { key_request: { user } })).json()
    const apiKey: string = key_response.api_key
    const { auth_response } = (await post('tokens', { auth_request: { user, api_key: apiKey } })).json()
    const token: string = auth_response.access_token
    expect(lastLine()).toMatchObject({ address, account: 1, key: 1, status: 200 })
    await post('tokens', { auth_request: { user: { email, password: 'wrong password' }, api_key: apiKey } })
    expect(lastLine()).toMatchObject({ address, status: 401, error: 'credentials-wrong' })
    await post('tokens/revoke', { token_revocation_request: { api_key: apiKey, access_token: token } })
    await post('keys/revoke', { key_revocation_request: { user, api_key: apiKey } })

    const told = (await trail()).map(({ action, refused, actor, origin, subject }) => ({
      ...{ action, actor, origin, subject },
      ...(refused && { refused }),
    }))
    expect(told).toEqual([
      { action: 'account-created', actor: 'unknown', origin: address, subject: 'account 1' },
      { action: 'key-issued', actor: 'account 1', origin: address, subject: 'key 1' },
      { action: 'sign-in', actor: 'account 1', origin: address, subject: 'key 1' },
      { action: 'sign-in', actor: 'unknown', origin: address, subject: 'account 1', refused: true },
      { action: 'sign-out', actor: 'account 1', origin: address, subject: 'key 1' },
      { action: 'key-revoked', actor: 'account 1', origin: address, subject: 'key 1' },
    ])
    expect(api.log.filter(({ msg }) => msg === 'audit')).toMatchObject(told)
    const everything = JSON.stringify([await trail(), api.log])
    for (const secret of [email, password, 'wrong password', apiKey, token]) expect(everything).not.toContain(secret)
  })

  it('names account and key of reads and of secure requests in the log, also where they are refused', async () => {
    const issued = await giving(`keys issue --email ${email}`)
    const apiKey = String(issued.said.apiKey)
    const key = await newestKey()
    const headers = proxyHeaders(address)
    await api.app.inject({ url: `/api/public/projectservice/themes?api_key=${apiKey}`, headers })
    expect(lastLine()).toMatchObject({ address, account: 1, key, status: 200 })
    await api.app.inject({ url: `/api/secure/x?api_key=${apiKey}&api_token=${'x'.repeat(40)}`, headers })
    expect(lastLine()).toMatchObject({ address, account: 1, key, status: 401, error: 'token-unknown' })
  })

  it('tells what the operator did with commands', async () => {
    const { said: issued } = await giving(`keys issue --email ${email}`)
    const key = await newestKey()
    await post('tokens', { auth_request: { user: { email, password: 'wrong password' }, api_key: issued.apiKey } })
    await giving('users create --email other@example.org --password-stdin', password)
    await giving(`users grant donations --email ${email}`)
    await giving(`users revoke-grant donations --email ${email}`)
    await giving(`users timeout --token-timeout 1h --email ${email}`)
    await giving(`users password --password-stdin --email ${email}`, 'eight louder mountains')
    await giving(`users disable --email ${email}`)
    await giving(`users enable --email ${email}`)
    await giving(`keys revoke --id ${key}`)
    await giving('maintenance on --minutes 5')
    await giving('maintenance off')
    const { code, said } = await giving('audit --since 2026-01-01T00:00:00Z')
    expect(code).toBe(0)
    const all = said.events as Record<string, unknown>[]
    expect(all).toHaveLength((await trail()).length)
    const events = all.slice(-10)
    expect(events.map(({ action, subject, details }) => [action, subject, details])).toEqual([
      ['account-created', 'account 2', { key: key + 1 }],
      ['grant-given', 'account 1', { grant: 'donations' }],
      ['grant-withdrawn', 'account 1', { grant: 'donations' }],
      ['token-timeout-changed', 'account 1', { seconds: 3600 }],
      ['password-changed', 'account 1', {}],
      ['account-disabled', 'account 1', {}],
      ['account-enabled', 'account 1', {}],
      ['key-revoked', `key ${key}`, {}],
      ['maintenance-started', undefined, { minutes: 5 }],
      ['maintenance-ended', undefined, {}],
    ])
    for (const { actor, origin } of events) {
      expect(actor).toMatch(/^operator \S/)
      expect(origin).toBe(hostname())
    }
    expect((await giving('audit --since 1h')).said).toEqual(said)
    expect((await giving('audit --since 2999-01-01T00:00:00Z')).said.events).toEqual([])
    const { stdout } = await runCommandLine(['audit'], { DATABASE_URL: url, LOG_LEVEL: 'silent' })
    expect(stdout).toMatch(/^\S+Z sign-in refused +unknown from 192\.0\.2\.7: account 1$/m)
    await expect(runCommandLine(['audit', '--since', 'yesterday'], {})).resolves.toMatchObject({ code: 2 })
  })

  it('stays as it was written, whoever asks for a change, until its time is over', async () => {
    const before = await trail()
    expect(before.length).toBeGreaterThan(0)
    for (const statement of [
      `update audit_event set actor = 'nobody'`,
      'delete from audit_event',
      'truncate audit_event',
    ]) {
      await expect(store.db.query(statement), statement).rejects.toThrow(
        'audit_event: expected the entries of the last',
      )
    }
    expect(await trail()).toEqual(before)
    const at = new Date(Date.now() - 401 * 86_400_000)
    await recordAudit(store.db, { at, action: 'sign-in', actor: 'account 1', origin: address })
    await expect(store.db.query(`update audit_event set at = now() where at <= $1`, [at])).rejects.toThrow('got update')
    const { auditEvents } = await pruneDatabase(store.db, new Date(), {
      keepReleases: 3,
      donorRetentionDays: undefined,
    })
    expect(auditEvents).toBe(1)
    expect(await trail()).toEqual(before)
  })

  it('knows the actions that docs/reference/audit.md lists', async () => {
    const document = await readFile('docs/reference/audit.md', 'utf8')
    const listed = [...document.matchAll(/^\| `([a-z-]+)` \| (.+) \|$/gm)].map(([, action, meaning]) => [
      action,
      meaning,
    ])
    expect(listed).toEqual(Object.entries(auditActions))
  })
})
