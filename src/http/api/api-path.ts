import type { FastifyRequest } from 'fastify'

/** Addresses of the description of the API, which needs no key and stays open in maintenance. */
export const docsPath = '/api/docs'
export const openApiPath = '/api/openapi'
export const openApiJsonPath = '/api/openapi-json'

/**
 * Whether a request is for an operation of the API, known or not. The route decides where there is one, since the path may
 * be percent-encoded.
 */
export function isApiRequest(request: Pick<FastifyRequest, 'routeOptions' | 'url'>): boolean {
  const path = request.routeOptions.url ?? request.url
  return path.startsWith('/api/') && !path.startsWith(docsPath) && !path.startsWith(openApiPath)
}
