import type { FastifyInstance } from 'fastify'
import { endToken } from '../../store/access/callers.js'
import { boolean, string } from '../../wire/write/wire-value.js'
import type { ApiDeps } from '../deps.js'
import { issueKeyTo, revokeKeyOf } from '../operations/account-keys.js'
import type { Authenticate } from '../operations/authenticate.js'
import { registerAccount } from '../operations/create-api-user.js'
import { issueAccessToken } from '../operations/issue-access-token.js'
import { countNewAccount } from '../operations/throttle.js'
import { getToken, giveUpKey, makeAccount, requestKey, signOut } from './account-operations.js'
import { addAccountOperation } from './account-route.js'

/** Accounts, keys and tokens (wire.md 6.1, 10.1); where an operation needs a key, the body has it. */
export function accountRoutes(app: FastifyInstance, deps: ApiDeps, authenticate: Authenticate): void {
  const { tokenTimeoutSeconds } = deps.config

  addAccountOperation(app, getToken, async ({ user, api_key: apiKey }, { ip: address }) =>
    string(await issueAccessToken(deps, { ...user, apiKey, address })),
  )

  addAccountOperation(app, signOut, async ({ api_key: apiKey, access_token: token }) => {
    const key = await authenticate(apiKey)
    await endToken(deps.store.db, { token, keyId: key.id })
    return boolean(true)
  })

  addAccountOperation(app, makeAccount, async ({ user }, { ip: address }) => {
    await countNewAccount(deps.store, address, deps.clock())
    const { email } = await registerAccount(deps, { ...user, tokenTimeoutSeconds, address })
    return string(email)
  })

  addAccountOperation(app, requestKey, async ({ user }, { ip: address }) =>
    string(await issueKeyTo(deps, { ...user, address })),
  )

  addAccountOperation(app, giveUpKey, async ({ user, api_key: apiKey }, { ip: address }) => {
    await revokeKeyOf(deps, { ...user, apiKey, address })
    return boolean(true)
  })
}
