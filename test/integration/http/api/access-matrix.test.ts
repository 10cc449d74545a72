import { describe, expect, it } from 'vitest'
import { disableAccount, recordGrant } from '../../../../src/accounts/sql/account-administration.js'
import { issueKey, issueToken, type KeyLimits, noLimits } from '../../../../src/accounts/sql/accounts.js'
import { revokeKey } from '../../../../src/accounts/sql/api-keys.js'
import { endToken } from '../../../../src/accounts/sql/callers.js'
import { createApiUser } from '../../../../src/http/api/operations/create-api-user.js'
import { testApi, testUser } from '../../../support/api/api.js'
import { committedDescription, operationsOf } from '../../../support/api/api-description.js'
import { testDatabase } from '../../../support/store/database.js'

const page = 'https://www.example.org'

// A route without a description is refused, so these are all operations (test/unit/http/api/description.test.ts).
const operations = operationsOf(committedDescription()).map(({ method, path, operation }) => ({
  ...{ method, path },
  needs: Object.keys(operation.security[0] ?? {}).join(' and '),
  // What stands in the path decides nothing: access is checked first.
  address: path.replaceAll(/\{\w+\}/g, '77'),
}))
const needing = (needs: string) => operations.filter((operation) => operation.needs === needs)

/** Operations without key: what is published for everybody, and what has its credentials in its body or signature. */
const open = /^(?!\/api\/)|^\/api\/(?:openapi(?:-json)?\.json|docs|userservice\/.*|public\/payments\/.*)$/

describe('who may do what', async () => {
  const { store } = await testDatabase()
  /** By what they are; `id` is that of a key that exists. */
  const keys = new Map<string, { readonly text: string; readonly id?: number; readonly origin?: string }>([
    ['none', { text: '' }],
    ['malformed', { text: "' or 1=1 --" }],
    ['unknown', { text: '5a0c1d2e-0000-4000-8000-000000000001' }],
  ])

  /** Tokens of each key, by what they are. */
  const tokens = new Map<number, Readonly<Record<string, string>>>()
  const api = await testApi(store)
  const { db } = store
  const at = api.now
  const account = async (email: string, grant: boolean) => {
    const made = await createApiUser(api.deps, { ...testUser, email })
    if (grant) await recordGrant(db, made.accountId, 'donations', at)
    return { ...made, id: made.keyId, text: made.apiKey }
  }
  const granted = await account('granted@example.org', true)
  const key = (limits: Partial<KeyLimits> = {}) => issueKey(db, granted.accountId, at, { ...noLimits, ...limits })
  const disabled = await account('disabled@example.org', true)
  const revoked = await key()
  const ofPage = await key({ scope: 'read', origins: page })
  keys.set('revoked', revoked)
  keys.set('expired', await key({ expiresAt: new Date(at.getTime() - 1000) }))
  keys.set('of a disabled account', disabled)
  keys.set('for reads', await key({ scope: 'read' }))
  keys.set('for donations', await key({ scope: 'donate' }))
  keys.set('of web pages, asked by its page', { ...ofPage, origin: page })
  keys.set('of web pages, asked by another page', { ...ofPage, origin: 'https://evil.example' })
  keys.set('of web pages, asked by no page', ofPage)
  keys.set('without a grant', await account('reader@example.org', false))
  keys.set('granted', granted)
  for (const { id } of keys.values()) if (id !== undefined) tokens.set(id, await tokensOf(id))
  await revokeKey(db, { id: revoked.id, accountId: granted.accountId }, at)
  await disableAccount(db, disabled.accountId, at)

  async function tokensOf(keyId: number): Promise<Readonly<Record<string, string>>> {
    const { db } = store
    const issue = (at: Date) => issueToken(db, { keyId, timeoutSeconds: 3600, at })
    const [valid, ended] = [await issue(api.now), await issue(api.now)]
    await endToken(db, { token: ended, keyId })
    return { valid, ended, expired: await issue(new Date(api.now.getTime() - 7_200_000)) }
  }

  /** The same with key and token in the query and as headers. */
  async function isLetIn(method: string, url: string, key: string, token?: string): Promise<boolean> {
    const { text } = keys.get(key) ?? { text: '' }
    const query = { api_key: text, ...(token !== undefined && { api_token: token }) }
    const headers = { 'x-api-key': text, ...(token !== undefined && { authorization: `Bearer ${token}` }) }
    const [inQuery, inHeaders] = [await ask(method, url, key, { query }), await ask(method, url, key, { headers })]
    expect(inHeaders, `${method} ${url} with the key ${key} as header`).toBe(inQuery)
    return inQuery
  }

  async function ask(
    method: string,
    url: string,
    key: string,
    { query = {}, headers = {} }: { query?: Record<string, string>; headers?: Record<string, string> },
  ): Promise<boolean> {
    const { origin } = keys.get(key) ?? {}
    const { statusCode } = await api.app.inject({
      ...{ method: method as 'GET' | 'POST', url, query },
      headers: {
        accept: 'application/json',
        'content-type': 'application/json',
        ...(origin && { origin }),
        ...headers,
      },
      ...(method === 'POST' && { payload: '{}' }),
    })
    // Bulk files are not there yet, which is said to whoever may have them.
    const others = url.endsWith('/download') ? [503] : []
    expect([200, 400, 401, 404, ...others], `${method} ${url} with the key ${key}`).toContain(statusCode)
    return statusCode !== 401
  }

  it('is said of every operation: all below /api need a key, but those that are named here', () => {
    expect(operations.filter(({ path, needs }) => open.test(path) !== (needs === ''))).toEqual([])
    expect(new Set(operations.map(({ needs }) => needs))).toEqual(new Set(['', 'api_key', 'api_key and api_token']))
    expect([needing('api_key').length > 40, needing('api_key and api_token').length]).toEqual([true, 3])
  })

  it('reads: whoever has a valid key for reads, from where it may be used', async () => {
    const readers = ['for reads', 'of web pages, asked by its page', 'without a grant', 'granted']
    for (const { method, path, address } of needing('api_key')) {
      const letIn: string[] = []
      for (const key of keys.keys()) if (await isLetIn(method, address, key)) letIn.push(key)
      expect(letIn, `${method} ${path}`).toEqual(readers)
    }
  })

  it('secure operations: whoever has a key for donations with a valid token of that key, and a grant', async () => {
    const validOf = (key: string) => {
      const token = tokens.get(keys.get(key)?.id ?? 0)?.valid
      if (!token) throw new Error(`the key ${key} has no token`)
      return token
    }
    for (const { method, path, address } of needing('api_key and api_token')) {
      const letIn: string[] = []
      for (const [key, { id = 0 }] of keys) {
        // Both live, as what is let in below shows.
        const other = validOf(key === 'granted' ? 'for donations' : 'granted')
        const own = tokens.get(id) ?? { valid: other }
        const states = { ...own, none: undefined, empty: '', unknown: 'a'.repeat(40), 'of another key': other }
        for (const [state, token] of Object.entries(states)) {
          if (await isLetIn(method, address, key, token)) letIn.push(`${key}, ${state}`)
        }
      }
      expect(letIn, `${method} ${path}`).toEqual(['for donations, valid', 'granted, valid'])
    }
  })
})
