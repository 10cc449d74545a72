import type { FastifyInstance } from 'fastify'
import type { Log } from '../../platform/observability/log.js'
import { logFieldsOf } from './log-fields.js'

// Parameters whose values may be logged; all others may hold keys, tokens or anything that a client invents.
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

// Separators of a query, also percent-encoded once or several times.
const separator = /[?#;&]|%(?:25)*(?:3[fFbB]|23|26)/
const equals = /=|%(?:25)*3[dD]/

// A name and password before the host of an absolute address.
const userInfo = /\/\/[^/]*@/g
// Keys are UUIDs, tokens have 40 characters.
const secretShaped = /[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}|[\da-z]{40}/gi
// Enough digits for a card number, whatever separates them; none of our addresses has so many.
const manyDigits = /\d(?:(?:[ +._/-]|%[\da-f]{2}){0,3}\d){12,}/gi

// Longer addresses are sent to cost time, and would cost it once more here.
const mostLogged = 1_000

/**
 * The URL for a log, without its end where it is long: values of parameters that are not known to be harmless are left out,
 * and whatever has the shape of a key, a token or a card number anywhere.
 */
export function loggableUrl(url: string): string {
  const whole = url.replace(userInfo, '//[redacted]@')
  const kept = whole.length > mostLogged ? beforeCutPart(whole.slice(0, mostLogged)) : whole
  const loggable = withoutParameters(kept).replace(secretShaped, '[redacted]').replace(manyDigits, '[number]')
  return kept === whole ? loggable : `${loggable}…`
}

/** A part that lost its end goes: half a key or card number is not known as one. */
function beforeCutPart(start: string): string {
  return start.slice(0, Math.max(...['/', '?', '&'].map((sign) => start.lastIndexOf(sign)), 0))
}

function withoutParameters(url: string): string {
  const queryStart = url.search(separator)
  if (queryStart < 0) return url
  const [path = '', ...parameters] = url.split(separator)
  const loggable = parameters.map((parameter) => {
    const [name = '', value] = parameter.split(equals, 2)
    if (value === undefined) return '[redacted]'
    return harmlessParameters.has(name) ? parameter : `${name}=[redacted]`
  })
  return `${path}?${loggable.join('&')}`
}

/** Logs one line per request, when its answer was sent or given up: caller, address, URL and outcome. */
export function logRequests(app: FastifyInstance, parent: Log): void {
  // Its fields are chosen here, so lines need no redaction.
  const log = parent.child({}, { redact: [] })
  app.addHook('onResponse', (request, reply, done) => {
    const release = reply.getHeader('x-release')
    log.info(
      {
        requestId: request.id,
        address: request.ip,
        ...logFieldsOf(request),
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
