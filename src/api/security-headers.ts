import helmet from '@fastify/helmet'
import type { FastifyInstance } from 'fastify'
import type { ApiConfig } from './deps.js'

/**
 * Headers for whoever opens an answer in a browser: nothing in it may run, frame or be guessed at. Pages for people set
 * their own content security policy over this one. Everything is public data, so other sites may load it.
 */
export async function secureHeaders(app: FastifyInstance, { baseUrl }: ApiConfig): Promise<void> {
  await app.register(helmet, {
    contentSecurityPolicy: {
      useDefaults: false,
      directives: { defaultSrc: ["'none'"], frameAncestors: ["'none'"] },
    },
    crossOriginResourcePolicy: { policy: 'cross-origin' },
    crossOriginOpenerPolicy: false,
    originAgentCluster: false,
    referrerPolicy: { policy: 'no-referrer' },
    // Half a year; not for subdomains, which are not ours to decide about.
    strictTransportSecurity: baseUrl().startsWith('https:') && { maxAge: 15_552_000, includeSubDomains: false },
    xDnsPrefetchControl: false,
    xDownloadOptions: false,
    xFrameOptions: false,
    xPermittedCrossDomainPolicies: false,
    xXssProtection: false,
  })
}
