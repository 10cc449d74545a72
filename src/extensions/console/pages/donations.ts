import { type Html, html } from '../../../http/pages/html.js'
import type { Donation, DonationEvent } from '../../../kernel/donation.js'
import type { Donor } from '../../../kernel/donor.js'
import { type CurrencyCode, type Decimal, grouped, roundToCurrency, signOf } from '../../../kernel/money.js'
import type { ChargeAttention } from '../../../money/sql/charge-states.js'
import type { DonationPlan } from '../../../money/sql/donation-plans.js'
import type { DonationHistory } from '../../../money/sql/donations.js'
import type { findReceiptMail } from '../../../money/sql/receipt-mails.js'
import { button, facts, listed, shownState, type Value } from './frame.js'

/** What was looked for; nothing of it stands in an address, since it may be an e-mail. */
export type Sought = Readonly<Record<'name' | 'project' | 'day', string>>

type Donations = {
  readonly donations: readonly Donation[]
  readonly sought: Sought
  readonly token: string
  readonly most: number
  /** Present: no money moves there. */
  readonly testGateway: string | undefined
  /** Sentences about what differs from the processor. */
  readonly differences: readonly string[]
  readonly attention: readonly ChargeAttention[]
}

/** The donations that were looked for, and what differs from the processor. */
export function donationsPage(shown: Donations): Html[] {
  const { donations, sought, token, most, testGateway, differences, attention } = shown
  const rows = attention.map(({ donationId, disputed, difference }) => [
    linked(donationId),
    difference ?? (disputed ? shownState('disputed') : undefined),
    adviceOn({ disputed, difference }),
  ])
  return [
    html`${rehearsalNote(testGateway)}${differences.map((sentence) => html`<p class="needs">${sentence}</p>\n`)}
${rows.length > 0 ? listed('Charges that differ from the processor, or are disputed', ['Donation', 'What', 'What to do'], rows) : undefined}
<form class="filters" method="post" action="/donations"><input type="hidden" name="token" value="${token}">
${textField('name', 'Number, receipt, reference, transaction or e-mail', sought.name, 40)}
${textField('project', 'Project', sought.project, 12)}
<div><label for="day">Day</label><input id="day" name="day" type="date" value="${sought.day}"></div>
<div><button>Find</button></div></form>
${listed('Donations, newest first', ['Donation', 'Received', 'Project', 'Amount', 'State', 'Given back', 'Receipt'], donations.map(row))}
${donations.length === most ? html`<p>These are the newest ${String(most)}: say more to find others.</p>` : undefined}`,
  ]
}

const textField = (name: string, text: string, value: string, size: number) =>
  html`<div><label for="${name}">${text}</label><input id="${name}" name="${name}" value="${value}" size="${String(size)}" maxlength="200" autocomplete="off"></div>`

function rehearsalNote(gateway: string | undefined): Html | undefined {
  return gateway === undefined ? undefined : html`<p class="lead">A rehearsal: no money moves at ${gateway}.</p>\n`
}

function row({ id, receivedAt, projectId, amount, currency, status, refunded, receiptNumber }: Donation): Value[] {
  const back = signOf(refunded) > 0 ? money(refunded, currency) : undefined
  return [linked(id), receivedAt, String(projectId), money(amount, currency), shownState(status), back, receiptNumber]
}

const linked = (id: number) => html`<a href="/donations/${String(id)}">${String(id)}</a>`

type Shown = {
  readonly history: DonationHistory
  readonly plan: DonationPlan | undefined
  readonly mail: Awaited<ReturnType<typeof findReceiptMail>>
  readonly attention: ChargeAttention | undefined
  /** Present: no money moves there. */
  readonly testGateway: string | undefined
  /** Of the form that shows who gave. */
  readonly token: string
  /** Absent: nobody has asked yet; null: nobody is known. */
  readonly donor?: Donor | null
}

/** A donation, its steps in words, and what can be done with it. */
export function donationPage({ history, plan, mail, attention, testGateway, token, donor }: Shown): Html[] {
  const { donation, events, donorKnown } = history
  const { id, projectId, status, amount, addon, currency, fee, settled, receiptNumber, reference, transactionId } =
    donation
  const known = facts([
    ['State', stateOf(donation)],
    ['Project', String(projectId)],
    ['Amount', money(amount, currency)],
    ['Tip', signOf(addon) > 0 ? money(addon, currency) : undefined],
    ['In the books', settled && money(settled.amount, settled.currency)],
    ['Fee', signOf(fee) > 0 ? money(fee, settled?.currency ?? currency) : undefined],
    ['Given back', signOf(donation.refunded) > 0 ? money(donation.refunded, currency) : undefined],
    ['Receipt', receiptNumber],
    ['Mail with the receipt', mail && `${mail.state}${mail.sentAt ? ` ${mail.sentAt.toISOString()}` : ''}`],
    ['Reference', reference],
    ['Transaction', transactionId],
    ['Monthly gift', plan && planInWords(plan)],
  ])
  const canGiveBack = status === 'settled' || (status === 'refunded' && donation.refunded !== amount)
  const buttons = [
    receiptNumber !== undefined && mail && button(`/donations/${String(id)}/receipt`, 'Mail the receipt again'),
    canGiveBack && button(`/donations/${String(id)}/refund`, 'Give back'),
    plan &&
      (plan.state === 'active' || plan.state === 'starting') &&
      button(`/plans/${String(plan.id)}/end`, 'End the monthly gift'),
    reference !== undefined && button(`/donations/${String(id)}/follow`, 'Compare with the processor'),
  ].flatMap((one) => (one ? [html`${one} `] : []))
  return [
    html`${rehearsalNote(testGateway)}${attention ? html`<p class="needs">${attention.difference ?? 'It is disputed.'} ${adviceOn(attention)}</p>` : undefined}
${known}
<p>${buttons}</p>
${listed(
  'Its steps',
  ['When', 'What happened'],
  events.map((event) => [event.at, inWords(event, donation)]),
)}
<h2>Who gave</h2>
${donorPart(id, donorKnown, token, donor)}`,
  ]
}

function donorPart(id: number, isKnown: boolean, token: string, donor: Donor | null | undefined): Html {
  if (donor) {
    return facts(Object.entries({ email: donor.email, ...donor.details }))
  }
  if (!isKnown || donor === null) return html`<p>Nobody is known, or the donor was erased.</p>`
  return html`<form method="post" action="/donations/${String(id)}/donor"><input type="hidden" name="token" value="${token}"><button>Show the donor</button></form>
<p>The look is entered in the audit trail.</p>`
}

function stateOf({ status, waitsFor, decline }: Donation): Html {
  const waits = status === 'received' ? (waitsFor ? `waits for the ${waitsFor}` : 'is being paid') : undefined
  return shownState(status, waits ?? (decline && `${decline.code} ${decline.text}`))
}

function planInWords({ id, state, nextAt, tries, reason }: DonationPlan): string {
  const next = state === 'active' && nextAt ? `, next ${nextAt.toISOString().slice(0, 10)}` : ''
  return `plan ${id}, ${state}${next}${tries > 0 ? `, declined ${tries} times` : ''}${reason === undefined ? '' : `: ${reason}`}`
}

function inWords({ kind, details }: DonationEvent, { currency, receiptNumber }: Donation): string {
  const said = (name: string) => (details[name] === undefined ? '' : String(details[name]))
  const sentences: Readonly<Record<DonationEvent['kind'], string>> = {
    received: 'The gift was received; the processor is asked for its money.',
    settled: `It was paid and entered in the books${receiptNumber === undefined ? '' : ` with the receipt ${receiptNumber}`}.`,
    declined: `The processor declined it with ${said('code')}.`,
    failed: `No money came: ${said('reason')}.`,
    refunded: `${grouped(said('amount'))} ${currency} went back (${said('kind')}).`,
    confirmed: 'The processor has settled it.',
    disputed: `A dispute at the bank: ${Object.values(details).join(', ')}.`,
  }
  return sentences[kind]
}

/** What a person does about it. */
function adviceOn({ disputed, difference }: Pick<ChargeAttention, 'disputed' | 'difference'>): string {
  const answer = disputed ? 'Answer the dispute in the console of the processor.' : ''
  const correct =
    difference === undefined
      ? ''
      : 'Correct it at the processor, then compare; where the books are right: giving payments follow NUMBER --accept.'
  return [answer, correct].filter(Boolean).join(' ')
}

/** The form that gives a donation back. */
export function refundPage(
  { id, amount, refunded, addon, currency }: Donation,
  { token, operator, limit }: { readonly token: string; readonly operator: string; readonly limit: string },
): Html {
  const tip = signOf(addon) > 0 ? ` and a tip of ${money(addon, currency)}` : ''
  return html`<p class="lead">Of ${money(amount, currency)}${tip} ${money(refunded, currency)} went back so far. The donor is told by mail. In a day at most ${limit} may go back.</p>
<form class="action" method="post">
<input type="hidden" name="token" value="${token}">
<div><label for="amount">Amount in ${currency}; empty: all that is left</label>
<input id="amount" name="amount" inputmode="decimal" maxlength="20" autocomplete="off"></div>
<div><label for="comment">Why, for the audit trail</label>
<textarea id="comment" name="comment" rows="2" maxlength="500" required></textarea></div>
<div><label for="again">The token of ${operator}, once more</label>
<input id="again" name="again" type="password" required autocomplete="current-password"></div>
<button>Give back</button>
</form>
<p><a href="/donations/${String(id)}">No, go back</a></p>`
}

const money = (amount: Decimal, currency: CurrencyCode) => `${grouped(roundToCurrency(amount, currency))} ${currency}`
