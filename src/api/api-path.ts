import type { FastifyRequest } from 'fastify'

/** Where the description of the API is: read without a key, and open in maintenance too. */
export const docsPath = '/api/docs'
export const openApiPath = '/api/openapi'

/**
 * Whether a request is for an operation of the API, known or not; the route counts rather than what the client wrote,
 * which may be percent-encoded.
 */
export function isApiRequest(request: Pick<FastifyRequest, 'routeOptions' | 'url'>): boolean {
  const path = request.routeOptions.url ?? request.url
  return path.startsWith('/api/') && !path.startsWith(docsPath) && !path.startsWith(openApiPath)
}
