import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { ServiceError } from '../../../kernel/errors.js'
import { planOfLink, provesPlan } from '../../../money/plans/plan-link.js'
import { type DonationPlan, endPlan, findPlan } from '../../../money/sql/donation-plans.js'
import { type Html, html } from '../../portal/html.js'
import { pageForPeople } from '../contract/operation.js'
import type { ApiDeps } from '../deps.js'

/** Below it every regular gift has a page of its own. */
export const giftsPath = '/gifts/'

type PlanRequest = FastifyRequest<{ Params: { link: string } }>

/** The page on which a donor ends a regular gift, at an address that only the donor has; it needs no script. */
export function giftRoutes(app: FastifyInstance, { payments, clock }: ApiDeps): void {
  const { store, donors } = payments
  const planOf = async (request: PlanRequest): Promise<DonationPlan> => {
    const { link } = request.params
    const id = planOfLink(link)
    const plan = id === undefined ? undefined : await findPlan(store.db, id)
    if (!plan || !provesPlan(donors, plan, link))
      throw new ServiceError('not-found', 'there is no gift at this address')
    return plan
  }
  app.get<{ Params: { link: string } }>(`${giftsPath}:link`, pageForPeople, async (request, reply) => {
    return send(reply, askPage(await planOf(request)))
  })
  app.post<{ Params: { link: string } }>(`${giftsPath}:link`, pageForPeople, async (request, reply) => {
    const { id } = await planOf(request)
    await endPlan(store.db, id, { state: 'ended', reason: 'the donor ended it', at: clock() })
    return send(reply, askPage(await planOf(request)))
  })
}

function askPage(plan: DonationPlan): Html {
  const { state, amount, currency, nextAt } = plan
  const isOver = state === 'ended' || state === 'asleep'
  const money = `${Number(amount).toFixed(2)} ${currency}`
  return isOver
    ? html`<h1>Your monthly gift has ended</h1>
<p>The gift of ${money} is charged no more.</p>`
    : html`<h1>End your monthly gift?</h1>
<p>The gift of ${money} is charged every month${nextAt ? html`, the next time on ${nextAt.toISOString().slice(0, 10)}` : undefined}.</p>
<form method="post"><button>End it now</button></form>`
}

function send(reply: FastifyReply, body: Html): FastifyReply {
  return reply
    .header('content-type', 'text/html; charset=utf-8')
    .header('cache-control', 'no-store')
    .header('x-robots-tag', 'noindex')
    .send(
      html`<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>Your monthly gift</title></head>
<body><main>
${body}
</main></body>
</html>
`.html,
    )
}
