import { isoDateIn, parseIsoDate } from '../../kernel/dates.js'
import { type CurrencyCode, marksOf } from '../../kernel/money.js'

/** What stands before the decimals of a number. */
type DecimalSign = 'comma' | 'point'

/** What a cell with nothing but `NULL`, `N/A`, `-` or the like is: left out, or the text that it is. */
export type MissingWords = 'empty' | 'text'

/** How the numbers of a file are written. */
export type NumberNotation = {
  /** Undefined: as plain numbers, with a point before decimals. */
  readonly decimal: DecimalSign | undefined
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

/** The word for days as Excel counts them. */
const excelDays = 'excel'

/** What a pattern of days is: day, month as a number or name (mmm) and year once each, with signs between; or `excel`. */
export function isDatePattern(pattern: string): boolean {
  if (pattern === excelDays) return true
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
  return `dd, mm (or mmm for a name) and yyyy (or 20yy for two digits) with a sign between, such as dd.mm.yyyy, or excel${hint}`
}

const timeOfDay =
  /^(?:T|,? +)(\d{1,2}):(\d{2})(?::(\d{2})(?:[.,]\d+)?)?(?: ?([ap])\.?m\.?)?(?: ?(Z|UTC|GMT|[+-]\d{2}:?\d{2}))?$/i

/**
 * A day in this pattern as 2026-11-21, with a time behind it or not; other texts stay as they are. Days and months may have
 * one digit where a sign follows. An instant with an offset is a day of the zone.
 */
export function isoDayOf(text: string, pattern: string, zone = 'UTC'): string {
  const given = text.trim()
  if (pattern === excelDays) return excelDay(given) ?? text
  const tokens = pattern.match(dateTokens) ?? []
  let [at, year, month, day] = [0, '', '', '']
  for (const [index, token] of tokens.entries()) {
    const isCompact = /^[a-z\d]/i.test(tokens[index + 1] ?? ' ')
    const rest = given.slice(at)
    const found = (isCompact && /^(?:dd|mm)$/.test(token) ? /^\d{2}/ : shapeOf(token)).exec(rest)?.[0]
    if (found === undefined || (shapeOf(token) === signs && found.trim() !== token.trim())) return text
    if (token === 'dd') day = found
    else if (token === 'mm') month = found
    else if (token === 'mmm') month = monthOf(found)
    else if (token.endsWith('yy')) year = token === 'yyyy' ? found : token.slice(0, 2) + found
    at += found.length
  }
  const iso = `${year}-${month.padStart(2, '0')}-${day.padStart(2, '0')}`
  const rest = given.slice(at)
  if (rest === '') return iso
  const [, hour = '', minute = '', second = '0', half, offset] = timeOfDay.exec(rest) ?? []
  if (hour === '' || Number(hour) > 23 || Number(minute) > 59) return text
  if (offset === undefined || parseIsoDate(iso) === undefined) return iso
  const hours = half === undefined ? Number(hour) : (Number(hour) % 12) + (/p/i.test(half) ? 12 : 0)
  const [, sign = '+', ahead = 0, minutes = 0] = /([+-])(\d\d):?(\d\d)/.exec(offset) ?? []
  const local = new Date(`${iso}T00:00:00Z`).getTime() + ((hours * 60 + Number(minute)) * 60 + Number(second)) * 1000
  return isoDateIn(zone, new Date(local - Number(`${sign}1`) * (Number(ahead) * 60 + Number(minutes)) * 60_000))
}

const signs = /^[^\p{L}\p{N}]+/u

function shapeOf(token: string): RegExp {
  if (token === 'dd' || token === 'mm') return /^\d{1,2}/
  if (token === 'mmm') return /^\p{L}+\.?/u
  if (token === 'yyyy') return /^\d{4}/
  return token.endsWith('yy') ? /^\d{2}(?!\d)/ : signs
}

/** Days that Excel counts from 1900; the first of its days that exist in its calendar alone are left out. */
function excelDay(text: string): string | undefined {
  const [, days] = /^(\d{2,6})(?:[.,]\d+)?$/.exec(text) ?? []
  if (days === undefined || Number(days) < 61) return undefined
  return new Date(Date.UTC(1899, 11, 30) + Number(days) * 86_400_000).toISOString().slice(0, 10)
}

const languages = ['en', 'de', 'fr', 'es', 'pt', 'it', 'nl']
let months: ReadonlyMap<string, string> | undefined

/** The number of a month by its name, long or short, in one of several languages; empty for others. */
function monthOf(name: string): string {
  months ??= new Map(
    languages.flatMap((language) =>
      (['long', 'short'] as const).flatMap((month) => {
        const format = new Intl.DateTimeFormat(language, { month, timeZone: 'UTC' })
        return Array.from(
          { length: 12 },
          (_, at) => [foldedMonth(format.format(Date.UTC(2026, at, 1))), `${at + 1}`] as const,
        )
      }),
    ),
  )
  return months.get(foldedMonth(name)) ?? ''
}

function foldedMonth(name: string): string {
  return name
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[^a-z]/g, '')
}

const tried = [
  ...['dd.mm.yyyy', 'mm.dd.yyyy', 'yyyy.mm.dd', 'dd.mm.20yy', 'mm.dd.20yy'],
  ...['dd-mmm-yyyy', 'dd-mmm-20yy', 'dd mmm yyyy', 'mmm dd, yyyy', 'yyyymmdd'],
]

/** Patterns of days that this text may be in. */
export function dayPatternsOf(text: string): string[] {
  const sign = /^\d{1,4}([./ -])\d{1,2}\1\d{1,4}/.exec(text.trim())?.[1]
  const patterns = [
    ...tried.map((one) => (sign ? one.replace(/\./g, sign) : one)),
    ...(/^[2-6]\d{4}(?:[.,]\d+)?$/.test(text.trim()) ? [excelDays] : []),
  ]
  return patterns.filter((pattern) => isReadBy(text, pattern))
}

/** Whether a text is a day in this pattern. */
export function isReadBy(text: string, pattern: string): boolean {
  const day = isoDayOf(text, pattern)
  return day !== text && parseIsoDate(day) !== undefined
}

/** What a refused day would be in each order of its parts, or which pattern was named; undefined where no order reads it. */
export function explainDay(text: string, { date }: NumberNotation): string | undefined {
  if (date !== undefined)
    return date === excelDays ? 'a day as Excel counts them, such as 46031' : `a day such as ${date}`
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
function readAs(decimal: DecimalSign, text: string): string | undefined {
  if (!patterns[decimal].test(text)) return undefined
  const [whole = '', fraction] = text.split(decimal === 'comma' ? ',' : '.')
  return whole.replace(/[^-\d]/g, '') + (fraction === undefined ? '' : `.${fraction}`)
}

type Bare = { readonly number: string; readonly mark?: string }

const markBefore = /^(?:(?:[A-Z]{1,2}\$|\p{Sc}|[A-Z]{3}|kr\.?|Fr\.?|Rs\.?) ?)(?=[-\d(])/u
const markBehind = /(?<=[\d)-])(?: ?(?:[A-Z]{1,2}\$|\p{Sc}|[A-Z]{3}|kr\.?|Fr\.?|Rs\.?))$/u

/** A number without the sign of its currency, and with the minus of bookkeepers before it: `(5.00)`, `5.00-`, U+2212. */
function bareNumber(given: string): Bare {
  let text = given
    .trim()
    .replace(/[\u00A0\u202F]/g, ' ')
    .replace(/^\u2212|\u2212$/, '-')
  let isNegative = false
  let mark: string | undefined
  for (let before = ''; before !== text; ) {
    before = text
    if (!isNegative && /^\(.*\)$|^-|-$/.test(text)) {
      isNegative = true
      text = text.replace(/^\((.*)\)$|^- ?|-$/, '$1').trim()
    }
    const found = mark === undefined ? (markBefore.exec(text) ?? markBehind.exec(text))?.[0] : undefined
    if (found !== undefined) {
      mark = found.trim()
      text = (text.startsWith(found) ? text.slice(found.length) : text.slice(0, -found.length)).trim()
    }
  }
  return { number: isNegative ? `-${text}` : text, ...(mark !== undefined && { mark }) }
}

/** A number as it is written in a cell, as a plain number; undefined where it must be refused. */
export function plainAmount(text: string, { decimal, hasThreeDecimals, currency }: NumberNotation): string | undefined {
  const { number, mark } = /^-?[\d.]+$/.test(text) ? { number: text } : bareNumber(text)
  if (mark !== undefined && !marksOf(currency).has(mark)) return undefined
  if (decimal !== undefined) return readAs(decimal, number)
  return !hasThreeDecimals && /^-?[1-9]\d{0,2}\.\d{3}$/.test(number) ? undefined : number
}

/** A number that is never in thousands, such as degrees, as a plain number. */
export function plainMeasure(text: string, { decimal }: NumberNotation): string {
  const plain = text.replace(/^\u2212/, '-')
  return decimal === 'comma' ? plain.replace(',', '.') : plain
}

/** What a refused amount would be with each decimal sign, or which sign was named; undefined where its sign is not what is wrong. */
export function explainAmount(text: string, { decimal, currency }: NumberNotation): string | undefined {
  const { number, mark } = bareNumber(text)
  if (mark !== undefined && !marksOf(currency).has(mark))
    return `an amount in ${currency}, as its record has it, not in ${mark}`
  if (decimal !== undefined) {
    const example = decimal === 'comma' ? '1234,50' : '1234.50'
    return readAs(decimal, number) === undefined
      ? `a plain number such as ${example}, as --decimal ${decimal} has it`
      : undefined
  }
  if (!/\d[^\d]\d/.test(number)) return undefined
  const readings = (['point', 'comma'] as const).flatMap((sign) => {
    const plain = readAs(sign, number)
    return plain === undefined ? [] : [`${plain.replace(/\.0+$/, '')} with giving import --decimal ${sign}`]
  })
  return readings.length === 0 ? undefined : `a plain number such as 1234.50; this one is ${readings.join(', ')}`
}
