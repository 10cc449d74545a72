import type { FastifyRequest } from 'fastify'
import { ServiceError } from '../../kernel/errors.js'
import { queryValue } from './query.js'

/**
 * The key of a request: `api_key` in the query or the header `X-Api-Key` (wire.md 1.3). Throws `request-invalid` when they
 * differ: whose key counts would decide whose limits and donations they are.
 */
export function keyOf(request: FastifyRequest): string | undefined {
  const header = request.headers['x-api-key']
  return oneOf(request, 'api_key', 'X-Api-Key', typeof header === 'string' ? header : undefined)
}

/** The token of a request: `api_token` in the query or `Authorization: Bearer`. Other schemes are a proxy's, and ignored. */
export function tokenOf(request: FastifyRequest): string | undefined {
  const [, header] = /^Bearer +(.*)$/i.exec(request.headers.authorization ?? '') ?? []
  return oneOf(request, 'api_token', 'Authorization', header)
}

function oneOf(request: FastifyRequest, name: string, headerName: string, headerText = ''): string | undefined {
  const header = headerText.trim() || undefined
  const query = queryValue(request, name)
  if (query !== undefined && header !== undefined && query !== header) {
    const problems = [{ field: headerName, expected: `the same as ${name}`, got: 'another' }]
    const message = `${headerName} and the query parameter ${name} differ: send one of them`
    throw new ServiceError('request-invalid', message, { problems })
  }
  return query ?? header
}
