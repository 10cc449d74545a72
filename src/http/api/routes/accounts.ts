import type { FastifyInstance } from 'fastify'
import { endToken } from '../../../accounts/sql/callers.js'
import { boolean, string } from '../../../catalogue/wire/write/wire-value.js'
import { audit } from '../audit.js'
import type { ApiDeps } from '../deps.js'
import type { CountKey } from '../limits.js'
import { addLogFields } from '../log-fields.js'
import { issueKeyTo, listKeysOf, revokeKeyOf } from '../operations/account-keys.js'
import type { Authenticate } from '../operations/authenticate.js'
import { changePassword, requestPasswordReset, resetPassword } from '../operations/change-password.js'
import { issueAccessToken } from '../operations/issue-access-token.js'
import { toKeyLimits } from '../operations/key-limits.js'
import { registerAccount, verifyAccount } from '../operations/register-account.js'
import { toKeyList } from '../representations/key-list.js'
import {
  forgetPassword,
  getToken,
  giveUpKey,
  listOwnKeys,
  makeAccount,
  replacePassword,
  requestKey,
  setPassword,
  signOut,
  verifyEmail,
} from './account-operations.js'
import { addAccountOperation } from './account-route.js'

/** Accounts, keys and tokens (wire.md 6.1, 10.1); where an operation needs a key, the body has it. */
export function accountRoutes(
  app: FastifyInstance,
  { authenticate, countKey, ...deps }: ApiDeps & { readonly authenticate: Authenticate; readonly countKey: CountKey },
): void {
  addAccountOperation(app, getToken, async ({ user, api_key: apiKey }, request) => {
    const { token, accountId, keyId } = await issueAccessToken(deps, { ...user, apiKey, address: request.ip })
    addLogFields(request, { account: accountId, key: keyId })
    return string(token)
  })

  addAccountOperation(app, signOut, async ({ api_key: apiKey, access_token: token }, request) => {
    const { id: keyId, accountId } = await authenticate(apiKey)
    addLogFields(request, { account: accountId, key: keyId })
    countKey(keyId)
    await deps.store.transaction(async (db) => {
      await endToken(db, { token, keyId })
      const who = { actor: `account ${accountId}`, origin: request.ip }
      await audit(deps, db, { action: 'sign-out', ...who, subject: `key ${keyId}` })
    })
    return boolean(true)
  })

  addAccountOperation(app, makeAccount, async ({ user, invitation }, request) => {
    const { accountId, email } = await registerAccount(deps, { ...user, invitation, address: request.ip })
    if (accountId !== undefined) addLogFields(request, { account: accountId })
    return string(email)
  })

  addAccountOperation(app, verifyEmail, async ({ user, verification_code: code }, request) => {
    const { accountId, email } = await verifyAccount(deps, { ...user, code, address: request.ip })
    addLogFields(request, { account: accountId })
    return string(email)
  })

  addAccountOperation(app, setPassword, async ({ user, new_password: newPassword, revoke_keys }, request) => {
    const change = {
      newPassword,
      field: `${setPassword.root}.new_password`,
      revokeKeys: revoke_keys ?? false,
      address: request.ip,
    }
    addLogFields(request, { account: await changePassword(deps, { ...user, ...change }) })
    return boolean(true)
  })

  addAccountOperation(app, forgetPassword, async ({ email }, request) => {
    await requestPasswordReset(deps, { email, address: request.ip })
    return boolean(true)
  })

  addAccountOperation(app, replacePassword, async ({ reset_code: code, new_password, revoke_keys }, request) => {
    const field = `${replacePassword.root}.new_password`
    const change = { newPassword: new_password, field, revokeKeys: revoke_keys ?? false, address: request.ip }
    addLogFields(request, { account: await resetPassword(deps, { ...change, code }) })
    return boolean(true)
  })

  addAccountOperation(app, requestKey, async ({ user, ...asked }, request) => {
    const limits = toKeyLimits(asked, deps.clock(), 'key_request.')
    const { accountId, key } = await issueKeyTo(deps, { ...user, address: request.ip }, limits)
    addLogFields(request, { account: accountId, key: key.id })
    return string(key.text)
  })

  addAccountOperation(app, listOwnKeys, async ({ user }, request) => {
    const { accountId, keys } = await listKeysOf(deps, { ...user, address: request.ip })
    addLogFields(request, { account: accountId })
    return toKeyList(keys)
  })

  addAccountOperation(app, giveUpKey, async ({ user, api_key: apiKey }, request) => {
    const { accountId, keyId } = await revokeKeyOf(deps, { ...user, apiKey, address: request.ip })
    addLogFields(request, { account: accountId, key: keyId })
    return boolean(true)
  })
}
