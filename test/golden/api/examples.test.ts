import { existsSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { readRequests } from '../../support/api/read-operations.js'

// Which golden documents show the answer of an operation.
const shown: Readonly<Record<string, string>> = {
  ...Object.fromEntries(readRequests.map(({ operation, golden }) => [`GET ${operation}`, `reads/${golden}`])),
  'POST /api/userservice/accounts': 'account',
  'POST /api/userservice/accounts/verify': 'account',
  'POST /api/userservice/keys': 'key',
  'POST /api/userservice/keys/list': 'keys',
  'POST /api/userservice/keys/revoke': 'revocation',
  'POST /api/userservice/passwords': 'password',
  'POST /api/userservice/passwords/forgotten': 'forgotten',
  'POST /api/userservice/passwords/reset': 'password',
  'POST /api/userservice/tokens': 'token',
  'POST /api/userservice/tokens/revoke': 'revocation',
  'POST /api/secure/givingservice/donations': 'donation-full',
  'POST /api/secure/givingservice/donationsclient': 'donation',
  'GET /api/secure/givingservice/clienttoken': 'client-token',
  'POST /api/public/payments/{gateway}': 'webhook',
  401: 'error',
  503: 'maintenance',
  ...Object.fromEntries([400, 403, 404, 410, 412, 416, 500].map((status) => [status, `errors/${status}`])),
  'request POST /api/userservice/accounts': 'requests/account',
  'request POST /api/userservice/accounts/verify': 'requests/verification',
  'request POST /api/userservice/passwords': 'requests/password',
  'request POST /api/userservice/passwords/forgotten': 'requests/forgotten',
  'request POST /api/userservice/passwords/reset': 'requests/password-reset',
  'request POST /api/userservice/keys': 'requests/key',
  'request POST /api/userservice/keys/list': 'requests/key-list',
  'request POST /api/userservice/keys/revoke': 'requests/key-revocation',
  'request POST /api/userservice/tokens': 'requests/token',
  'request POST /api/userservice/tokens/revoke': 'requests/token-revocation',
  'request POST /api/secure/givingservice/donations': 'requests/donation-card',
  'request POST /api/secure/givingservice/donationsclient': 'requests/donation',
}

const read = (name: string) => {
  const file = new URL(name, import.meta.url)
  return existsSync(file) ? readFileSync(file, 'utf8') : undefined
}

describe('examples in the description of the API', () => {
  it('are the golden documents; after a change of those: npx vitest run test/golden/api/examples.test.ts -u', async () => {
    const examples = Object.entries(shown).flatMap(([operation, name]) => {
      const [xml, json] = [read(`${name}.xml`), read(`${name}.json`)]
      return xml === undefined || json === undefined ? [] : [[operation, { xml, json }]]
    })
    expect(examples).toHaveLength(Object.keys(shown).length)
    const text = `${JSON.stringify(Object.fromEntries(examples), null, 1)}\n`
    await expect(text).toMatchFileSnapshot('../../../src/http/api/examples/answers.json')
  })
})
