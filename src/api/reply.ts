import type { FastifyReply } from 'fastify'
import { mediaTypes } from './negotiation.js'
import type { Format } from './representations/wire.js'

/** Sends a finished document of the API; answers differ by key and change at any moment, so nobody keeps them unasked. */
export function sendDocument(reply: FastifyReply, format: Format, document: string): FastifyReply {
  return reply
    .header('content-type', mediaTypes[format])
    .header('vary', 'Accept')
    .header('cache-control', 'private, no-cache')
    .send(document)
}
