import helmet, { type FastifyHelmetOptions } from '@fastify/helmet'
import { type FastifyInstance, fastify } from 'fastify'
import type { ApiConfig } from './deps.js'

/**
 * Headers for answers that are opened in a browser: no scripts, no frames, no sniffed types. Pages for people set their own
 * content security policy in place of this one. All data is public, so other sites may load it.
 */
export async function secureHeaders(app: FastifyInstance, config: ApiConfig): Promise<void> {
  const headers = await helmetHeaders({
    contentSecurityPolicy: {
      useDefaults: false,
      directives: { defaultSrc: ["'none'"], baseUri: ["'none'"], frameAncestors: ["'none'"] },
    },
    crossOriginResourcePolicy: { policy: 'cross-origin' },
    crossOriginOpenerPolicy: false,
    originAgentCluster: false,
    referrerPolicy: { policy: 'no-referrer' },
    // A year; subdomains may belong to other services.
    strictTransportSecurity: config.baseUrl().startsWith('https:') && { maxAge: 31_536_000, includeSubDomains: false },
    xDnsPrefetchControl: false,
    xDownloadOptions: false,
    xFrameOptions: false,
    xPermittedCrossDomainPolicies: false,
    xXssProtection: false,
  })
  app.addHook('onRequest', (_request, reply, done) => {
    reply.headers(headers)
    done()
  })
}

// Headers that the framework sets itself.
const ownHeaders = new Set(['content-type', 'content-length', 'date', 'connection'])

/**
 * The headers that helmet sets with these options. They are the same for every answer, so helmet computes them once: for
 * each answer it would cost as much as the rest of a small one.
 */
async function helmetHeaders(options: FastifyHelmetOptions): Promise<Record<string, string>> {
  const once = fastify()
  await once.register(helmet, options)
  once.get('/', async () => '')
  const { headers } = await once.inject('/')
  await once.close()
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) => (ownHeaders.has(name) ? [] : [[name, String(value)]])),
  )
}
