import { type IncomingMessage, STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import { type ErrorCode, errorKinds, type FieldProblem, problemText, ServiceError } from '../../kernel/errors.js'
import type { Log } from '../../platform/observability/log.js'
import { endAfterAnswers } from './answer-in-order.js'
import { exposedHeaders, setVary } from './cors.js'
import { addLogFields } from './log-fields.js'
import { methodsAt } from './methods-at.js'
import { mediaTypes, responseFormat } from './negotiation.js'
import { type ErrorResponse, errorDocument } from './representations/error-response.js'

export const retryAfterSeconds = 5

/**
 * Answers any failure with `error_response` in the negotiated format (wire.md 2): the only place where an error becomes HTTP.
 * An internal failure is logged in full, and its answer has only the request id.
 */
export function sendError(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const failure = toApiError(error)
  addLogFields(request, { error: failure.code })
  if (failure.status >= 500 && !errorKinds[failure.code].public)
    request.log.error({ requestId: request.id, code: failure.code, err: error }, 'request failed')
  const format = responseFormat(request)
  setVary(reply, 'Accept')
    .code(failure.status)
    .header('content-type', mediaTypes[format])
    .header('cache-control', 'no-store')
    .header('x-request-id', request.id)
  if (failure.status === 503) reply.header('retry-after', String(failure.retryAfterSeconds ?? retryAfterSeconds))
  return reply.send(Buffer.from(errorDocument(format, toErrorResponse(failure, request.id))))
}

/** As `sendError`, for failures before any route and its hooks, such as a broken percent-encoding; adds the headers of CORS. */
export function sendFrameworkError(error: FastifyError, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  allowAnyOrigin(reply)
  request.log.info({ requestId: request.id, method: request.method, code: error.code }, 'request refused')
  return sendError(error, request, reply)
}

/** The headers of CORS, for an answer before the hooks that set them. */
export function allowAnyOrigin(reply: FastifyReply): void {
  reply.header('access-control-allow-origin', '*').header('access-control-expose-headers', exposedHeaders.join(', '))
}

/**
 * Answers a request that is not valid HTTP, on the socket, in XML; answers to requests before it are finished first. What a client
 * still sends is dropped until it closes or its time for a request is over, or it could lose the answer (RFC 9112 9.6).
 */
export function answerBrokenHttp(error: NodeJS.ErrnoException, socket: Socket, log: Log): void {
  if (socket.writableEnded && error.code?.startsWith('HPE_')) return
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy()
    return
  }
  log.info({ code: error.code }, 'broken HTTP request')
  if (endAfterAnswers(socket)) return
  const { status, message } = brokenHttp(error.code)
  const body = errorDocument('xml', { status, errors: [{ message }] })
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    `Content-Type: ${mediaTypes.xml}`,
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Access-Control-Allow-Origin: *',
    'Cache-Control: no-store',
    'Connection: close',
  ]
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`)
}

/** Answers a request that no route takes: 405 with `Allow` where the address takes other methods (RFC 9110 15.5.6), else 404. */
export function sendUnrouted(request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const allowed = methodsAt(request)
  if (allowed.length === 0 || allowed.includes(request.method)) return sendError(nothingHere(request), request, reply)
  const methods = [...allowed, 'OPTIONS'].join(', ')
  const message = `expected ${methods} at this address, got ${request.method}`
  return sendError(new ServiceError('method-not-allowed', message), request, reply.header('allow', methods))
}

/** The error of an address that does not exist. */
export function nothingHere(request: { readonly method: string; readonly raw: IncomingMessage }): ServiceError {
  const path = (request.raw.url ?? '').split(/[?#]/, 1)[0] ?? ''
  // HEAD has the same message as GET, since clients compare Content-Length.
  const what =
    request.method === 'GET' || request.method === 'HEAD' ? 'there is nothing at' : `nothing answers ${request.method}`
  return new ServiceError('not-found', `${what} ${path.slice(0, 200)}`)
}

/** The error with its code; those of the framework that a client can cause are told from defects. */
export function toApiError(error: unknown): ServiceError {
  if (error instanceof ServiceError) return error
  const { code, statusCode } = error as Partial<FastifyError>
  if (code === 'EMFILE' || code === 'ENFILE') {
    return new ServiceError('server-busy', 'too many files are being read at this moment', { cause: error })
  }
  const known = code === undefined ? undefined : frameworkErrors[code]
  if (known) return new ServiceError(known.code, known.message, { cause: error })
  if (statusCode === 404 || statusCode === 405) {
    return new ServiceError('not-found', 'nothing answers at this address', { cause: error })
  }
  if (statusCode !== undefined && statusCode >= 400 && statusCode < 500) {
    return new ServiceError('request-malformed', 'the request cannot be read', { cause: error })
  }
  return new ServiceError('internal', 'unexpected error', { cause: error })
}

function toErrorResponse(failure: ServiceError, requestId: string): ErrorResponse {
  const { public: isPublic, status } = errorKinds[failure.code]
  const { message: own, number, problems } = failure
  if (isPublic) {
    if (problems.length > 1) {
      return { status, errors: problems.map((one) => ({ message: problemText(one), number: numberOf(one) })) }
    }
    const errors = [{ message: own, number: number ?? (problems[0] && numberOf(problems[0])) }]
    return { status, errors, requiresAction: failure.requiresAction }
  }
  const message =
    status === 503
      ? 'the service cannot take this request at the moment'
      : 'an unexpected condition prevented the request from being completed'
  return { status, errors: [{ message: `${message} (request ${requestId})` }] }
}

// The `error_number` of a field that is missing or wrong; the payment processor's codes begin at 1000.
function numberOf({ missing }: FieldProblem): number {
  return missing ? 101 : 102
}

// The framework's own errors that a client can cause.
const frameworkErrors: Readonly<Record<string, { code: ErrorCode; message: string }>> = {
  FST_ERR_BAD_URL: { code: 'request-malformed', message: 'the path has a broken percent-encoding' },
  FST_ERR_MAX_PARAM_LENGTH: { code: 'not-found', message: 'nothing answers at an address this long' },
  FST_ERR_NOT_FOUND: { code: 'not-found', message: 'nothing answers at this address' },
  FST_ERR_CTP_BODY_TOO_LARGE: { code: 'request-too-large', message: 'the request body is larger than 64 KB' },
  FST_ERR_CTP_INVALID_MEDIA_TYPE: {
    code: 'media-type-unsupported',
    message: 'Content-Type must be application/xml or application/json',
  },
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: {
    code: 'request-malformed',
    message: 'the request body is not as long as Content-Length says',
  },
}

function brokenHttp(code: string | undefined): { readonly status: 400 | 408; readonly message: string } {
  if (code === 'HPE_HEADER_OVERFLOW') return { status: 400, message: 'the request headers are too large' }
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return { status: 408, message: 'the request did not arrive in time' }
  return { status: 400, message: 'the request is not valid HTTP' }
}
