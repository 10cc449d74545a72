import { textIn } from '../../kernel/texts.js'
import { loadTemplate, type TemplateChoice, templateFor } from '../../platform/mail/load-template.js'
import { sumOf } from '../payments.js'
import { type DonorMailing, nameOf, wordsIn } from '../receipts/mail-donors.js'
import { claimSleepingPlan, tellLater } from '../sql/donation-plans.js'
import { listDonors } from '../sql/donors.js'

const fields = ['name', 'platform', 'project', 'charged', 'date'] as const

/** Ends with an error where the template about a regular gift that sleeps cannot be used. Throws `configuration-invalid`. */
export async function checkSleepingTemplate(choice: TemplateChoice): Promise<void> {
  await loadTemplate('gift-asleep', fields, choice)
}

// After that the message would only surprise.
const longestMs = 2 * 86_400_000

/** Tells the donors of plans that could not be charged, each at most once; returns how many messages were sent. */
export async function tellSleeping(mailing: DonorMailing, signal: AbortSignal): Promise<number> {
  const { store, clock, donors, sender, choice, platform, warn } = mailing
  let sent = 0
  while (!signal.aborted) {
    const plan = await claimSleepingPlan(store.db, clock())
    if (!plan) break
    const { amount, addon, currency, projectTexts, endedAt } = plan
    const at = clock()
    const row = (await listDonors(store.db, [plan.donationId])).get(plan.donationId)
    if (!row || (row.sealed && !donors.keyIds.includes(row.sealed.keyId))) continue
    const donor = row.sealed ? donors.open(row.sealed, row.reference) : row.clear
    const spoken = { wanted: donor.details.language, choice }
    const { template, language } = await templateFor('gift-asleep', fields, spoken)
    const { money, day } = wordsIn(language)
    const charged = money(sumOf(amount, addon, currency), currency)
    const message = template.render({
      name: nameOf(donor),
      platform,
      project: textIn({ texts: projectTexts }, 'title', language) ?? plan.project,
      charged,
      date: day(endedAt),
    })
    const id = `gift-asleep-${plan.id}.${row.reference}`
    const outcome = await sender.send({ ...message, to: donor.email, id }, signal)
    if (outcome.kind === 'sent') sent += 1
    else if (outcome.kind === 'not-sent' && at.getTime() - endedAt.getTime() < longestMs) {
      await tellLater(store.db, plan.id, new Date(at.getTime() + 3_600_000))
      break
    } else warn({ plan: plan.id, state: outcome.kind }, 'a donor was not told that a regular gift sleeps')
  }
  return sent
}
