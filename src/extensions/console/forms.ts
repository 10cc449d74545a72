import { createHmac, randomBytes } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Operator } from '../../accounts/sql/audit-events.js'
import type { Html } from '../../http/pages/html.js'
import { ServiceError } from '../../kernel/errors.js'
import { isSame, operatorOf } from './access.js'
import { consolePage, type Section } from './pages/frame.js'
import { withoutMailAddresses } from './without-mail-addresses.js'

/** The tokens in forms of one process: proof that a form was sent by a page of this console, to whom it showed it. */
export class FormTokens {
  readonly #secret = randomBytes(32)

  /** The token of a form that is sent to an address; absent: to that of this request. */
  issue(request: FastifyRequest, address = request.url): string {
    const [path] = address.split('?', 1)
    return createHmac('sha256', this.#secret)
      .update(`${operatorOf(request)}\n${path}`)
      .digest('hex')
  }

  /** An address whose page tells what was done; only this console makes such an address, and only for who is told. */
  #telling(request: FastifyRequest, address: string, done: string): string {
    const [page = '', part] = address.split('#', 2)
    const query = new URLSearchParams({ done, mark: this.#markOf(request, done) })
    return `${page}${page.includes('?') ? '&' : '?'}${query}${part === undefined ? '' : `#${part}`}`
  }

  /** What the page of a request tells of what was done just before. */
  messageFor(request: FastifyRequest): string | undefined {
    const { done, mark } = request.query as { readonly done?: unknown; readonly mark?: unknown }
    if (typeof done !== 'string' || typeof mark !== 'string') return undefined
    return isSame(mark, this.#markOf(request, done)) ? done : undefined
  }

  /** Leads to the page that is seen next, which can be loaded again without doing it again, with what was `done`. */
  lead(reply: FastifyReply, address: string, done?: string): FastifyReply {
    const location = done === undefined ? address : this.#telling(reply.request, address, done)
    return reply.code(303).header('location', location).send()
  }

  /** Sends a page, which begins with what was done just before. */
  send(reply: FastifyReply, section: Section | undefined, title: string, main: Html | readonly Html[]): FastifyReply {
    const page = consolePage(title, main, section, this.messageFor(reply.request))
    return reply.type('text/html; charset=utf-8').send(page)
  }

  #markOf(request: FastifyRequest, done: string): string {
    return createHmac('sha256', this.#secret)
      .update(`${operatorOf(request)}\ndone ${done}`)
      .digest('hex')
  }

  /** Reads a form; throws `request-malformed` when it was not sent by a page of this console. */
  read(request: FastifyRequest): URLSearchParams {
    const form = new URLSearchParams(String(request.body ?? ''))
    this.checkOrigin(request)
    this.checkToken(request, form)
    return form
  }

  /** Throws `request-malformed` for a form of a page of another address, before anything of the form is read. */
  checkOrigin({ headers: { origin = '', host } }: FastifyRequest): void {
    if (!URL.canParse(origin) || new URL(origin).host !== host)
      throw foreign('it was sent by a page of another address')
  }

  /** Throws `request-malformed` for a form without the token of its page. */
  checkToken(request: FastifyRequest, form: URLSearchParams): void {
    if (!isSame(form.get('token') ?? '', this.issue(request))) {
      throw foreign('its page is of another operator, or of before the service was started: open it again')
    }
  }
}

/** The reason that a form gives, for the audit trail. */
export function commentIn(form: URLSearchParams): string {
  return withoutMailAddresses((form.get('comment') ?? '').trim().slice(0, 500))
}

/** The number in an address or a field; undefined for anything else. */
export function givenNumber(text: unknown): number | undefined {
  return typeof text === 'string' && /^\d{1,15}$/.test(text) ? Number(text) : undefined
}

/** Who sent a form: who signed in; without tokens, who they say they are. Throws `request-invalid`. */
export function senderOf(request: FastifyRequest, form: URLSearchParams): Operator & { readonly name: string } {
  const name = operatorOf(request) ?? form.get('name')?.trim() ?? ''
  if (/^[\p{L}\p{N} ._-]{1,40}$/u.test(name)) return { name, actor: `operator ${name} (console)`, origin: request.ip }
  throw new ServiceError(
    'request-invalid',
    'your name: expected 1 to 40 letters, digits, spaces, dots, hyphens or underscores',
  )
}

function foreign(why: string): ServiceError {
  return new ServiceError('request-malformed', `the form was not accepted: ${why}`)
}
