import { createHmac, randomBytes } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import { ServiceError } from '../../kernel/errors.js'
import { isSame, operatorOf } from './access.js'

/** The tokens in forms of one process: proof that a form was sent by a page of this console, to whom it showed it. */
export class FormTokens {
  readonly #secret = randomBytes(32)

  /** The token of a form at the address of this request. */
  issue(request: FastifyRequest): string {
    const [path] = request.url.split('?', 1)
    return createHmac('sha256', this.#secret)
      .update(`${operatorOf(request)}\n${path}`)
      .digest('hex')
  }

  /** Reads a form; throws `request-malformed` when it was not sent by a page of this console. */
  read(request: FastifyRequest): URLSearchParams {
    const form = new URLSearchParams(String(request.body ?? ''))
    const { origin = '', host } = request.headers
    if (!URL.canParse(origin) || new URL(origin).host !== host)
      throw foreign('it was sent by a page of another address')
    if (!isSame(form.get('token') ?? '', this.issue(request))) {
      throw foreign('its page is of another operator, or of before the service was started: open it again')
    }
    return form
  }
}

function foreign(why: string): ServiceError {
  return new ServiceError('request-malformed', `the form was not accepted: ${why}`)
}
