import { signOf } from '../../kernel/money.js'
import { findTemplate, loadTemplate, type TemplateChoice } from '../../platform/mail/load-template.js'
import type { MailTemplate } from '../../platform/mail/mail-template.js'
import { isSandbox } from '../gateways/gateway.js'
import { sumOf } from '../payments.js'
import { planLink } from '../plans/plan-link.js'
import { claimReceiptMail, type DueReceipt, recordMail } from '../sql/receipt-mails.js'
import { type DonorMailing, type MailedReceipts, type MailQueue, mailQueue, nameOf, wordsIn } from './mail-donors.js'

const receiptFields = [
  'name',
  'platform',
  'project',
  'projectLink',
  'amount',
  'tip',
  'charged',
  'date',
  'receiptNumber',
  'cancelLink',
  'testGateway',
] as const

type ReceiptField = (typeof receiptFields)[number]

/** The template of receipts. Throws `configuration-invalid`. */
export async function loadReceiptTemplate(choice: TemplateChoice): Promise<MailTemplate<ReceiptField>> {
  return await loadTemplate('receipt', receiptFields, choice)
}

/** The same in a donor's language; undefined: there is none. */
export async function findReceiptTemplate(choice: TemplateChoice): Promise<MailTemplate<ReceiptField> | undefined> {
  return await findTemplate('receipt', receiptFields, choice)
}

/** What mailing needs. */
export type ReceiptMailing = DonorMailing & {
  readonly template: MailTemplate<ReceiptField>
  /** The template in a donor's language; undefined: there is none, so the platform's is used. */
  readonly templateIn?: (language: string) => Promise<MailTemplate<ReceiptField> | undefined>
}

/** Mails the receipts that are due, see `mailQueue`. */
export async function mailDueReceipts(mailing: ReceiptMailing, signal: AbortSignal): Promise<MailedReceipts> {
  const { store, donors, template, templateIn, language, platform, baseUrl } = mailing
  const queue: MailQueue<DueReceipt> = {
    what: 'a receipt',
    claim: (now) => claimReceiptMail(store.db, now),
    record: ({ donationId }, outcome) => recordMail(store.db, 'receipt_mail', donationId, outcome),
    compose: async (due, donor) => {
      if (!due.wanted) return undefined
      const wanted = donor.details.language
      const cancelLink = due.plan ? `${baseUrl}/gifts/${planLink(donors, due.plan)}` : ''
      const own = wanted === undefined ? undefined : await templateIn?.(wanted)
      const spoken = own && wanted !== undefined ? wanted : language
      const values = receiptValues(due, { name: nameOf(donor), platform, language: spoken, cancelLink })
      return { ...(own ?? template).render(values), id: `${due.receiptNumber}.${due.reference}` }
    },
  }
  return await mailQueue(mailing, queue, signal)
}

function receiptValues(
  due: DueReceipt,
  { language, ...given }: Readonly<Record<'name' | 'platform' | 'language' | 'cancelLink', string>>,
): Readonly<Record<ReceiptField, string>> {
  const { currency, amount, addon } = due
  const { money, day } = wordsIn(language)
  return {
    ...given,
    project: due.project,
    projectLink: due.projectLink ?? '',
    amount: money(amount, currency),
    tip: signOf(addon) > 0 ? money(addon, currency) : '',
    charged: money(sumOf(amount, addon, currency), currency),
    date: day(due.settledAt),
    receiptNumber: due.receiptNumber,
    testGateway: isSandbox({ name: due.gateway }) ? due.gateway : '',
  }
}
