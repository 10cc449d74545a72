import cors from '@fastify/cors'
import type { FastifyInstance } from 'fastify'

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

/**
 * Any origin may read everything, without credentials; OPTIONS succeeds for any path and repeats the requested header names
 * (wire.md 1.2).
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
