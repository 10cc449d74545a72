import { type Decimal, parseXsdDecimal } from '../../kernel/money.js'
import type { Element } from '../../kernel/xml/element.js'
import { isOpening, MonthSums, type Months, sidesOf, toUnits } from '../../release/read/activity-entry.js'

/** Looking things up in a published record, whose values are valid. */
export function children(element: Element | undefined, name: string): readonly Element[] {
  return element?.children.filter((child) => child.name === name) ?? []
}

export function child(element: Element | undefined, name: string): Element | undefined {
  return element?.children.find((one) => one.name === name)
}

/** The text of an element: its first narrative in the language, else its first. */
export function narrativeText(element: Element | undefined, language: string): string {
  const all = children(element, 'narrative')
  return (all.find(({ attributes }) => attributes['xml:lang'] === language) ?? all[0])?.text ?? ''
}

export type ShownTransaction = {
  readonly ref: string
  readonly type: string
  readonly date: string
  readonly currency: string
  readonly amount: Decimal
  readonly description: string
  readonly provider: string
  readonly receiver: string
}

export function transactionsOf(activity: Element, language: string): ShownTransaction[] {
  return children(activity, 'transaction').map((one) => ({
    ref: one.attributes.ref ?? '',
    type: child(one, 'transaction-type')?.attributes.code ?? '',
    date: child(one, 'transaction-date')?.attributes['iso-date'] ?? '',
    ...valueOfElement(activity, one),
    description: narrativeText(child(one, 'description'), language),
    provider: narrativeText(child(one, 'provider-org'), language),
    receiver: narrativeText(child(one, 'receiver-org'), language),
  }))
}

/** The amount of an element with a `value`; an activity from before a move may state its currency once for all. */
export function valueOfElement(
  activity: Element,
  of: Element | undefined,
): { readonly currency: string; readonly amount: Decimal } {
  const value = child(of, 'value')
  const currency = value?.attributes.currency || (activity.attributes['default-currency'] ?? '')
  return { currency, amount: parseXsdDecimal(value?.text ?? '') ?? ('0' as Decimal) }
}

/** The totals until a day among transactions. */
export function openingsOf(transactions: readonly ShownTransaction[]): ShownTransaction[] {
  return transactions.filter(({ type, ref }) => type === '1' && isOpening(ref))
}

/** Sums of transactions by month. */
export function monthsOf(transactions: readonly ShownTransaction[]): Months {
  const months = new MonthSums()
  for (const { type, ref, date, currency, amount } of transactions) {
    const value = { currency, units: toUnits(amount) }
    for (const side of sidesOf(type, ref)) months.add(date.slice(0, 7), side, value)
  }
  return months.toJSON()
}
