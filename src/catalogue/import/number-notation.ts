import { isoDateIn, parseIsoDate } from '../../kernel/dates.js'
import { type CurrencyCode, foldedMark, fromMinorUnits, marksOf, minorUnitExponent } from '../../kernel/money.js'

/** What stands before the decimals of a number. */
type DecimalSign = 'comma' | 'point'

/** What a cell with nothing but `NULL`, `N/A`, `-` or the like is: left out, or the text that it is. */
export type MissingWords = 'empty' | 'text'

/** How the numbers of a file are written. */
export type NumberNotation = {
  /** Undefined: as plain numbers, with a point before decimals; `cents`: whole numbers of the currency's smallest unit. */
  readonly decimal: DecimalSign | 'cents' | undefined
  /** Whether amounts have three decimals, as those of KWD: then a point before three digits is one before decimals. */
  readonly hasThreeDecimals: boolean
  /** How days are written, such as `dd.mm.yyyy`; absent: 2026-11-21. */
  readonly date?: string | undefined
  /** The zone of days: an instant with an offset is a day of it. */
  readonly zone: string
  /** The currency of the amounts, whose sign or code may stand beside them. */
  readonly currency: CurrencyCode
}

const dateTokens = /dd|mmm|mm|yyyy|(?:19|20)yy|[^A-Za-z0-9]+/g

/** What programs count days by, with the words that name it: seconds of Unix may be milliseconds. */
const counted: ReadonlyMap<string, { readonly read: typeof unixDay; readonly example: string }> = new Map([
  ['excel', { read: excelDay, example: 'a day as Excel counts them, such as 46031' }],
  ['unix', { read: unixDay, example: 'seconds as Unix counts them, such as 1772618400' }],
])

/** What a pattern of days is: day, month as a number or name (mmm) and year once each, with signs between; or `excel` or `unix`. */
export function isDatePattern(pattern: string): boolean {
  if (counted.has(pattern)) return true
  const tokens = pattern.match(dateTokens) ?? []
  const count = (kind: RegExp) => tokens.filter((token) => kind.test(token)).length
  return tokens.join('') === pattern && count(/^dd$/) === 1 && count(/^m/) === 1 && count(/yy$/) === 1
}

/** What a message expects instead of a pattern of days. */
export function expectedDatePattern(pattern: string): string {
  const whole = pattern
    .toLowerCase()
    .replace(/m{4,}/, 'mmm')
    .replace(/(?<!d)d(?!d)/, 'dd')
    .replace(/(?<!m)m(?!m)/, 'mm')
  const meant = whole.replace(/(?<![y\d])yy(?!y)/, '20yy')
  const years = meant === whole ? '' : ', whose years have two digits and a stated century'
  const hint = meant !== pattern && isDatePattern(meant) ? `; ${meant} reads it${years}` : ''
  return `dd, mm (or mmm for a name) and yyyy (or 20yy for two digits) with a sign between, such as dd.mm.yyyy, or excel or unix${hint}`
}

const timeOfDay =
  /^(?:T|,? +)(\d{1,2})[:.h](\d{2})(?::(\d{2})(?:[.,]\d+)?)?(?: ?([ap])\.?m\.?| Uhr)?(?: ?(Z|UTC|GMT|[ECMP][SD]T|CES?T|[+-]\d{2}(?::?\d{2})?))?$/i
// RFC 5322 section 4.3 names those of North America; CST is one of them.
const namedZones: ReadonlyMap<string, string> = new Map([
  ...['EDT', 'CDT', 'MDT', 'PDT'].map((name, at): [string, string] => [name, `-0${at + 4}`]),
  ...['EST', 'CST', 'MST', 'PST'].map((name, at): [string, string] => [name, `-0${at + 5}`]),
  ['CET', '+01'],
  ['CEST', '+02'],
])

/**
 * A day in this pattern as 2026-11-21, with a time behind it or not; other texts stay as they are. Days and months may have
 * one digit where a sign follows, a stated century takes years with four digits too, and signs beside the name of a month
 * may be any. An instant with an offset is a day of the zone.
 */
export function isoDayOf(text: string, pattern: string, zone = 'UTC'): string {
  const given = signedDay(text)
  const count = counted.get(pattern)
  if (count) return count.read(given, zone) ?? text
  const read = pattern.includes('mmm') ? readNamedMonth(given, pattern) : readNumbers(given, pattern)
  if (read === undefined) return text
  const iso = `${read.year}-${read.month.padStart(2, '0')}-${read.day.padStart(2, '0')}`
  if (read.rest === '') return iso
  const [, hour = '', minute = '', second = '0', half, offset] = timeOfDay.exec(read.rest) ?? []
  if (hour === '' || Number(hour) > 23 || Number(minute) > 59) return text
  if (offset === undefined || parseIsoDate(iso) === undefined) return iso
  const hours = half === undefined ? Number(hour) : (Number(hour) % 12) + (/p/i.test(half) ? 12 : 0)
  const [, sign = '+', ahead = 0, minutes = 0] =
    /([+-])(\d\d):?(\d\d)?/.exec(namedZones.get(offset.toUpperCase()) ?? offset) ?? []
  const local = new Date(`${iso}T00:00:00Z`).getTime() + ((hours * 60 + Number(minute)) * 60 + Number(second)) * 1000
  return isoDateIn(zone, new Date(local - Number(`${sign}1`) * (Number(ahead) * 60 + Number(minutes)) * 60_000))
}

/** The parts of a day, and what stands behind it. */
type DayParts = { readonly year: string; readonly month: string; readonly day: string; readonly rest: string }

function readNumbers(given: string, pattern: string): DayParts | undefined {
  const tokens = pattern.match(dateTokens) ?? []
  let [at, year, month, day] = [0, '', '', '']
  for (const [index, token] of tokens.entries()) {
    const isCompact = /^[a-z\d]/i.test(tokens[index + 1] ?? ' ')
    const rest = given.slice(at)
    const found = (isCompact && /^(?:dd|mm)$/.test(token) ? /^\d{2}/ : shapeOf(token)).exec(rest)?.[0]
    if (found === undefined || (shapeOf(token) === signs && found.trim() !== token.trim())) return undefined
    if (token === 'dd') day = found
    else if (token === 'mm') month = found
    else if (token.endsWith('yy')) year = found.length === 4 ? found : token.slice(0, 2) + found
    at += found.length
  }
  return { year, month, day, rest: given.slice(at) }
}

const signs = /^[^\p{L}\p{N}]+/u

function shapeOf(token: string): RegExp {
  if (token === 'dd' || token === 'mm') return /^\d{1,2}/
  if (token === 'yyyy') return /^\d{4}/
  return token.endsWith('yy') ? /^(?:\d{4}|\d{2})(?!\d)/ : signs
}

// As `5. März 2026`, `1er août 2025`, `5 de marzo de 2026`, `March 5th, 2026` and `Thu, 05 Mar 2026` have it.
const namedOrders = new Map([
  [
    'dmy',
    /^(?:\p{L}+\.?,? *)?(?<day>\d{1,2})(?:st|nd|rd|th|er|\.?[ºª°])?(?![\p{L}\d])(?:[\s.,/-]|(?:de|del|of)\s)*(?<month>\p{L}{3,})\.?(?:[\s.,/-]|(?:de|del|of)\s)*(?<year>\d{4}|\d{2})(?!\d)/iu,
  ],
  [
    'mdy',
    /^(?:\p{L}+, *)?(?<month>\p{L}{3,})\.?[\s.,/-]*(?<day>\d{1,2})(?:st|nd|rd|th)?(?![\p{L}\d])[\s.,/-]*(?<year>\d{4}|\d{2})(?!\d)/iu,
  ],
  ['ymd', /^(?<year>\d{4}|\d{2})[\s.,/-]*(?<month>\p{L}{3,})\.?[\s.,/-]*(?<day>\d{1,2})(?![\p{L}\d])/iu],
])

/** A day whose month has its name: its pattern says the order of the parts, and the century. */
function readNamedMonth(given: string, pattern: string): DayParts | undefined {
  const found = namedOrders.get(orderOfPattern(pattern))?.exec(given)
  const { day = '', month = '', year = '' } = found?.groups ?? {}
  const [century = ''] = /(?:19|20)(?=yy)/.exec(pattern) ?? []
  if (!found || (year.length === 2 && century === '')) return undefined
  return {
    year: year.length === 2 ? century + year : year,
    month: monthOf(month),
    day,
    rest: given.slice(found[0].length),
  }
}

/** The order of day, month and year in a pattern: `dmy`. */
export function orderOfPattern(pattern: string): string {
  return pattern
    .replace(/[^dmy]/g, '')
    .replace(/d+/, 'd')
    .replace(/m+/, 'm')
    .replace(/y+/, 'y')
}

/** Days that Excel counts from 1900; the first of its days that exist in its calendar alone are left out. */
function excelDay(text: string): string | undefined {
  const [, days] = /^(\d{2,6})(?:[.,]\d+)?$/.exec(text) ?? []
  if (days === undefined || Number(days) < 61) return undefined
  return new Date(Date.UTC(1899, 11, 30) + Number(days) * 86_400_000).toISOString().slice(0, 10)
}

/** The text of a day, in which signs stand for the words that part it in Chinese, Japanese and Korean: `2026年3月14日`. */
function signedDay(text: string): string {
  return westernDigits(text.trim()).replace(/^(\d{4})[年년] ?(\d{1,2})[月월] ?(\d{1,2})[日일]/, '$1/$2/$3')
}

/** The day of an instant from 2001 to 2033. */
function unixDay(text: string, zone: string): string | undefined {
  const [, seconds] = /^(1\d{9})(?:\d{3}|\.\d+)?$/.exec(text) ?? []
  return seconds === undefined ? undefined : isoDateIn(zone, new Date(Number(seconds) * 1000))
}

const languages = ['en', 'de', 'fr', 'es', 'pt', 'it', 'nl', 'ar', 'pl', 'sv', 'tr', 'cs', 'hr']
let months: ReadonlyMap<string, string> | undefined

/** The number of a month by its name, whole or its first letters, in one of several languages; empty for others. */
function monthOf(name: string): string {
  months ??= readMonths()
  return months.get(foldedMonth(name)) ?? ''
}

function readMonths(): ReadonlyMap<string, string> {
  const found = new Map<string, string>()
  const several = new Set<string>()
  for (const language of languages) {
    for (const length of ['long', 'short'] as const) {
      // Beside a day, as Polish has another form for it.
      const format = new Intl.DateTimeFormat(language, { day: 'numeric', month: length, timeZone: 'UTC' })
      for (let at = 0; at < 12; at++) {
        const parts = format.formatToParts(Date.UTC(2026, at, 1))
        const name = foldedMonth(parts.find(({ type }) => type === 'month')?.value ?? '')
        for (let letters = 3; letters <= name.length; letters++) {
          const start = name.slice(0, letters)
          if ((found.get(start) ?? `${at + 1}`) !== `${at + 1}`) several.add(start)
          found.set(start, `${at + 1}`)
        }
      }
    }
  }
  // `jui` is June or July.
  for (const start of several) found.delete(start)
  return found.set('mrz', '3')
}

function foldedMonth(name: string): string {
  return name.normalize('NFKD').toLowerCase().replace(/\P{L}/gu, '')
}

const triedNumbers = ['dd.mm.yyyy', 'mm.dd.yyyy', 'yyyy.mm.dd', 'dd.mm.20yy', 'mm.dd.20yy', 'yyyymmdd']
const triedNames = ['dd mmm yyyy', 'mmm dd, yyyy', 'yyyy mmm dd', 'dd mmm 20yy', 'mmm dd, 20yy']

/** Patterns of days that are in use. */
export const datePatterns = [...triedNumbers, 'dd/mm/yyyy', 'mm/dd/yyyy', ...triedNames, ...counted.keys()]

/** Patterns of days that this text may be in. */
export function dayPatternsOf(text: string): string[] {
  const given = signedDay(text)
  const sign = /^\d{1,4}([./ -])\d{1,2}\1\d{1,4}/.exec(given)?.[1]
  const named = /\d-\p{L}/u.test(given) ? triedNames.map((one) => one.replace(/,? /g, '-')) : triedNames
  const patterns = [
    ...triedNumbers.map((one) => (sign ? one.replace(/\./g, sign) : one)),
    ...(/\p{L}{3}/u.test(given) ? named : []),
    ...(/^[2-6]\d{4}(?:[.,]\d+)?$/.test(given) ? ['excel'] : []),
    'unix',
  ]
  const reading = patterns.filter((pattern) => isReadBy(text, pattern))
  // With all digits of its year a day needs no century.
  return reading.filter((pattern) => !reading.includes(pattern.replace('20yy', 'yyyy')) || !pattern.includes('20yy'))
}

/** Whether a text is a day in this pattern. */
export function isReadBy(text: string, pattern: string): boolean {
  const day = isoDayOf(text, pattern)
  return day !== text && parseIsoDate(day) !== undefined
}

/** What a refused day would be in each order of its parts, or which pattern was named; undefined where no order reads it. */
export function explainDay(text: string, { date }: NumberNotation): string | undefined {
  if (date !== undefined) return counted.get(date)?.example ?? `a day such as ${date}`
  const readings = dayPatternsOf(text).map(
    (pattern) =>
      `${isoDayOf(text, pattern)} with giving import --date ${/[ ,]/.test(pattern) ? `'${pattern}'` : pattern}`,
  )
  return readings.length === 0 ? undefined : `a day such as 2026-11-21; this one is ${readings.join(', ')}`
}

// Thousands, or in India a thousand and then hundreds of it.
const patterns: Readonly<Record<DecimalSign, RegExp>> = {
  point: /^-?(?:\d+|[1-9]\d{0,2}(?:[, \u00A0\u202F'’]\d{3})+|[1-9]\d?(?:,\d{2})+,\d{3})(?:\.\d+)?$/,
  comma: /^-?(?:\d+|[1-9]\d{0,2}(?:[. \u00A0\u202F'’]\d{3})+)(?:,\d+)?$/,
}

/** The plain number of a text with this decimal sign, and perhaps with signs between thousands; undefined for others. */
export function numberIn(decimal: DecimalSign, text: string): string | undefined {
  if (!patterns[decimal].test(text)) return undefined
  const [whole = '', fraction] = text.split(decimal === 'comma' ? ',' : '.')
  return whole.replace(/[^-\d]/g, '') + (fraction === undefined ? '' : `.${fraction}`)
}

/** A text with the digits and signs of other scripts as European ones: `١٬٢٥٠٫٥٠` is `1,250.50`. */
function westernDigits(text: string): string {
  if (!/[\u0660-\uFFFF]/.test(text)) return text
  // The ten digits of a script begin at a multiple of 16, or 6 behind it.
  const isDigit = (code: number) => /\p{Nd}/u.test(String.fromCharCode(code))
  return text
    .replace(/[\u0660-\uFFFF]/g, (sign) => {
      const code = sign.charCodeAt(0)
      return isDigit(code) ? String((code & 0xf) - (isDigit(code & ~0xf) ? 0 : 6)) : sign
    })
    .replaceAll('\u066B', '.')
    .replaceAll('\u066C', ',')
}

type Bare = { readonly number: string; readonly marks: readonly string[] }

const markBefore = /^(?:\p{L}{0,3}\p{Sc}|\p{L}[\p{L} .-]{0,30}?) *(?=[-+\d(])/u
const markBehind = /(?<=[\d)-]) *(?:\p{L}{0,3}\p{Sc}|\p{L}[\p{L} .-]{0,30})$/u

/** A number without signs and names of its currency, and with the minus of bookkeepers before it: `(5.00)`, `5.00-`, U+2212. */
export function bareNumber(given: string): Bare {
  let text = westernDigits(given.trim())
    .replace(/[\u00A0\u202F]/g, ' ')
    .replace(/^[\u2212\u2013]|[\u2212\u2013]$/, '-')
  let isNegative = false
  const marks: string[] = []
  for (let before = ''; before !== text; ) {
    before = text
    // `25,-` has no cents.
    text = text.replace(/(?<=\d)[.,:][-\u2013\u2014]{1,2}$/, '')
    if (!isNegative && /^\(.*\)$|^-|-$/.test(text)) {
      isNegative = true
      text = text.replace(/^\((.*)\)$|^- ?|-$/, '$1').trim()
    }
    const found = marks.length < 2 ? (markBefore.exec(text) ?? markBehind.exec(text))?.[0] : undefined
    if (found !== undefined) {
      marks.push(found.trim())
      text = (text.startsWith(found) ? text.slice(found.length) : text.slice(0, -found.length)).trim()
    }
  }
  if (!isNegative) text = text.replace(/^\+ ?(?=\d)/, '')
  return { number: isNegative ? `-${text}` : text, marks }
}

/** What stands beside an amount and is no sign or name of its currency. */
function foreignMark({ marks }: Bare, currency: CurrencyCode): string | undefined {
  return marks.find((mark) => !marksOf(currency).has(mark) && !marksOf(currency).has(foldedMark(mark)))
}

/** A number as it is written in a cell, as a plain number; undefined where it must be refused. */
export function plainAmount(text: string, { decimal, hasThreeDecimals, currency }: NumberNotation): string | undefined {
  const bare = /^-?[\d.]+$/.test(text) ? { number: text, marks: [] } : bareNumber(text)
  const { number } = bare
  if (foreignMark(bare, currency) !== undefined) return undefined
  if (decimal === 'cents')
    return /^-?\d{1,17}$/.test(number) ? fromMinorUnits(BigInt(number), minorUnitExponent(currency)) : undefined
  if (decimal !== undefined) return numberIn(decimal, number)
  return !hasThreeDecimals && /^-?[1-9]\d{0,2}\.\d{3}$/.test(number) ? undefined : number
}

/** A number that is never in thousands, such as degrees, as a plain number. */
export function plainMeasure(text: string, { decimal }: NumberNotation): string {
  const plain = text.replace(/^\u2212/, '-')
  return decimal === 'comma' ? plain.replace(',', '.') : plain
}

/** What a refused amount would be with each decimal sign, or which sign was named; undefined where its sign is not what is wrong. */
export function explainAmount(text: string, notation: NumberNotation): string | undefined {
  const { decimal, currency } = notation
  const bare = bareNumber(text)
  const { number } = bare
  const mark = foreignMark(bare, currency)
  if (mark !== undefined) return `an amount in ${currency}, as its record has it, not in ${mark}`
  if (decimal !== undefined) {
    const example = { comma: '1234,50', point: '1234.50', cents: '123450' }[decimal]
    return plainAmount(text, notation) === undefined
      ? `a plain number such as ${example}, as --decimal ${decimal} has it`
      : undefined
  }
  if (!/\d[^\d]\d/.test(number) || !/[1-9]/.test(number)) return undefined
  const readings = (['point', 'comma'] as const).flatMap((sign) => {
    const plain = numberIn(sign, number)
    return plain === undefined ? [] : [`${plain.replace(/\.0+$/, '')} with giving import --decimal ${sign}`]
  })
  return readings.length === 0 ? undefined : `a plain number such as 1234.50; this one is ${readings.join(', ')}`
}
