import type { FastifyInstance, FastifyRequest, FastifySchema } from 'fastify'
import type { Caller } from '../../store/access/callers.js'
import type { ApiDeps } from '../deps.js'
import { nothingHere, sendError } from '../errors.js'
import { addLogFields } from '../log-fields.js'
import { authenticateSecure } from '../operations/authenticate.js'
import { queryValue } from '../query.js'

// Nothing that the description of the API should list.
const hidden: FastifySchema & { readonly hide: boolean } = { hide: true }

const callers = new WeakMap<FastifyRequest, Caller>()

/** Who makes this request; only for routes of the secure area, which are not reached without. */
export function callerOf(request: FastifyRequest): Caller {
  const caller = callers.get(request)
  if (!caller) throw new Error('the caller of a request outside of the secure area was asked for')
  return caller
}

/**
 * Everything under `/api/secure` (wire.md 1.3): key, token and grant are checked before
 * anything else, the body included, so that whoever may not ask learns not even which operations there are. `routes`
 * are registered with their whole addresses.
 */
export async function secureArea(
  app: FastifyInstance,
  deps: ApiDeps,
  routes: (area: FastifyInstance) => void,
): Promise<void> {
  await app.register(async (area) => {
    area.addHook('onRequest', async (request) => {
      const credentials = { apiKey: queryValue(request, 'api_key'), token: queryValue(request, 'api_token') }
      const caller = await authenticateSecure(deps, credentials, 'donations', ({ accountId, keyId }) =>
        addLogFields(request, { account: accountId, key: keyId }),
      )
      callers.set(request, caller)
    })
    routes(area)
    // A route, since a not-found handler would run without this area's hooks for methods that nothing answers.
    area.all('/api/secure', { schema: hidden }, async (request, reply) =>
      sendError(nothingHere(request), request, reply),
    )
    area.all('/api/secure/*', { schema: hidden }, async (request, reply) =>
      sendError(nothingHere(request), request, reply),
    )
  })
}
