import { describe, expect, it } from 'vitest'
import { accountDocument, keyDocument, revocationDocument } from '../../../src/api/representations/account-responses.js'

describe('answers about accounts and keys, byte for byte', () => {
  for (const format of ['xml', 'json'] as const) {
    it(`are a new account, a key and a revocation (${format})`, async () => {
      await expect(accountDocument(format, 'ops@example.org')).toMatchFileSnapshot(`account.${format}`)
      const key = keyDocument(format, '5a0c1d2e-0000-4000-8000-000000000001')
      await expect(key).toMatchFileSnapshot(`key.${format}`)
      await expect(revocationDocument(format)).toMatchFileSnapshot(`revocation.${format}`)
    })
  }
})
