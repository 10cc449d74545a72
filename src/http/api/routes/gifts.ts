import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { ServiceError } from '../../../kernel/errors.js'
import { idInLink, provesLink } from '../../../money/donors/donor-link.js'
import { languageOfDonor } from '../../../money/donors/find-donor.js'
import { isSandbox } from '../../../money/gateways/gateway.js'
import { sumOf } from '../../../money/payments.js'
import { receiptPdf } from '../../../money/receipts/receipt-pdf.js'
import { type DonationPlan, endPlan, findPlan } from '../../../money/sql/donation-plans.js'
import { type Html, html } from '../../pages/html.js'
import { pageForPeople } from '../contract/operation.js'
import type { ApiDeps } from '../deps.js'
import { type DonorLanguage, languageOfPage, noMoney, sendDonorPage, withoutTraces } from './donor-page.js'

/** Below it every regular gift has a page of its own. */
export const giftsPath = '/gifts/'

type LinkOf = { Params: { link: string } }
type PlanRequest = FastifyRequest<LinkOf>

/**
 * The page on which a donor ends a regular gift, and the receipt of a donation as PDF, at addresses that only the donor has; they
 * need no script.
 */
export function giftRoutes(app: FastifyInstance, { payments, clock, config }: ApiDeps): void {
  const { store, donors } = payments
  const planOf = async (request: PlanRequest): Promise<DonationPlan> => {
    const { link } = request.params
    const id = idInLink(link)
    const plan = id === undefined ? undefined : await findPlan(store.db, id)
    if (!plan || !provesLink(donors, 'plan', plan, link))
      throw new ServiceError('not-found', 'there is no gift at this address')
    return plan
  }
  app.get<LinkOf>(`${giftsPath}:link`, pageForPeople, async (request, reply) => {
    return await answer(request, reply)
  })
  app.post<LinkOf>(`${giftsPath}:link`, pageForPeople, async (request, reply) => {
    const { id } = await planOf(request)
    await endPlan(store.db, id, { reason: 'the donor ended it', at: clock() })
    return await answer(request, reply)
  })
  app.get<LinkOf>(`${giftsPath}receipts/:link`, pageForPeople, async (request, reply) => {
    const { link } = request.params
    const { templates: choice, publisherName: platform } = config
    const { bytes, language, receiptNumber } = await receiptPdf(
      { store, donors, choice, platform },
      idInLink(link) ?? 0,
      ({ donationId: id, reference }) => provesLink(donors, 'receipt', { id, reference }, link),
    )
    return withoutTraces(reply, language)
      .header('content-type', 'application/pdf')
      .header('content-disposition', `inline; filename="${receiptNumber}.pdf"`)
      .send(bytes)
  })

  async function answer(request: PlanRequest, reply: FastifyReply): Promise<FastifyReply> {
    const plan = await planOf(request)
    const language = languageOfPage(request, await languageOfDonor(store.db, donors, plan.donationId))
    const rehearsal = isSandbox(payments.gateway) ? html`<p><strong>${noMoney[language]}</strong></p>\n` : undefined
    return sendDonorPage(reply, language, words[language].title, html`${rehearsal}${askPage(plan, language)}`)
  }
}

const words = {
  en: {
    title: 'Your monthly gift',
    over: 'Your monthly gift has ended',
    noMore: (money: string) => `The gift of ${money} is charged no more.`,
    ask: 'End your monthly gift?',
    charged: (money: string, day: string | undefined) =>
      `The gift of ${money} is charged every month${day === undefined ? '' : `, the next time on ${day}`}.`,
    end: 'End it now',
  },
  fr: {
    title: 'Votre don mensuel',
    over: 'Votre don mensuel est arrêté',
    noMore: (money: string) => `Le don de ${money} n'est plus débité.`,
    ask: 'Arrêter votre don mensuel\u202f?',
    charged: (money: string, day: string | undefined) =>
      `Le don de ${money} est débité chaque mois${day === undefined ? '' : `, la prochaine fois le ${day}`}.`,
    end: "L'arrêter maintenant",
  },
  es: {
    title: 'Su donación mensual',
    over: 'Su donación mensual ha terminado',
    noMore: (money: string) => `La donación de ${money} ya no se cobra.`,
    ask: '¿Poner fin a su donación mensual?',
    charged: (money: string, day: string | undefined) =>
      `La donación de ${money} se cobra cada mes${day === undefined ? '' : `, la próxima vez el ${day}`}.`,
    end: 'Ponerle fin ahora',
  },
  pt: {
    title: 'O seu donativo mensal',
    over: 'O seu donativo mensal terminou',
    noMore: (money: string) => `O donativo de ${money} já não é cobrado.`,
    ask: 'Terminar o seu donativo mensal?',
    charged: (money: string, day: string | undefined) =>
      `O donativo de ${money} é cobrado todos os meses${day === undefined ? '' : `, a próxima vez em ${day}`}.`,
    end: 'Terminar agora',
  },
  de: {
    title: 'Ihre monatliche Spende',
    over: 'Ihre monatliche Spende ist beendet',
    noMore: (money: string) => `Die Spende von ${money} wird nicht mehr abgebucht.`,
    ask: 'Monatliche Spende beenden?',
    charged: (money: string, day: string | undefined) =>
      `Die Spende von ${money} wird jeden Monat abgebucht${day === undefined ? '' : `, das nächste Mal am ${day}`}.`,
    end: 'Jetzt beenden',
  },
  ar: {
    title: 'تبرعكم الشهري',
    over: 'انتهى تبرعكم الشهري',
    noMore: (money: string) => `لن يُحصّل التبرع البالغ ${money} بعد الآن.`,
    ask: 'هل تريدون إنهاء تبرعكم الشهري؟',
    charged: (money: string, day: string | undefined) =>
      `يُحصّل التبرع البالغ ${money} كل شهر${day === undefined ? '' : `، والمرة القادمة في ${day}`}.`,
    end: 'إنهاؤه الآن',
  },
} as const satisfies Record<DonorLanguage, unknown>

function askPage({ state, amount, addon, currency, nextAt }: DonationPlan, language: DonorLanguage): Html {
  const { over, noMore, ask, charged, end } = words[language]
  const inWords = new Intl.NumberFormat(language, { style: 'currency', currency })
  const money = inWords.format(sumOf(amount, addon, currency) as unknown as number)
  const day = new Intl.DateTimeFormat(language, { dateStyle: 'long', timeZone: 'UTC' })
  return state === 'ended' || state === 'asleep'
    ? html`<h1>${over}</h1>
<p>${noMore(money)}</p>`
    : html`<h1>${ask}</h1>
<p>${charged(money, nextAt && day.format(nextAt))}</p>
<form method="post"><button>${end}</button></form>`
}
