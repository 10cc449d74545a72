import { type Decimal, parseXsdDecimal } from '../../kernel/money.js'
import { languageOfTag } from '../../kernel/texts.js'
import type { Element } from '../../kernel/xml/element.js'
import { MonthSums, type Months, sidesOf, toUnits } from '../../release/read/activity-entry.js'
import type { SumKind } from './sum-kinds.js'

/** Looking things up in a published record, whose values are valid. */
export function children(element: Element | undefined, name: string): readonly Element[] {
  return element?.children.filter((child) => child.name === name) ?? []
}

export function child(element: Element | undefined, name: string): Element | undefined {
  return element?.children.find((one) => one.name === name)
}

/** The text of an element in a record of the language `own`: in the language asked for, else in its own, else the first. */
export function narrativeIn(
  element: Element | undefined,
  language: string,
  own: string,
): { readonly text: string; readonly language: string } {
  const all = children(element, 'narrative').map(({ text, attributes: { 'xml:lang': spoken = own } }) => ({
    text,
    language: languageOfTag(spoken),
  }))
  const words = all.filter(({ text }) => /\S/.test(text))
  const found = [language, languageOfTag(own)].map((wanted) => words.find((one) => one.language === wanted))
  return found[0] ?? found[1] ?? words[0] ?? { text: '', language: own }
}

export type ShownTransaction = {
  readonly ref: string
  readonly type: string
  readonly date: string
  readonly currency: string
  readonly amount: Decimal
  readonly description: Narrative
  readonly provider: Narrative
  readonly receiver: Narrative
}

type Narrative = ReturnType<typeof narrativeIn>

export function transactionsOf(activity: Element, language: string): ShownTransaction[] {
  const narrative = (of: Element | undefined) => narrativeIn(of, language, activity.attributes['xml:lang'] ?? 'en')
  return children(activity, 'transaction').map((one) => ({
    ref: one.attributes.ref ?? '',
    type: child(one, 'transaction-type')?.attributes.code ?? '',
    date: child(one, 'transaction-date')?.attributes['iso-date'] ?? '',
    ...statedValue(activity, one),
    description: narrative(child(one, 'description')),
    provider: narrative(child(one, 'provider-org')),
    receiver: narrative(child(one, 'receiver-org')),
  }))
}

/** The amount of an element with a `value`; an activity from before a move may state its currency once for all. */
function statedValue(activity: Element, of: Element): { readonly currency: string; readonly amount: Decimal } {
  const value = child(of, 'value')
  const currency = value?.attributes.currency || (activity.attributes['default-currency'] ?? '')
  return { currency, amount: parseXsdDecimal(value?.text ?? '') ?? ('0' as Decimal) }
}

/** The kinds of money of types of transactions (TransactionType). */
export const kindsOfTypes: ReadonlyMap<string, SumKind> = new Map([
  ['1', 'in'],
  ['3', 'partners'],
  ['4', 'expenditure'],
])

/** Sums of transactions by month. */
export function monthsOf(transactions: readonly ShownTransaction[]): Months {
  const months = new MonthSums()
  for (const { type, ref, date, currency, amount } of transactions) {
    const value = { currency, units: toUnits(amount) }
    for (const side of sidesOf(type, ref)) months.add(date.slice(0, 7), side, value)
  }
  return months.toJSON()
}
