import type { FastifyReply } from 'fastify'
import type { Format } from '../wire/wire.js'
import { mediaTypes } from './negotiation.js'

/**
 * Sends a finished document of the API; it may change at any moment, so nobody keeps it unasked. It goes as bytes: to a
 * JSON text the framework would add a charset that the wire contract does not have.
 */
export function sendDocument(
  reply: FastifyReply,
  format: Format,
  document: string,
  cacheControl = 'private, no-cache',
): FastifyReply {
  return reply
    .header('content-type', mediaTypes[format])
    .header('vary', 'Accept')
    .header('cache-control', cacheControl)
    .send(Buffer.from(document))
}
