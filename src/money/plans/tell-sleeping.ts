import type { Decimal } from '../../kernel/money.js'
import { loadTemplate, type TemplateChoice } from '../../platform/mail/load-template.js'
import type { MailTemplate } from '../../platform/mail/mail-template.js'
import { sumOf } from '../payments.js'
import type { ReceiptMailing } from '../receipts/mail-receipts.js'
import { claimSleepingPlan, type SleepingPlan, tellLater } from '../sql/donation-plans.js'
import { listDonors } from '../sql/donors.js'

const fields = ['name', 'platform', 'project', 'charged', 'date'] as const

type SleepingField = (typeof fields)[number]

/** The template of the message about a regular gift that sleeps. Throws `configuration-invalid`. */
export async function loadSleepingTemplate(choice: TemplateChoice): Promise<MailTemplate<SleepingField>> {
  return await loadTemplate('gift-asleep', fields, choice)
}

// After that the message would only surprise.
const longestMs = 2 * 86_400_000

/** Tells the donors of plans that could not be charged, each at most once; gives how many messages were sent. */
export async function tellSleeping(
  mailing: Omit<ReceiptMailing, 'template'> & { readonly template: MailTemplate<SleepingField> },
  signal: AbortSignal,
): Promise<number> {
  const { store, clock, donors, sender, template, warn } = mailing
  let sent = 0
  while (!signal.aborted) {
    const plan = await claimSleepingPlan(store.db, clock())
    if (!plan) break
    const donor = (await listDonors(store.db, [plan.donationId])).get(plan.donationId)
    if (!donor) continue
    const at = clock()
    if (donor.sealed && !donors.keyIds.includes(donor.sealed.keyId)) continue
    const { email, details } = donor.sealed ? donors.open(donor.sealed, donor.reference) : donor.clear
    const name = [details.firstname, details.lastname].filter((part) => part !== undefined).join(' ')
    const message = template.render(valuesOf(mailing, plan, name))
    const outcome = await sender.send(
      { ...message, to: email, id: `gift-asleep-${plan.id}.${donor.reference}` },
      signal,
    )
    if (outcome.kind === 'sent') sent += 1
    else if (outcome.kind === 'not-sent' && at.getTime() - plan.endedAt.getTime() < longestMs) {
      await tellLater(store.db, plan.id, new Date(at.getTime() + 3_600_000))
      break
    } else warn({ plan: plan.id, state: outcome.kind }, 'a donor was not told that a regular gift sleeps')
  }
  return sent
}

function valuesOf(
  { platform, language }: Pick<ReceiptMailing, 'platform' | 'language'>,
  { amount, addon, currency, project, endedAt }: SleepingPlan,
  name: string,
): Readonly<Record<SleepingField, string>> {
  const money = new Intl.NumberFormat(language, { style: 'currency', currency })
  const inWords = (value: Decimal) => money.format(value as unknown as number)
  const date = new Intl.DateTimeFormat(language, { dateStyle: 'long', timeZone: 'UTC' }).format(endedAt)
  return { name, platform, project, charged: inWords(sumOf(amount, addon, currency)), date }
}
