import { describe, expect, it } from 'vitest'
import { findKey, issueToken, secretHash } from '../../../src/accounts/sql/accounts.js'
import { findCaller } from '../../../src/accounts/sql/callers.js'
import { createAuthentication } from '../../../src/http/api/operations/authenticate.js'
import { testApi } from '../../support/api/api.js'
import { runCommandLine } from '../../support/commands/command-line.js'
import { testDatabase } from '../../support/store/database.js'

const email = 'partner@example.org'
const password = 'seven quiet rivers'

describe('the operator’s commands for API users', { shuffle: false }, async () => {
  const { store, url } = await testDatabase()
  const api = await testApi(store, { clock: () => new Date() })

  const run = async (line: string, input = '') => {
    // Variables that these commands do not use may be wrong or miss others that belong to them.
    const unused = { UPSTREAM_URL: 'https://upstream.example', PORT: 'eighty', REDIS_URL: 'none' }
    const environment = { DATABASE_URL: url, LOG_LEVEL: 'silent', ...unused }
    const { code, stdout, stderr } = await runCommandLine([...line.split(' '), '--json'], environment, input)
    return { code, stderr, said: stdout === '' ? undefined : (JSON.parse(stdout) as Record<string, unknown>) }
  }
  /** What the API says of this key right now, without what it remembers. */
  const isValid = (key: string) =>
    createAuthentication({ store, clock: () => new Date() })(key).then(
      () => true,
      () => false,
    )

  it('create, list, limit, grant, disable and enable them', async () => {
    const create = `users create --email ${email} --password-stdin --token-timeout 30m`
    const created = await run(create, `${password}\n`)
    expect(created.code).toBe(0)
    const key = String(created.said?.apiKey)
    expect(await isValid(key)).toBe(true)
    expect(await run(create, `${password}\n`)).toMatchObject({ code: 2, stderr: expect.stringContaining('exists') })
    expect((await run('users create --email x@example.org --password-stdin', 'password1234')).stderr).toContain('guess')

    const user = async () =>
      ((await run('users list')).said?.users as Record<string, unknown>[] | undefined)?.find(
        (one) => one.email === email,
      )
    expect(await user()).toMatchObject({ tokenTimeoutSeconds: 1800, disabled: false, grants: [], keys: 1 })
    expect((await run(`users grant --email PARTNER@example.org donations`)).code).toBe(0)
    expect((await run(`users timeout --email ${email} --token-timeout 2h`)).code).toBe(0)
    expect(await user()).toMatchObject({ tokenTimeoutSeconds: 7200, grants: ['donations'] })
    expect((await run(`users revoke-grant --email ${email} donations`)).code).toBe(0)
    expect((await run(`users disable --email ${email}`)).code).toBe(0)
    expect(await user()).toMatchObject({ grants: [], disabled: true })
    expect(await isValid(key)).toBe(false)
    expect((await run(`users enable --email ${email}`)).code).toBe(0)
    expect(await isValid(key)).toBe(true)
    expect(await run('users grant --email nobody@example.org donations')).toMatchObject({ code: 2 })
    expect((await run(`users grant --email ${email} everything`)).stderr).toContain('donations')
  })

  it('give a new password, which the API takes at once', async () => {
    const change = `users password --email ${email} --password-stdin`
    expect((await run(change, 'short')).code).toBe(2)
    expect((await run(change, 'eight louder mountains\n')).code).toBe(0)
    const ask = (tried: string) =>
      api.app.inject({
        ...{ method: 'POST', url: '/api/userservice/keys', headers: { 'content-type': 'application/json' } },
        payload: JSON.stringify({ key_request: { user: { email, password: tried } } }),
      })
    expect((await ask(password)).statusCode).toBe(401)
    expect((await ask('eight louder mountains')).statusCode).toBe(200)
  })

  it('end the tokens of an account with its old password, and when it is disabled, also once it is enabled again', async () => {
    const key = String((await run(`keys issue --email ${email}`)).said?.apiKey)
    const keyId = (await findKey(store.db, secretHash(key), new Date()))?.id ?? 0
    const at = new Date()
    for (const change of ['password --password-stdin', 'disable']) {
      const token = await issueToken(store.db, { keyId, timeoutSeconds: 60, at })
      expect(await findCaller(store.db, { apiKey: key, token, at })).toMatchObject({ tokenValid: true })
      expect(await run(`users ${change} --email ${email}`, 'nine louder mountains\n')).toMatchObject({ code: 0 })
      await run(`users enable --email ${email}`)
      expect(await findCaller(store.db, { apiKey: key, token, at })).toMatchObject({ tokenValid: false })
    }
  })

  it('bound a key to reads, to web pages and to a time', async () => {
    const issue = `keys issue --email ${email}`
    await run(`${issue} --origin https://a.example --origin https://b.example --expires 90d`)
    const keys = (await run('keys list')).said?.keys as Record<string, string>[] | undefined
    const issued = keys?.at(-1)
    expect(issued).toMatchObject({ origins: 'https://a.example https://b.example', scope: 'read' })
    expect(Date.parse(String(issued?.expiresAt)) - Date.parse(String(issued?.createdAt))).toBe(90 * 86_400_000)
    expect(await run(`${issue} --scope write`)).toMatchObject({ code: 2, stderr: expect.stringContaining('scope') })
  })

  it('issue, list and revoke keys, by number or by the key itself', async () => {
    const key = String((await run(`keys issue --email ${email}`)).said?.apiKey)
    const other = String((await run(`keys issue --email ${email}`)).said?.apiKey)
    const listed = (await run(`keys list --email ${email}`)).said?.keys as { id: number; revokedAt?: string }[]
    expect(JSON.stringify(listed)).not.toContain(key)
    expect(await run('keys revoke --key-stdin', `${key}\n`)).toMatchObject({ code: 0, said: { revoked: true } })
    expect(await run(`keys revoke --id ${listed.at(-1)?.id}`)).toMatchObject({ code: 0 })
    expect([await isValid(key), await isValid(other)]).toEqual([false, false])
    expect(await run('keys revoke --id 999999')).toMatchObject({ code: 1, said: { revoked: false } })
    expect((await run('keys revoke')).stderr).toContain('either --id or --key-stdin')
  })

  it('close the API for a while and open it again', async () => {
    expect((await run('maintenance status')).said).toEqual({ maintenance: false })
    expect((await run('maintenance on --minutes 20')).said).toMatchObject({ maintenance: true })
    expect((await run('maintenance status')).said).toMatchObject({ maintenance: true, until: expect.any(String) })
    expect((await run('maintenance off')).said).toEqual({ maintenance: false })
    expect((await run('maintenance on')).code).toBe(2)
  })
})
