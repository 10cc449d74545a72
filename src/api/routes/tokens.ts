import type { FastifyInstance } from 'fastify'
import { endToken } from '../../store/access/callers.js'
import type { ApiDeps } from '../deps.js'
import type { Authenticate } from '../operations/authenticate.js'
import { issueAccessToken } from '../operations/issue-access-token.js'
import { revocationDocument } from '../representations/account-responses.js'
import { authDocument } from '../representations/auth-response.js'
import { getToken, signOut } from './account-operations.js'
import { addAccountOperation } from './account-route.js'

/** Getting a token (wire.md 6.1) and ending it; these operations have the key in the body. */
export function tokenRoutes(
  app: FastifyInstance,
  deps: Pick<ApiDeps, 'store' | 'passwords' | 'clock'>,
  authenticate: Authenticate,
): void {
  addAccountOperation(app, getToken, async ({ user, api_key: apiKey }, { ip: address }) => {
    const token = await issueAccessToken(deps, { ...user, apiKey, address })
    return (format) => authDocument(format, token)
  })

  addAccountOperation(app, signOut, async ({ api_key: apiKey, access_token: token }) => {
    const key = await authenticate(apiKey)
    await endToken(deps.store.db, { token, keyId: key.id })
    return revocationDocument
  })
}
