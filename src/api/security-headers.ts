import helmet, { type FastifyHelmetOptions } from '@fastify/helmet'
import { type FastifyInstance, fastify } from 'fastify'
import type { ApiConfig } from './deps.js'

/**
 * Headers for whoever opens an answer in a browser: nothing in it may run, frame or be guessed at. Pages for people set
 * their own content security policy over this one. Everything is public data, so other sites may load it.
 */
export async function secureHeaders(app: FastifyInstance, config: ApiConfig): Promise<void> {
  const headers = await helmetHeaders({
    contentSecurityPolicy: {
      useDefaults: false,
      directives: { defaultSrc: ["'none'"], frameAncestors: ["'none'"] },
    },
    crossOriginResourcePolicy: { policy: 'cross-origin' },
    crossOriginOpenerPolicy: false,
    originAgentCluster: false,
    referrerPolicy: { policy: 'no-referrer' },
    // Half a year; not for subdomains, which are not ours to decide about.
    strictTransportSecurity: config.baseUrl().startsWith('https:') && { maxAge: 15_552_000, includeSubDomains: false },
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

// What the framework itself says of an answer.
const ownHeaders = new Set(['content-type', 'content-length', 'date', 'connection'])

/**
 * The headers that helmet would set with these options. They are the same for every answer, and asking helmet for them
 * each time costs as much as the rest of a small answer (it sets them past the framework), so it is asked once.
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
