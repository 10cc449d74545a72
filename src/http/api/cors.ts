import cors from '@fastify/cors'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { KeyLimits } from '../../accounts/sql/accounts.js'
import { ServiceError } from '../../kernel/errors.js'

/** Response headers that a browser app may read. */
export const exposedHeaders = [
  'Accept-Ranges',
  'Content-Length',
  'Content-Range',
  'ETag',
  'Last-Modified',
  'Link',
  'Retry-After',
  'X-Modified-Until',
  'X-Release',
  'X-Request-Id',
]

/** Any origin may read, without credentials; OPTIONS succeeds anywhere and repeats the header names (wire.md 1.2). */
export async function allowAllOrigins(app: FastifyInstance): Promise<void> {
  await app.register(cors, {
    origin: '*',
    methods: ['GET', 'HEAD', 'POST', 'OPTIONS'],
    maxAge: 86_400,
    exposedHeaders,
    strictPreflight: false,
  })
}

/**
 * Lets only pages of its origins use a key that is bound to some, and read the answer (wire.md 1.2). Throws
 * `key-restricted`, whose answer no page can read.
 */
export function requireOrigin(
  { origins }: Pick<KeyLimits, 'origins'>,
  { headers }: FastifyRequest,
  reply: FastifyReply,
): void {
  if (origins === undefined) return
  const { origin } = headers
  reply.removeHeader('access-control-allow-origin').header('vary', 'Origin')
  if (origin === undefined || !origins.split(' ').includes(origin)) {
    throw new ServiceError('key-restricted', 'this api_key may be used by pages of its web origins only')
  }
  reply.header('access-control-allow-origin', origin)
}

/** Sets `Vary`: names the headers that an answer depends on, and the origin for a key that is bound to origins. */
export function setVary(reply: FastifyReply, names: string): FastifyReply {
  return reply.header('vary', reply.getHeader('vary') === 'Origin' ? `${names}, Origin` : names)
}
