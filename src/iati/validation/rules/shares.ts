import type { Element } from '../../../kernel/xml/element.js'
import { collapse } from '../simple-types.js'
import type { Report } from './rule.js'

// Enough for every percentage that anyone writes; a sum is compared after rounding to 4 decimals.
const places = 12
const unit = 10n ** BigInt(places)
const decimalPattern = /^([+-]?)(\d*)(?:\.(\d*))?$/

/** A decimal in units of 10^-12; 0 for a text that is none, which the structure reports. */
export function shareUnits(text = ''): bigint {
  const [, sign, whole = '', fraction = ''] = decimalPattern.exec(collapse(text)) ?? []
  const units = BigInt(whole + fraction.slice(0, places).padEnd(places, '0'))
  return sign === '-' ? -units : units
}

/** What is wrong with the percentages of elements that together must make 100; undefined when nothing is. */
export function sharesOf(parts: readonly Element[]): { missing: Element[]; sum: string | undefined } {
  const missing = parts.filter((part) => part.attributes.percentage === undefined)
  if (parts.length === 1 && missing.length === 1) return { missing: [], sum: undefined }
  if (missing.length > 0) return { missing, sum: undefined }
  let sum = 0n
  for (const part of parts) sum += shareUnits(part.attributes.percentage)
  const rounded = (sum + unit / 10_000n / 2n) / (unit / 10_000n)
  return { missing: [], sum: rounded === 1_000_000n ? undefined : percent(rounded) }
}

/** Ten-thousandths of a percent as text. */
function percent(units: bigint): string {
  const sign = units < 0n ? '-' : ''
  const digits = (units < 0n ? -units : units).toString().padStart(5, '0')
  return `${sign}${digits.slice(0, -4)}.${digits.slice(-4)}`.replace(/\.?0+$/, '')
}

/** Reports the percentages that lie outside 0 to 100. */
export function allInRange(parts: readonly Element[], report: Report): void {
  for (const part of parts) {
    const { percentage } = part.attributes
    const units = shareUnits(percentage)
    if (units < 0n || units > 100n * unit) report(part, `expected 0 to 100, got ${percentage}`, 'percentage')
  }
}

/** Whether there are codes, but none of the first vocabulary, the OECD DAC list. */
export function lacksDac(coded: readonly Element[]): boolean {
  return coded.length > 0 && !coded.some(({ attributes }) => (attributes.vocabulary || '1') === '1')
}

/** The elements grouped by an attribute; an absent or empty one counts as `fallback`. */
export function byAttribute(elements: readonly Element[], name: string, fallback: string): Map<string, Element[]> {
  const groups = new Map<string, Element[]>()
  for (const element of elements) {
    const key = element.attributes[name] || fallback
    const group = groups.get(key)
    if (group) group.push(element)
    else groups.set(key, [element])
  }
  return groups
}
