import { signOf } from '../../kernel/money.js'
import { textIn } from '../../kernel/texts.js'
import { loadTemplate, type TemplateChoice, templateFor } from '../../platform/mail/load-template.js'
import type { Mailed } from '../../platform/mail/mailing.js'
import { donorLink } from '../donors/donor-link.js'
import { isSandbox } from '../gateways/gateway.js'
import { sumOf } from '../payments.js'
import { claimReceiptMail, type DueReceipt, type Receipt, recordMail } from '../sql/receipt-mails.js'
import { type DonorMailing, type MailQueue, mailQueue, nameOf, toDonorOf, wordsIn } from './mail-donors.js'

/** What a receipt says, in a message as in a PDF. */
export const receiptFields = [
  ...(['name', 'platform', 'project', 'amount', 'tip', 'charged', 'date', 'receiptNumber', 'testGateway'] as const),
] as const

const mailFields = [...receiptFields, 'projectLink', 'cancelLink', 'pdfLink'] as const

/** Ends with an error where the template of receipts cannot be used. Throws `configuration-invalid`. */
export async function checkReceiptTemplate(choice: TemplateChoice): Promise<void> {
  await loadTemplate('receipt', mailFields, choice)
}

/** Mails the receipts that are due, see `mailQueue`. */
export async function mailDueReceipts(mailing: DonorMailing, signal: AbortSignal): Promise<Mailed> {
  const { store, donors, choice, platform, baseUrl } = mailing
  const queue: MailQueue<DueReceipt> = {
    what: 'a receipt',
    ...toDonorOf(mailing),
    claim: (now) => claimReceiptMail(store.db, now),
    record: ({ donationId }, outcome) => recordMail(store.db, 'receipt_mail', donationId, outcome),
    compose: async (due, donor) => {
      if (!due.wanted) return undefined
      const { donationId: id, reference, plan } = due
      const { template, language } = await templateFor('receipt', mailFields, {
        ...{ wanted: donor.details.language, choice },
      })
      const links = {
        projectLink: due.projectLink ?? '',
        cancelLink: plan ? `${baseUrl}/gifts/${donorLink(donors, 'plan', plan)}` : '',
        pdfLink: `${baseUrl}/gifts/receipts/${donorLink(donors, 'receipt', { id, reference })}`,
      }
      const values = { ...receiptValues(due, { name: nameOf(donor), platform, language }), ...links }
      return { ...template.render(values), id: `${due.receiptNumber}.${due.reference}` }
    },
  }
  return await mailQueue(mailing, queue, signal)
}

/** What a receipt says in a language. */
export function receiptValues(
  { currency, amount, addon, project, projectTexts, settledAt, receiptNumber, gateway }: Receipt,
  { language, ...given }: Readonly<Record<'name' | 'platform' | 'language', string>>,
): Readonly<Record<(typeof receiptFields)[number], string>> {
  const { money, day } = wordsIn(language)
  return {
    ...{ ...given, project: textIn({ texts: projectTexts }, 'title', language) ?? project, receiptNumber },
    amount: money(amount, currency),
    tip: signOf(addon) > 0 ? money(addon, currency) : '',
    charged: money(sumOf(amount, addon, currency), currency),
    date: day(settledAt),
    testGateway: isSandbox({ name: gateway }) ? gateway : '',
  }
}
