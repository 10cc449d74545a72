import type { Donor } from '../../kernel/donor.js'
import { ServiceError } from '../../kernel/errors.js'
import { type CurrencyCode, type Decimal, toMinorUnits } from '../../kernel/money.js'
import { textIn } from '../../kernel/texts.js'
import { loadTemplate, type TemplateChoice, templateFor } from '../../platform/mail/load-template.js'
import type { TemplateValues } from '../../platform/mail/mail-template.js'
import type { Mailed } from '../../platform/mail/mailing.js'
import { donorLink } from '../donors/donor-link.js'
import { findDonor } from '../donors/find-donor.js'
import { isSandbox } from '../gateways/gateway.js'
import { sumOf } from '../payments.js'
import { claimDonorMail, type DueMail } from '../sql/donor-mails.js'
import { findReceipt, recordMail } from '../sql/receipt-mails.js'
import { type DonorMailing, lessThan, type MailQueue, mailQueue, nameOf, toDonorOf, wordsIn } from './mail-donors.js'
import type { ReceiptSource } from './receipt-pdf.js'

/** What the templates of messages beside receipts may name, by message. */
const noticeFields = {
  refund: [
    ...['name', 'platform', 'project', 'charged', 'date', 'receiptNumber', 'refunded', 'left', 'voidReceipt'],
    'testGateway',
  ],
  'charge-failed': [
    ...['name', 'platform', 'project', 'projectLink', 'charged', 'date', 'again', 'cancelLink', 'voidReceipt'],
    'testGateway',
  ],
  statement: ['name', 'platform', 'year', 'donations', 'total', 'testGateway'],
} as const satisfies Readonly<Record<DueMail['kind'], readonly string[]>>

/** Ends with an error where a template cannot be used. Throws `configuration-invalid`. */
export async function checkNoticeTemplates(choice: TemplateChoice): Promise<void> {
  for (const [message, fields] of Object.entries(noticeFields)) await loadTemplate(message, fields, choice)
}

/** Mails what donors are told beside receipts: refunds, charges that failed, statements of a year; see `mailQueue`. */
export async function mailNotices(mailing: DonorMailing, signal: AbortSignal): Promise<Mailed> {
  const { store, choice } = mailing
  const queue: MailQueue<DueMail> = {
    what: 'a message to a donor',
    ...toDonorOf(mailing),
    claim: (now) => claimDonorMail(store.db, now),
    record: ({ id }, outcome) => recordMail(store.db, 'donor_mail', id, outcome),
    compose: async (due, donor) => {
      const fields: readonly string[] = noticeFields[due.kind]
      const { template, language } = await templateFor(due.kind, fields, { wanted: donor.details.language, choice })
      const values = await valuesOf(mailing, due, donor, language)
      return values && { ...template.render(values), id: `${due.kind}-${due.id}.${due.reference}` }
    },
  }
  return await mailQueue(mailing, queue, signal)
}

async function valuesOf(
  mailing: DonorMailing,
  due: DueMail,
  donor: Donor,
  language: string,
): Promise<TemplateValues<string> | undefined> {
  const { platform, baseUrl, donors } = mailing
  const shared = { name: nameOf(donor), platform, testGateway: isSandbox({ name: due.gateway }) ? due.gateway : '' }
  if (due.kind === 'statement') return await statementOf(mailing, due.subject, donor, { ...shared, language })
  const { currency, amount, addon, refunded, givenBack, plan } = due
  const { money, day } = wordsIn(language)
  const isWhole = toMinorUnits(amount, 4) === toMinorUnits(refunded, 4)
  const gift = {
    ...shared,
    ...{ project: textIn({ texts: due.projectTexts }, 'title', language) ?? due.project },
    ...{ charged: money(sumOf(amount, addon, currency), currency), date: day(due.at) },
    voidReceipt: isWhole ? (due.receiptNumber ?? '') : '',
  }
  if (due.kind === 'refund') {
    if (givenBack === undefined) return undefined
    const left = isWhole ? '' : money(lessThan(amount, refunded), currency)
    const number = isWhole ? '' : (due.receiptNumber ?? '')
    return { ...gift, receiptNumber: number, refunded: money(givenBack, currency), left }
  }
  // Its donor is told that it sleeps, or has ended it.
  if (plan && plan.state !== 'active') return undefined
  return {
    ...gift,
    projectLink: plan ? '' : (due.projectLink ?? ''),
    again: plan ? day(new Date(plan.lookAt)) : '',
    cancelLink: plan ? `${baseUrl}/gifts/${donorLink(donors, 'plan', plan)}` : '',
  }
}

/** The statement of a person for a UTC year, as it is mailed. Throws `not-found` where no gift of that year is left. */
export async function statementFor(
  source: ReceiptSource,
  { email, year }: { readonly email: string; readonly year: number },
): Promise<{ readonly subject: string; readonly text: string; readonly language: string }> {
  const { store, donors, choice, platform } = source
  const gifts = await findDonor(store.db, donors, email)
  const first = gifts.find(({ donation }) => donation.settledAt?.getUTCFullYear() === year)
  const wanted = first?.details.language
  const { template, language } = await templateFor('statement', noticeFields.statement, { wanted, choice })
  const gateway = first && (await findReceipt(store.db, first.donation.id))?.gateway
  const testGateway = gateway !== undefined && isSandbox({ name: gateway }) ? gateway : ''
  const shared = { name: first ? nameOf(first) : '', platform, testGateway, language }
  const values = await statementOf(source, String(year), { email }, shared)
  if (!values)
    throw new ServiceError('not-found', `nobody with this e-mail has a gift of ${year} that was not given back`)
  return { ...template.render(values), language }
}

/** All gifts of a donor in a UTC year, without tips and what was given back; undefined: none is left. */
async function statementOf(
  { store, donors }: Pick<DonorMailing, 'store' | 'donors'>,
  year: string,
  { email }: Pick<Donor, 'email'>,
  { language, ...shared }: Readonly<Record<'name' | 'platform' | 'testGateway' | 'language', string>>,
): Promise<TemplateValues<string> | undefined> {
  const { money, day } = wordsIn(language)
  const totals = new Map<CurrencyCode, Decimal>()
  const lines: string[] = []
  for (const { donation } of await findDonor(store.db, donors, email)) {
    const { settledAt, amount, refunded, currency, receiptNumber = '' } = donation
    if (settledAt?.getUTCFullYear() !== Number(year)) continue
    const kept = lessThan(amount, refunded)
    if (toMinorUnits(kept, 4) <= 0n) continue
    totals.set(currency, sumOf(totals.get(currency) ?? ('0' as Decimal), kept, currency))
    lines.push(`${day(settledAt)}: ${money(kept, currency)} (${receiptNumber})`)
  }
  if (lines.length === 0) return undefined
  const total = [...totals].map(([currency, sum]) => money(sum, currency)).join(', ')
  return { ...shared, year, donations: lines, total }
}
