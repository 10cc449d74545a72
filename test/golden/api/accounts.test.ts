import { describe, expect, it } from 'vitest'
import { giveUpKey, makeAccount, requestKey } from '../../../src/api/routes/account-operations.js'
import { answerDocument } from '../../../src/api/routes/account-route.js'
import { boolean, string } from '../../../src/wire/write/wire-value.js'

describe('answers about accounts and keys, byte for byte', () => {
  for (const format of ['xml', 'json'] as const) {
    it(`are a new account, a key and a revocation (${format})`, async () => {
      const account = answerDocument(format, makeAccount, string('ops@example.org'))
      await expect(account).toMatchFileSnapshot(`account.${format}`)
      const key = answerDocument(format, requestKey, string('5a0c1d2e-0000-4000-8000-000000000001'))
      await expect(key).toMatchFileSnapshot(`key.${format}`)
      await expect(answerDocument(format, giveUpKey, boolean(true))).toMatchFileSnapshot(`revocation.${format}`)
    })
  }
})
