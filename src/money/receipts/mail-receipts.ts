import type { Clock } from '../../kernel/dates.js'
import { toServiceError } from '../../kernel/errors.js'
import { type Decimal, signOf } from '../../kernel/money.js'
import type { Store } from '../../platform/database/store.js'
import { findTemplate, loadTemplate, type TemplateChoice } from '../../platform/mail/load-template.js'
import type { MailTemplate } from '../../platform/mail/mail-template.js'
import type { SendOutcome, SmtpSender } from '../../platform/mail/smtp.js'
import type { DonorVault } from '../donors/donor-vault.js'
import { isSandbox } from '../gateways/gateway.js'
import { sumOf } from '../payments.js'
import { planLink } from '../plans/plan-link.js'
import { listDonors } from '../sql/donors.js'
import { claimReceiptMail, type DueReceipt, recordReceiptMail } from '../sql/receipt-mails.js'

/** What the template of a receipt may name. */
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
export type ReceiptMailing = {
  readonly store: Store
  readonly donors: DonorVault
  readonly sender: Pick<SmtpSender, 'send'>
  readonly template: MailTemplate<ReceiptField>
  readonly language: string
  /** The template in a donor's language; undefined: there is none, so the platform's is used. */
  readonly templateIn?: (language: string) => Promise<MailTemplate<ReceiptField> | undefined>
  readonly platform: string
  /** The address of the service, for links. */
  readonly baseUrl: string
  readonly clock: Clock
  /** Reports what went wrong, without the recipient. */
  readonly warn: (details: Readonly<Record<string, string | number | undefined>>, message: string) => void
}

/** How many receipts ended how. */
export type MailedReceipts = { readonly sent: number; readonly later: number; readonly ended: number }

const mostTries = 14
const longestWaitMs = 6 * 3_600_000

/**
 * Mails the receipts that are due. Each is marked before it is handed to the server, so that a process that dies in between
 * leaves one that may have been sent, never one that is sent twice. One that was certainly not accepted is tried again, after
 * a minute at first and six hours at last, 14 times in two days and a half. After one that may have been sent nothing more
 * is handed to the server until the next call: a server that breaks off while it takes mail would leave all in doubt.
 */
export async function mailDueReceipts(mailing: ReceiptMailing, signal: AbortSignal): Promise<MailedReceipts> {
  const { store, clock } = mailing
  const mailed = { sent: 0, later: 0, ended: 0 }
  while (!signal.aborted) {
    const due = await claimReceiptMail(store.db, clock())
    if (!due) break
    const outcome = await mailOne(mailing, due, signal).catch((error: unknown): SendOutcome => {
      const { code } = toServiceError(error)
      mailing.warn({ donationId: due.donationId, code }, 'a receipt could not be written')
      return { kind: 'not-sent' }
    })
    const at = clock()
    if (outcome.kind === 'sent') {
      mailed.sent += 1
      await recordReceiptMail(store.db, due.donationId, { state: 'sent', at })
    } else if (outcome.kind === 'not-sent' && due.tries < mostTries) {
      mailed.later += 1
      const waitMs = Math.min(60_000 * 2 ** (due.tries - 1), longestWaitMs)
      const nextAt = new Date(at.getTime() + waitMs)
      await recordReceiptMail(store.db, due.donationId, { state: 'due', at, nextAt, reply: outcome.code })
    } else {
      mailed.ended += 1
      const state = outcome.kind === 'not-sent' ? 'failed' : outcome.kind
      const reply = 'code' in outcome ? outcome.code : undefined
      await recordReceiptMail(store.db, due.donationId, { state, at, reply })
      if (outcome.kind !== 'dropped')
        mailing.warn(
          { donationId: due.donationId, state, reply },
          'a receipt was not mailed and will not be tried again',
        )
      if (state === 'unknown') break
    }
  }
  return mailed
}

async function mailOne(
  { store, donors, sender, template, templateIn, language, platform, baseUrl }: ReceiptMailing,
  due: DueReceipt,
  signal: AbortSignal,
): Promise<SendOutcome | { readonly kind: 'dropped' }> {
  const donor = (await listDonors(store.db, [due.donationId])).get(due.donationId)
  if (!donor || !due.wanted) return { kind: 'dropped' }
  if (donor.sealed && !donors.keyIds.includes(donor.sealed.keyId)) return { kind: 'not-sent' }
  const { email, details } = donor.sealed ? donors.open(donor.sealed, donor.reference) : donor.clear
  const name = [details.firstname, details.lastname].filter((part) => part !== undefined).join(' ')
  const cancelLink = due.plan ? `${baseUrl}/gifts/${planLink(donors, due.plan)}` : ''
  const own = details.language === undefined ? undefined : await templateIn?.(details.language)
  const spoken = own && details.language !== undefined ? details.language : language
  const values = receiptValues(due, { name, platform, language: spoken, cancelLink })
  const id = `${due.receiptNumber}.${due.reference}`
  return await sender.send({ ...(own ?? template).render(values), to: email, id }, signal)
}

function receiptValues(
  due: DueReceipt,
  { language, ...given }: Readonly<Record<'name' | 'platform' | 'language' | 'cancelLink', string>>,
): Readonly<Record<ReceiptField, string>> {
  const { currency, amount, addon } = due
  const inWords = (value: Decimal) =>
    new Intl.NumberFormat(language, { style: 'currency', currency }).format(value as unknown as number)
  const date = new Intl.DateTimeFormat(language, { dateStyle: 'long', timeZone: 'UTC' })
  return {
    ...given,
    project: due.project,
    projectLink: due.projectLink ?? '',
    amount: inWords(amount),
    tip: signOf(addon) > 0 ? inWords(addon) : '',
    charged: inWords(sumOf(amount, addon, currency)),
    date: date.format(due.settledAt),
    receiptNumber: due.receiptNumber,
    testGateway: isSandbox({ name: due.gateway }) ? due.gateway : '',
  }
}
