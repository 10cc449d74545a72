import type { IsoDate } from '../../kernel/dates.js'
import { type CurrencyCode, fromMinorUnits, minorUnitExponent } from '../../kernel/money.js'
import { type Element, element, textElement } from '../../kernel/xml/element.js'

/** A `value` from whole minor units. */
export function valueElement(units: bigint, currency: CurrencyCode, valueDate: IsoDate): Element {
  const amount = fromMinorUnits(units, minorUnitExponent(currency))
  return textElement('value', amount, { currency, 'value-date': valueDate })
}

/** `period-start` and `period-end`. */
export function periodElements(start: IsoDate, end: IsoDate): Element[] {
  return [element('period-start', { 'iso-date': start }), element('period-end', { 'iso-date': end })]
}
