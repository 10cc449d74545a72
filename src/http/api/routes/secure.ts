import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Caller } from '../../../accounts/sql/callers.js'
import { keyOf, tokenOf } from '../credentials.js'
import type { ApiDeps } from '../deps.js'
import { sendUnrouted } from '../errors.js'
import type { CountKey } from '../limits.js'
import { addLogFields } from '../log-fields.js'
import { authenticateSecure } from '../operations/authenticate.js'

// They answer addresses that do not exist.
const undescribed = { config: { operations: [], isCatchAll: true } } as const

const callers = new WeakMap<FastifyRequest, Caller>()

/** The caller of a request in the secure area. */
export function callerOf(request: FastifyRequest): Caller {
  const caller = callers.get(request)
  if (!caller) throw new Error('the caller of a request outside of the secure area was asked for')
  return caller
}

/**
 * Everything under `/api/secure` (wire.md 1.3). Key, token and grant are checked before anything else, so that a caller
 * without them does not learn which operations exist. `routes` registers routes with their whole addresses.
 */
export async function secureArea(
  app: FastifyInstance,
  { countKey, ...deps }: ApiDeps & { readonly countKey: CountKey },
  routes: (area: FastifyInstance) => void,
): Promise<void> {
  await app.register(async (area) => {
    area.addHook('onRequest', async (request) => {
      const credentials = { apiKey: keyOf(request), token: tokenOf(request) }
      const caller = await authenticateSecure(deps, credentials, 'donations', ({ accountId, keyId }) => {
        addLogFields(request, { account: accountId, key: keyId })
        countKey(keyId)
      })
      callers.set(request, caller)
    })
    routes(area)
    // A route, since a not-found handler would skip this area's hooks for methods without a route.
    area.all('/api/secure', undescribed, async (request, reply) => sendUnrouted(request, reply))
    area.all('/api/secure/*', undescribed, async (request, reply) => sendUnrouted(request, reply))
  })
}
