import type { FastifyInstance } from 'fastify'
import type { ApiDeps } from '../deps.js'
import { issueKeyTo, revokeKeyOf } from '../operations/account-keys.js'
import { registerAccount } from '../operations/create-api-user.js'
import { countNewAccount } from '../operations/throttle.js'
import { accountDocument, keyDocument, revocationDocument } from '../representations/account-responses.js'
import { giveUpKey, makeAccount, requestKey } from './account-operations.js'
import { addAccountOperation } from './account-route.js'

/** Making an account, getting its keys and giving them up: wire.md 10.1. */
export function accountRoutes(
  app: FastifyInstance,
  deps: Pick<ApiDeps, 'store' | 'passwords' | 'clock' | 'config'>,
): void {
  const { tokenTimeoutSeconds } = deps.config

  addAccountOperation(app, makeAccount, async ({ user }, { ip: address }) => {
    await countNewAccount(deps.store, address, deps.clock())
    const { email } = await registerAccount(deps, { ...user, tokenTimeoutSeconds, address })
    return (format) => accountDocument(format, email)
  })

  addAccountOperation(app, requestKey, async ({ user }, { ip: address }) => {
    const apiKey = await issueKeyTo(deps, { ...user, address })
    return (format) => keyDocument(format, apiKey)
  })

  addAccountOperation(app, giveUpKey, async ({ user, api_key: apiKey }, { ip: address }) => {
    await revokeKeyOf(deps, { ...user, apiKey, address })
    return revocationDocument
  })
}
