import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { discloseDonations, discloseDonor, refundByHand } from '../../cli/wiring/money-actions.js'
import type { Html } from '../../http/pages/html.js'
import { parseIsoDate } from '../../kernel/dates.js'
import type { Donor } from '../../kernel/donor.js'
import { ServiceError } from '../../kernel/errors.js'
import { minorUnitExponent, parseDecimal, signOf, toMinorUnits } from '../../kernel/money.js'
import { listChargeAttention } from '../../money/sql/charge-states.js'
import { findPlanOfDonation } from '../../money/sql/donation-plans.js'
import { type DonationHistory, findDonationHistory, listDonations } from '../../money/sql/donations.js'
import { findReceiptMail } from '../../money/sql/receipt-mails.js'
import { needDonors, needTokenAgain, operatorOf } from './access.js'
import type { ConsoleDeps } from './console-deps.js'
import { commentIn, type FormTokens, givenNumber, senderOf } from './forms.js'
import { donationPage, donationsPage, refundPage, type Sought } from './pages/donations.js'

const [most, mostDifferences] = [50, 50]

type OfDonation = { Params: { id: string } }

/** The pages about donations. Whoever is looked for comes in a form: an address may be logged, and kept by a browser. */
export function moneyRoutes(app: FastifyInstance, deps: ConsoleDeps, tokens: FormTokens): void {
  const { store, runtime, payments, testGateway } = deps
  const send = (reply: FastifyReply, title: string, main: Html | readonly Html[]) =>
    tokens.send(reply, 'donations', title, main)

  app.get('/donations', async (request, reply) => sendFound(request, reply, { name: '', project: '', day: '' }))
  app.post('/donations', async (request, reply) => {
    const form = tokens.read(request)
    const field = (name: string) => (form.get(name) ?? '').trim().slice(0, 200)
    const sought = { name: field('name'), project: field('project'), day: field('day') }
    if (!sought.name.includes('@')) return await sendFound(request, reply, sought)
    needDonors(request)
    const found = await discloseDonations(runtime, payments.donors, sought.name, senderOf(request, form))
    const ids = found.map(({ donation }) => donation.id)
    return await sendFound(request, reply, sought, ids)
  })
  app.get<OfDonation>('/donations/:id', async (request, reply) => {
    return await sendDonation(request, reply)
  })
  app.post<OfDonation>('/donations/:id/donor', async (request, reply) => {
    const form = tokens.read(request)
    needDonors(request)
    const { donation } = await historyOf(request)
    const donor = await discloseDonor(runtime, payments.donors, donation.id, senderOf(request, form))
    return await sendDonation(request, reply, donor ?? null)
  })
  app.get<OfDonation>('/donations/:id/refund', async (request, reply) => {
    const { donation } = await historyOf(request)
    const { limit, operator } = mayGiveBack(request)
    const page = refundPage(donation, {
      token: tokens.issue(request),
      operator,
      limit: `${limit} ${payments.currency}`,
    })
    return send(reply, `Give donation ${donation.id} back`, page)
  })
  app.post<OfDonation>('/donations/:id/refund', async (request, reply) => {
    const form = tokens.read(request)
    const { limit } = mayGiveBack(request)
    needTokenAgain(request, form.get('again') ?? '')
    const { donation } = await historyOf(request)
    const comment = commentIn(form)
    if (comment === '') throw new ServiceError('request-invalid', 'why: expected a reason; got: nothing')
    const { actor, origin } = senderOf(request, form)
    const amount = amountIn(form.get('amount') ?? '', minorUnitExponent(donation.currency))
    const wanted = { donationId: donation.id, kind: 'refund', amount, mostInDay: limit } as const
    await refundByHand(runtime, payments, wanted, { actor, origin, comment })
    const done = `Donation ${donation.id} is given back: a worker asks the processor, and the donor is told by mail.`
    return tokens.lead(reply, `/donations/${donation.id}`, done)
  })

  /** Throws unless the console gives money back, to who has signed in. */
  function mayGiveBack(request: FastifyRequest) {
    const operator = operatorOf(request)
    const { refundLimit } = runtime.config.ops
    if (refundLimit === undefined || operator === undefined) {
      const expected = 'OPS_TOKEN and OPS_REFUND_LIMIT, with which the console gives money back'
      throw new ServiceError('grant-missing', `expected ${expected}; the command is giving donations refund`)
    }
    return { limit: refundLimit, operator }
  }

  async function historyOf(request: FastifyRequest<OfDonation>): Promise<DonationHistory> {
    const id = givenNumber(request.params.id)
    const history = id === undefined ? undefined : await findDonationHistory(store.db, id)
    if (!history) throw new ServiceError('not-found', 'there is no such donation')
    return history
  }

  async function sendDonation(request: FastifyRequest<OfDonation>, reply: FastifyReply, donor?: Donor | null) {
    const history = await historyOf(request)
    const { id } = history.donation
    const [plan, mail, [attention]] = await Promise.all([
      findPlanOfDonation(store.db, id),
      findReceiptMail(store.db, id),
      listChargeAttention(store.db, 1, id),
    ])
    const token = tokens.issue(request, `/donations/${id}/donor`)
    const page = donationPage({
      history,
      plan,
      mail,
      attention,
      testGateway,
      token,
      ...(donor !== undefined && { donor }),
    })
    return send(reply, `Donation ${id}`, page)
  }

  async function sendFound(request: FastifyRequest, reply: FastifyReply, sought: Sought, ids?: readonly number[]) {
    const { name, project, day } = sought
    const onDay = parseIsoDate(day)
    if (day !== '' && onDay === undefined)
      throw new ServiceError('request-invalid', `day: expected 2026-11-01; got: ${day}`)
    if (!/^\d{0,15}$/.test(project))
      throw new ServiceError('request-invalid', `project: expected a number; got: ${project}`)
    const [donations, attention, differences] = await Promise.all([
      listDonations(store.db, {
        ...{ projectId: project === '' ? undefined : Number(project), status: undefined, transactionId: undefined },
        ...{ limit: most, name: name === '' || ids ? undefined : name, day: onDay, ids },
      }),
      listChargeAttention(store.db, mostDifferences),
      deps.differences(),
    ])
    const token = tokens.issue(request, '/donations')
    const page = donationsPage({ donations, sought, token, most, testGateway, attention, differences })
    return send(reply, 'Donations', page)
  }
}

/** Throws `request-invalid` for what is no amount. Undefined: all that is left. */
function amountIn(text: string, places: number) {
  if (text.trim() === '') return undefined
  const amount = parseDecimal(text.trim())
  if (amount !== undefined && signOf(amount) > 0 && toMinorUnits(amount, 9) % 10n ** BigInt(9 - places) === 0n)
    return amount
  throw new ServiceError(
    'request-invalid',
    `amount: expected one above 0 with at most ${places} decimals; got: ${text}`,
  )
}
