import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { ServiceError } from '../../../kernel/errors.js'
import { hashOfToken } from '../../../money/donors/subscriptions.js'
import { endSubscription, findSubscription } from '../../../money/sql/subscriptions.js'
import type { IndexReader } from '../../../release/read/activity-index.js'
import { framed } from '../../pages/frame.js'
import type { Language } from '../../pages/page.js'
import { type SubscriptionPage, subscriptionPage, subscriptionsPath, trapField } from '../../pages/subscription.js'
import { languages } from '../../pages/words/words.js'
import { pageForPeople } from '../contract/operation.js'
import type { ApiDeps } from '../deps.js'
import { nothingHere } from '../errors.js'
import { isMailbox } from '../operations/create-api-user.js'
import { confirm, subscribe } from '../operations/subscribe.js'
import { frameOf, pageHeaders } from '../pages.js'

type LinkOf = { Params: { token: string } }

/**
 * Subscriptions to the reports of a project by mail: the form of its page, and the page by which one is confirmed and ended.
 * `readIndex` is absent where none are taken; those that there are can be ended all the same.
 */
export function subscriptionRoutes(app: FastifyInstance, deps: ApiDeps, readIndex: IndexReader | undefined): void {
  const { store, clock, releases } = deps
  /** The title of the project of this number; undefined when it has no published record. */
  const titleOf = async (id: string): Promise<string | undefined> => {
    const release = readIndex && (await releases.live())
    const index = release && (await readIndex(release))
    const row = /^\d{1,15}$/.test(id) ? index?.rowOfProject(Number(id)) : undefined
    return row === undefined ? undefined : index?.entry(row).title
  }
  app.post(subscriptionsPath, pageForPeople, async (given, reply) => {
    const request = given as FastifyRequest
    const form = new URLSearchParams(bodyText(request))
    const language = languageNamed(form.get('language'))
    const id = form.get('project') ?? ''
    const project = await titleOf(id)
    if (project === undefined) throw nothingHere(request)
    const email = (form.get('email') ?? '').trim()
    if (!isMailbox(email)) return send(request, reply.code(400), language, { says: 'wrong' })
    if (form.get(trapField)) return send(request, reply, language, { says: 'asked' })
    try {
      const wanted = { email, project, projectId: Number(id), language: language ?? 'en' }
      await subscribe(deps, { ...wanted, address: request.ip })
    } catch (error) {
      if (!(error instanceof ServiceError) || error.code !== 'login-throttled') throw error
      reply.code(503).header('retry-after', String(error.retryAfterSeconds ?? 900))
      return send(request, reply, language, { says: 'busy' })
    }
    return send(request, reply, language, { says: 'asked' })
  })

  // A program that follows the links of messages only reads: nothing is confirmed or ended before a POST.
  app.get<LinkOf>(`${subscriptionsPath}/:token`, pageForPeople, async (request, reply) => await show(request, reply))

  app.post<LinkOf>(`${subscriptionsPath}/:token`, pageForPeople, async (request, reply) => {
    const tokenHash = hashOfToken(request.params.token)
    const body = bodyText(request)
    const found = await findSubscription(store.db, tokenHash, clock())
    // As a form or in parts (RFC 8058), again and again.
    if (body.includes('One-Click')) {
      await endSubscription(store.db, tokenHash)
      return send(request, reply, languageNamed(found?.language), { says: 'ended' })
    }
    if (found && new URLSearchParams(body).has('confirm')) await confirm(deps, found)
    return await show(request, reply)
  })

  async function show(request: FastifyRequest<LinkOf>, reply: FastifyReply): Promise<FastifyReply> {
    const found = await findSubscription(store.db, hashOfToken(request.params.token), clock())
    if (!found) return send(request, reply.code(404), undefined, { says: 'gone' })
    const project = await titleOf(String(found.projectId))
    return send(request, reply, languageNamed(found.language), {
      says: found.confirmedAt ? 'active' : 'confirm',
      project,
    })
  }

  /** A page for one person alone, which no cache and no search engine keeps. */
  function send(
    request: FastifyRequest | FastifyRequest<LinkOf>,
    reply: FastifyReply,
    language: Language | undefined,
    page: SubscriptionPage,
  ): FastifyReply {
    // Its own address, which has the token, stands in no link of the page.
    const view = frameOf(deps, request as FastifyRequest, language, '/')
    return pageHeaders(reply, language)
      .header('content-type', 'text/html; charset=utf-8')
      .header('cache-control', 'no-store')
      .header('x-robots-tag', 'noindex')
      .send(framed(view, subscriptionPage(view, page)))
  }
}

function bodyText({ body }: FastifyRequest | FastifyRequest<LinkOf>): string {
  return Buffer.isBuffer(body) ? body.toString() : ''
}

function languageNamed(code: string | null | undefined): Language | undefined {
  return code && Object.hasOwn(languages, code) ? (code as Language) : undefined
}
