import type { FastifyInstance } from 'fastify'
import type { Log } from '../observability/log.js'

// Parameters whose values may be written down; every other value (keys, tokens, whatever a client invents) may not.
const harmlessParameters = new Set([
  'nextProjectId',
  'nextOrgId',
  'projectIds',
  'q',
  'start',
  'filter',
  'is_test',
  'limit',
  'modifiedSince',
  'theme',
  'country',
])

// Long enough to be the number of a card, whatever stands between the digits; no address of ours has so many.
const manyDigits = /\d(?:(?:[ +.-]|%20|%2[BbDd])?\d){12,}/g

/** The URL for a log: values of parameters that are not known to be harmless are left out, and long numbers anywhere. */
export function loggableUrl(url: string): string {
  return withoutSecrets(url).replace(manyDigits, '[number]')
}

function withoutSecrets(url: string): string {
  // What follows a # or a ; is no query to us, but may be one to the client that wrote it.
  const queryStart = url.search(/[?#;]/)
  if (queryStart < 0) return url
  const parameters = url
    .slice(queryStart + 1)
    .split(/[?#;&]/)
    .map((parameter) => {
      const nameEnd = parameter.indexOf('=')
      if (nameEnd < 0) return '[redacted]'
      const name = parameter.slice(0, nameEnd)
      return harmlessParameters.has(name) ? parameter : `${name}=[redacted]`
    })
  return `${url.slice(0, queryStart)}?${parameters.join('&')}`
}

/** One line a request, when its answer has been sent or given up. */
export function logRequests(app: FastifyInstance, parent: Log): void {
  // Its fields are chosen here, so looking for secrets in each line again would only cost time.
  const log = parent.child({}, { redact: [] })
  app.addHook('onResponse', (request, reply, done) => {
    const release = reply.getHeader('x-release')
    log.info(
      {
        requestId: request.id,
        method: request.method,
        url: loggableUrl(request.originalUrl),
        route: request.routeOptions.url,
        status: reply.statusCode,
        ms: Math.round(reply.elapsedTime * 10) / 10,
        ...(release !== undefined && { release }),
      },
      'request',
    )
    done()
  })
}
