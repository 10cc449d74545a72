import cors from '@fastify/cors'
import type { FastifyInstance } from 'fastify'

/** Response headers that a browser app may read. */
export const exposedHeaders = [
  'Accept-Ranges',
  'Content-Length',
  'Content-Range',
  'ETag',
  'Last-Modified',
  'Retry-After',
  'X-Modified-Until',
  'X-Release',
  'X-Request-Id',
]

/**
 * Everything may be read from any origin, without credentials; OPTIONS succeeds for any path and echoes the header names
 * that were asked for (wire.md 1.2).
 */
export async function allowAllOrigins(app: FastifyInstance): Promise<void> {
  await app.register(cors, {
    origin: '*',
    methods: ['GET', 'HEAD', 'POST', 'OPTIONS'],
    maxAge: 86_400,
    exposedHeaders,
    strictPreflight: false,
  })
}
