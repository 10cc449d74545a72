import { type IsoDate, later, monthEnd } from '../../kernel/dates.js'
import { type CurrencyCode, minorUnitExponent, roundToCurrency, toMinorUnits } from '../../kernel/money.js'
import type { Disbursement, DonationMonth, MoneyKind, ProjectGraph } from '../../kernel/project.js'
import { type Element, element } from '../../kernel/xml/element.js'
import { prewritten } from '../../kernel/xml/writer.js'
import type { MappingContext, Party } from './mapping-context.js'
import { coded, narrated, worded } from './narrative.js'
import { partyElement, partyOf, standingParties } from './organisations.js'
import { donations, type Sentence, sentence, sentenceElement } from './sentences.js'
import { valueElement } from './values.js'

/** One transaction to be written; `amount` in minor units of its currency. */
type Line = {
  readonly ref: string
  readonly type: '1' | '3' | '4'
  readonly date: IsoDate
  readonly currency: CurrencyCode
  readonly amount: bigint
  readonly description: Element | undefined
  readonly provider: Element
  readonly receiver: Element | undefined
}

/**
 * The two parties of most transactions, made once per activity. The platform's side names this activity, which is in the
 * same file (advisories 1000.0.x).
 */
type Sides = { readonly donors: Element; readonly paying: Element; readonly collecting: Element }

function sidesOf(context: MappingContext): Sides {
  const { identifier, language, config } = context
  const { donating, platform } = standingParties(config, language)
  return {
    donors: donating,
    paying: prewritten(partyElement('provider-org', platform, language, { 'provider-activity-id': identifier })),
    collecting: prewritten(partyElement('receiver-org', platform, language, { 'receiver-activity-id': identifier })),
  }
}

/** Money of the activity by currency, in minor units: what came in and what went out. */
export type MoneyTotals = Readonly<Record<string, { readonly in: bigint; readonly out: bigint }>>

/** `transaction` [0..*] (iati.md 9), ordered by date, type and ref. */
export function transactions(
  graph: ProjectGraph,
  implementing: Party | undefined,
  context: MappingContext,
): { readonly elements: Element[]; readonly totals: MoneyTotals } {
  const sides = sidesOf(context)
  const lines = [...monthLines(graph, sides, context), ...payoutLines(graph, implementing, sides, context)]
    .filter((line) => line.amount !== 0n)
    .sort((a, b) => compare(a.date, b.date) || compare(a.type, b.type) || compare(a.ref, b.ref))
  return { elements: lines.map(transaction), totals: moneyOf(lines) }
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}

/** Months of several sources that are reported as one line; `units` in minor units of the currency. */
type MergedMonth = { readonly first: DonationMonth; units: bigint; count: number; lastOn: IsoDate }

/** Months as reported: all sources of a month are one line, each funder has its own. */
function monthLines(graph: ProjectGraph, sides: Sides, context: MappingContext): Line[] {
  const merged = new Map<string, MergedMonth>()
  for (const month of graph.months) {
    if (month.lastOn > context.day) {
      context.notice('money-in-future', 'donation_month', `expected a day until ${context.day}, got ${month.lastOn}`)
      context.changesOn(month.lastOn)
      continue
    }
    const ref = refOf(graph.project.id, month)
    const units = toMinorUnits(month.amount, minorUnitExponent(month.currency))
    const before = merged.get(ref)
    if (before) {
      before.units += units
      before.count += month.count
      before.lastOn = later(before.lastOn, month.lastOn)
    } else {
      merged.set(ref, { first: month, units, count: month.count, lastOn: month.lastOn })
    }
  }
  const lines: Line[] = []
  for (const [ref, month] of merged) lines.push(monthLine(ref, month, graph, sides, context))
  return lines
}

const refPrefixes: Readonly<Record<MoneyKind, string>> = { gift: 'don', refund: 'ref', fee: 'fee', opening: 'open' }

function refOf(projectId: number, { kind, month, lastOn, source, currency, funder }: DonationMonth): string {
  // An opening total is dated by its own day, so two sources' openings stay two lines.
  const when = kind === 'opening' ? `${lastOn}-${source}` : month.slice(0, 7)
  return `${refPrefixes[kind]}-${projectId}-${when}-${currency}${funder ? `-org${funder.id}` : ''}`
}

function monthLine(ref: string, month: MergedMonth, graph: ProjectGraph, sides: Sides, context: MappingContext): Line {
  const { kind, currency, funder } = month.first
  const isFee = kind === 'fee'
  return {
    ref,
    type: isFee ? '4' : '1',
    currency,
    amount: month.units,
    date: kind === 'opening' ? month.lastOn : reportedDay(month, context),
    description: describe(month, graph, context),
    provider: isFee
      ? sides.paying
      : funder
        ? partyElement('provider-org', partyOf(funder, context), context.language)
        : sides.donors,
    receiver: isFee ? undefined : sides.collecting,
  }
}

/** The last day of the month; for the running month the last day on which money moved. */
function reportedDay({ first, lastOn }: MergedMonth, context: MappingContext): IsoDate {
  const end = monthEnd(first.month)
  if (end <= context.day) return end
  context.changesOn(end)
  return lastOn
}

function describe(
  { first, count, lastOn }: MergedMonth,
  { project }: ProjectGraph,
  { language }: MappingContext,
): Element | undefined {
  const when = first.month.slice(0, 7)
  const number = donations(language, count)
  const inWords = (key: Sentence, ...parts: readonly string[]) =>
    worded('description', sentence(language, key, ...parts), language)
  switch (first.kind) {
    case 'gift':
      return first.funder
        ? narrated('description', [sentence(language, 'giftsOf', first.funder.name, when)], language)
        : inWords('givenIn', number, when)
    case 'refund':
      return inWords('refunds', when)
    case 'fee':
      return inWords('fees', when)
    case 'opening': {
      const key = isStated(first) && project.modifiedDate === undefined ? 'openingWithoutDay' : 'opening'
      const [spoken, text] = sentence(language, key, number, lastOn)
      // A source may state a total and no number of donations.
      return worded('description', [spoken, count === 0 ? text.replace(` (${number})`, '') : text], language)
    }
    default:
      return first.kind satisfies never
  }
}

/** Whether a record stated the money as a total; other rows were booked with their day. */
function isStated({ source }: DonationMonth): boolean {
  return source === 'import' || source === 'upstream'
}

/** One in another currency says what was paid. */
function describePayout({ amount, original }: Disbursement, language: string): Element | undefined {
  const isReturn = amount.startsWith('-')
  if (!original) return sentenceElement('description', language, isReturn ? 'returned' : 'paid')
  const moved = roundToCurrency(original.amount, original.currency).replace('-', '')
  const words = sentence(language, isReturn ? 'returnedIn' : 'paidIn', moved, original.currency)
  return worded('description', words, language)
}

function payoutLines(
  graph: ProjectGraph,
  implementing: Party | undefined,
  sides: Sides,
  context: MappingContext,
): Line[] {
  if (graph.disbursements.length === 0) return []
  const { language } = context
  const partner = prewritten(
    partyElement(
      'receiver-org',
      implementing ?? { name: [sentence(language, 'partnerOf', String(graph.project.id))] },
      language,
    ),
  )
  return graph.disbursements.flatMap((payout): Line[] => {
    if (payout.disbursedOn > context.day) {
      context.notice(
        'money-in-future',
        'disbursement',
        `expected a day until ${context.day}, got ${payout.disbursedOn}`,
      )
      context.changesOn(payout.disbursedOn)
      return []
    }
    return [
      {
        ref: `pay-${payout.reference}`,
        type: '3',
        date: payout.disbursedOn,
        currency: payout.currency,
        amount: toMinorUnits(payout.amount, minorUnitExponent(payout.currency)),
        description: describePayout(payout, context.language),
        provider: sides.paying,
        receiver: payout.receiver ? partyElement('receiver-org', partyOf(payout.receiver, context), language) : partner,
      },
    ]
  })
}

const types = {
  '1': prewritten(coded('transaction-type', '1')),
  '3': prewritten(coded('transaction-type', '3')),
  '4': prewritten(coded('transaction-type', '4')),
} as const

function transaction(line: Line): Element {
  const { currency, date } = line
  return element('transaction', { ref: line.ref }, [
    types[line.type],
    element('transaction-date', { 'iso-date': date }),
    valueElement(line.amount, currency, date),
    line.description,
    line.provider,
    line.receiver,
  ])
}

/** Sums of what is written; the release guard compares them with the books. */
function moneyOf(lines: readonly Line[]): MoneyTotals {
  const totals: Record<string, { in: bigint; out: bigint }> = {}
  for (const { currency, type, amount } of lines) {
    totals[currency] ??= { in: 0n, out: 0n }
    totals[currency][type === '1' ? 'in' : 'out'] += amount
  }
  return totals
}
