import { describe, expect, it } from 'vitest'
import { boolean, string } from '../../../src/catalogue/wire/write/wire-value.js'
import { toKeyList } from '../../../src/http/api/representations/key-list.js'
import {
  answerDocument,
  forgetPassword,
  giveUpKey,
  listOwnKeys,
  makeAccount,
  requestKey,
  setPassword,
} from '../../../src/http/api/routes/account-operations.js'

const at = (day: string) => new Date(`${day}T09:30:00Z`)

describe('answers about accounts and keys, byte for byte', () => {
  for (const format of ['xml', 'json'] as const) {
    it(`are a new account, a key and a revocation (${format})`, async () => {
      const account = answerDocument(format, makeAccount, string('ops@example.org'))
      await expect(account).toMatchFileSnapshot(`account.${format}`)
      const key = answerDocument(format, requestKey, string('5a0c1d2e-0000-4000-8000-000000000001'))
      await expect(key).toMatchFileSnapshot(`key.${format}`)
      const keys = toKeyList([
        {
          ...{ id: 7, email: 'ops@example.org', scope: 'read', origins: 'https://www.example.org' },
          ...{ createdAt: at('2026-11-01'), expiresAt: at('2027-11-01'), lastUsedAt: at('2026-11-20') },
          revokedAt: undefined,
        },
        {
          ...{ id: 9, email: 'ops@example.org', scope: 'read donate', origins: undefined, createdAt: at('2026-11-02') },
          ...{ expiresAt: undefined, lastUsedAt: undefined, revokedAt: undefined },
        },
      ])
      await expect(answerDocument(format, listOwnKeys, keys)).toMatchFileSnapshot(`keys.${format}`)
      await expect(answerDocument(format, setPassword, boolean(true))).toMatchFileSnapshot(`password.${format}`)
      await expect(answerDocument(format, forgetPassword, boolean(true))).toMatchFileSnapshot(`forgotten.${format}`)
      await expect(answerDocument(format, giveUpKey, boolean(true))).toMatchFileSnapshot(`revocation.${format}`)
    })
  }
})
