declare const decimalBrand: unique symbol
declare const currencyBrand: unique symbol

/** An exact decimal as text: `-?digits[.digits]`, no exponent, no separators (xsd:decimal). Money is always this. */
export type Decimal = string & { readonly [decimalBrand]: true }

/** An ISO 4217 currency code. */
export type CurrencyCode = string & { readonly [currencyBrand]: true }

const decimalPattern = /^([+-]?)(\d+)(?:\.(\d+))?$/

/** Reads an xsd:decimal text; undefined for anything else (exponents, hex, separators, blanks, empty). */
export function parseDecimal(text: string): Decimal | undefined {
  const match = decimalPattern.exec(text)
  if (!match) return undefined
  const [, sign = '', whole = '', fraction = ''] = match
  const digits = whole.replace(/^0+(?=\d)/, '')
  const negative = sign === '-' && /[1-9]/.test(whole + fraction)
  return `${negative ? '-' : ''}${digits}${fraction ? `.${fraction}` : ''}` as Decimal
}

/** Reads every form that xsd:decimal has (`.63`, `5.`, blanks around it), as others write it; undefined for anything else. */
export function parseXsdDecimal(text: string): Decimal | undefined {
  const whole = text
    .trim()
    .replace(/^([+-]?)(?=\.\d)/, '$10')
    .replace(/(?<=\d)\.$/, '')
  return parseDecimal(whole)
}

/** Returns the code when it has the shape of ISO 4217 (three capitals), else undefined. */
export function parseCurrencyCode(text: string): CurrencyCode | undefined {
  return /^[A-Z]{3}$/.test(text) ? (text as CurrencyCode) : undefined
}

// ISO 4217 minor units that differ from 2.
const exponents: Readonly<Record<string, number>> = {
  BIF: 0,
  CLP: 0,
  DJF: 0,
  GNF: 0,
  ISK: 0,
  JPY: 0,
  KMF: 0,
  KRW: 0,
  PYG: 0,
  RWF: 0,
  UGX: 0,
  UYI: 0,
  VND: 0,
  VUV: 0,
  XAF: 0,
  XOF: 0,
  XPF: 0,
  BHD: 3,
  IQD: 3,
  JOD: 3,
  KWD: 3,
  LYD: 3,
  OMR: 3,
  TND: 3,
  CLF: 4,
  UYW: 4,
}

/** The number of decimal places of a currency (ISO 4217 minor unit). */
export function minorUnitExponent(currency: CurrencyCode): number {
  return exponents[currency] ?? 2
}

const marks = new Map<CurrencyCode, ReadonlySet<string>>()

/** What stands beside amounts of a currency: its code, its signs such as `$`, `US$` and `€`, and its folded names. */
export function marksOf(currency: CurrencyCode): ReadonlySet<string> {
  const known = marks.get(currency)
  if (known) return known
  const shown = (languages: readonly string[], currencyDisplay: 'symbol' | 'narrowSymbol' | 'name') =>
    languages.flatMap((language) => {
      const format = new Intl.NumberFormat(language, { style: 'currency', currency, currencyDisplay })
      // One of them and several have names of their own.
      return [1, 2].map((count) => format.formatToParts(count).find(({ type }) => type === 'currency')?.value ?? '')
    })
  const signs = (['symbol', 'narrowSymbol'] as const).flatMap((one) => shown(['en', 'en-CA', 'de', 'sv', 'de-CH'], one))
  const names = shown(['en', 'de', 'fr', 'es', 'pt'], 'name').map(foldedMark)
  const short = Object.entries(shortNames).flatMap(([sign, list]) => (signs.includes(sign) ? list : []))
  const found = new Set([currency, ...signs, ...signs.map((sign) => sign.replace(/\.$/, ''))])
  for (const one of [currency, ...signs, ...names, ...short]) found.add(foldedMark(one))
  marks.set(currency, found)
  return found
}

// What people say without the country, by the sign that they write without it.
const shortNames = {
  $: ['dollar', 'dollars', 'dólares'],
  '£': ['pound', 'pounds', 'pfund', 'livres'],
  CHF: ['franken', 'francs', 'fr', 'sfr'],
  '₹': ['rs', 'rupees'],
  kr: ['kronor', 'kroner'],
} as const

/** A name of a currency as it is compared. */
export function foldedMark(name: string): string {
  return name.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase().replace(/[.-]/g, ' ').replace(/ +/g, ' ').trim()
}

/** Currencies whose ISO 4217 minor unit is not 2, with theirs. */
export const unusualMinorUnits: Readonly<Record<string, number>> = exponents

/** The amount in units of 10^-places, rounded half away from zero. */
export function toMinorUnits(amount: Decimal, places: number): bigint {
  const few = fewMinorUnits(amount, places)
  if (few !== undefined) return BigInt(few)
  const match = decimalPattern.exec(amount)
  if (!match) throw new TypeError(`not a decimal: ${amount}`)
  const [, sign = '', whole = '', fraction = ''] = match
  const kept = fraction.slice(0, places).padEnd(places, '0')
  let units = BigInt(whole + kept)
  if (fraction.charAt(places) >= '5') units += 1n
  return sign === '-' ? -units : units
}

// So many digits, with four more for the places, are whole numbers that a number holds exactly.
const fewDigits = 11

/** The same of an amount of few digits with no more decimals than `places`, as nearly all are; undefined for others. */
// Stryker disable all: an amount that is refused here takes the slower way to the same number.
function fewMinorUnits(amount: Decimal, places: number): number | undefined {
  const negative = amount.startsWith('-')
  const first = negative ? 1 : 0
  const { length } = amount
  if (length === first || length > first + fewDigits || places > 4) return undefined
  let units = 0
  let point = -1
  for (let at = first; at < length; at++) {
    const code = amount.charCodeAt(at)
    if (code >= 48 && code <= 57) units = units * 10 + code - 48
    else if (code === 46 && point < 0 && at > first && at + 1 < length) point = at
    else return undefined
  }
  const missing = point < 0 ? places : places - (length - 1 - point)
  if (missing < 0) return undefined
  for (let more = 0; more < missing; more++) units *= 10
  return negative ? -units : units
}
// Stryker restore all

/** The decimal text of an amount in units of 10^-places. */
export function fromMinorUnits(units: bigint, places: number): Decimal {
  const negative = units < 0n
  const digits = (negative ? -units : units).toString().padStart(places + 1, '0')
  const whole = places === 0 ? digits : digits.slice(0, -places)
  const fraction = places === 0 ? '' : `.${digits.slice(-places)}`
  return `${negative ? '-' : ''}${whole}${fraction}` as Decimal
}

/** The amount with exactly the currency's decimal places. */
export function roundToCurrency(amount: Decimal, currency: CurrencyCode): Decimal {
  const places = minorUnitExponent(currency)
  return fromMinorUnits(toMinorUnits(amount, places), places)
}

/** Whether the amount has no fraction but zeros. */
export function isWhole(amount: Decimal): boolean {
  return !/\.\d*[1-9]/.test(amount)
}

/** -1, 0 or 1. */
export function signOf(amount: Decimal): -1 | 0 | 1 {
  if (!/[1-9]/.test(amount)) return 0
  return amount.startsWith('-') ? -1 : 1
}

/**
 * Splits `total` units over the weights by largest remainder: the parts are whole, sum to `total` exactly, and ties go
 * to the earlier part (iati.md 6.1, 8.1). All weights zero means equal weights.
 */
export function splitByLargestRemainder(total: bigint, weights: readonly bigint[]): bigint[] {
  if (weights.length === 0) return []
  const usable = weights.some((weight) => weight > 0n) ? weights : weights.map(() => 1n)
  const sum = usable.reduce((a, b) => a + b, 0n)
  const parts = usable.map((weight) => (total * weight) / sum)
  const remainders = usable.map((weight, index) => ({ index, rest: (total * weight) % sum }))
  remainders.sort((a, b) => (a.rest === b.rest ? a.index - b.index : a.rest > b.rest ? -1 : 1))
  let left = total - parts.reduce((a, b) => a + b, 0n)
  for (const { index } of remainders) {
    if (left <= 0n) break
    parts[index] = (parts[index] ?? 0n) + 1n
    left -= 1n
  }
  return parts
}

/** Whether two amounts are the same number. */
export function sameAmount(a: Decimal, b: Decimal): boolean {
  return toMinorUnits(a, 4) === toMinorUnits(b, 4)
}

/** A number or amount with its digits in groups. */
export function grouped(number: string): string {
  return number.replace(/^-?\d+/, (whole) => whole.replaceAll(/\B(?=(\d{3})+$)/g, ','))
}
