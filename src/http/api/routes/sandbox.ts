import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { ServiceError } from '../../../kernel/errors.js'
import type { CurrencyCode } from '../../../kernel/money.js'
import { askingPath, notConfirmed, progressOf } from '../../../money/gateways/sandbox/sandbox-gateway.js'
import { ensureOpen } from '../../../money/payments.js'
import { followSettled } from '../../../money/rehearse.js'
import { answerCharge, findAskedCharge, type SandboxCharge } from '../../../money/sql/sandbox-charges.js'
import { type Html, html } from '../../pages/html.js'
import { pageForPeople } from '../contract/operation.js'
import type { ApiDeps } from '../deps.js'
import { type DonorLanguage, languageOfPage, noMoney, sendDonorPage } from './donor-page.js'

type AskedRequest = FastifyRequest<{ Params: { secret: string; answer?: string } }>
type Asked = { Params: { secret: string; answer: string } }

/** In a rehearsal: the page that asks a donor to confirm a payment, in place of the donor's bank. */
export function sandboxRoutes(app: FastifyInstance, { payments }: ApiDeps): void {
  if (!payments.rehearsal) return
  const { store, clock } = payments
  app.get<Asked>(`${askingPath}:secret`, pageForPeople, async (request, reply) => await answer(request, reply))
  app.post<Asked>(`${askingPath}:secret/:answer`, pageForPeople, async (request, reply) => {
    await ensureOpen(payments)
    const { reference } = await chargeOf(request)
    const given = request.params.answer
    if (given === 'confirm' || given === 'refuse') {
      const declineCode = given === 'refuse' ? notConfirmed : undefined
      await answerCharge(store.db, reference, { at: clock(), declineCode })
      await followSettled(payments)
    } else if (given !== 'later') throw nothingHere()
    return await answer(request, reply)
  })

  async function chargeOf(request: AskedRequest): Promise<SandboxCharge> {
    const charge = await findAskedCharge(store.db, request.params.secret)
    if (!charge) throw nothingHere()
    return charge
  }

  async function answer(request: AskedRequest, reply: FastifyReply): Promise<FastifyReply> {
    const language = languageOfPage(request)
    const charge = await chargeOf(request)
    const { title, waits, confirmed, refused } = words[language]
    const progress = progressOf(charge, clock())
    const body =
      progress !== 'asks'
        ? html`<p>${progress === 'failed' ? refused : confirmed}</p>`
        : request.params.answer === 'later'
          ? html`<p>${waits}</p>`
          : askPage(charge, language)
    return sendDonorPage(
      reply,
      language,
      title,
      html`<h1>${title}</h1>
<p><strong>${noMoney[language]}</strong></p>
${body}`,
    )
  }
}

function askPage({ amount, currency, secret = '' }: SandboxCharge, language: DonorLanguage): Html {
  const { ask, confirm, refuse, later } = words[language]
  const inWords = new Intl.NumberFormat(language, { style: 'currency', currency: currency as CurrencyCode })
  const choices = { confirm, refuse, later }
  const forms = Object.entries(choices).map(
    ([name, text]) => html`
<form method="post" action="./${secret}/${name}"><p><button>${text}</button></p></form>`,
  )
  return html`<p>${ask(inWords.format(amount as unknown as number))}</p>${forms}`
}

const nothingHere = () => new ServiceError('not-found', 'there is no payment to confirm at this address')

const words: Record<DonorLanguage, Words> = {
  en: {
    ...{ title: 'Rehearsal: your bank asks' },
    ...{ ask: (money) => `Do you pay ${money}?`, confirm: 'Confirm', refuse: 'Refuse', later: 'Answer later' },
    ...{ confirmed: 'The payment is confirmed.', refused: 'The payment was refused.' },
    waits: 'The payment waits for your answer. Open this address again to give it.',
  },
  fr: {
    title: 'Répétition\u202f: votre banque demande',
    ask: (money) => `Payez-vous ${money}\u202f?`,
    confirm: 'Confirmer',
    refuse: 'Refuser',
    later: 'Répondre plus tard',
    ...{ confirmed: 'Le paiement est confirmé.', refused: 'Le paiement a été refusé.' },
    waits: 'Le paiement attend votre réponse. Ouvrez de nouveau cette adresse pour la donner.',
  },
  es: {
    ...{ title: 'Ensayo: su banco pregunta' },
    ...{ ask: (money) => `¿Paga ${money}?`, confirm: 'Confirmar', refuse: 'Rechazar', later: 'Responder más tarde' },
    ...{ confirmed: 'El pago está confirmado.', refused: 'El pago fue rechazado.' },
    waits: 'El pago espera su respuesta. Abra de nuevo esta dirección para darla.',
  },
  pt: {
    ...{ title: 'Ensaio: o seu banco pergunta' },
    ...{ ask: (money) => `Paga ${money}?`, confirm: 'Confirmar', refuse: 'Recusar', later: 'Responder mais tarde' },
    ...{ confirmed: 'O pagamento está confirmado.', refused: 'O pagamento foi recusado.' },
    waits: 'O pagamento espera a sua resposta. Abra de novo este endereço para a dar.',
  },
  de: {
    ...{ title: 'Probe: Ihre Bank fragt' },
    ...{ ask: (money) => `Zahlen Sie ${money}?`, confirm: 'Bestätigen', refuse: 'Ablehnen', later: 'Später antworten' },
    ...{ confirmed: 'Die Zahlung ist bestätigt.', refused: 'Die Zahlung wurde abgelehnt.' },
    waits: 'Die Zahlung wartet auf Ihre Antwort. Öffnen Sie diese Adresse wieder, um sie zu geben.',
  },
  ar: {
    ...{ title: 'تجربة: مصرفكم يسأل' },
    ...{ ask: (money) => `هل تدفعون ${money}؟`, confirm: 'تأكيد', refuse: 'رفض', later: 'الإجابة لاحقًا' },
    ...{ confirmed: 'تم تأكيد الدفع.', refused: 'رُفض الدفع.' },
    waits: 'الدفع ينتظر إجابتكم. افتحوا هذا العنوان مرة أخرى للإجابة.',
  },
}

type Words = Readonly<Record<'title' | 'confirm' | 'refuse' | 'later' | 'confirmed' | 'refused' | 'waits', string>> & {
  readonly ask: (money: string) => string
}
