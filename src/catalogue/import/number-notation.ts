import { parseIsoDate } from '../../kernel/dates.js'

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
}

/** A pattern of days: each of dd, mm and yyyy once, with a sign between them. */
export const datePattern = /^(?=.*dd)(?=.*mm)(?=.*yyyy)(?:dd|mm|yyyy)([./ -])(?:dd|mm|yyyy)\1(?:dd|mm|yyyy)$/

/** A day in this pattern as 2026-11-21; other texts stay as they are. Days and months may have one digit. */
export function isoDayOf(text: string, pattern: string): string {
  const sign = datePattern.exec(pattern)?.[1] ?? '-'
  const [parts, names] = [text.trim().split(sign), pattern.split(sign)]
  const digits = (name: string) => parts[names.indexOf(name)] ?? ''
  const [year, month, day] = [digits('yyyy'), digits('mm').padStart(2, '0'), digits('dd').padStart(2, '0')]
  const isDay = parts.length === 3 && /^\d{4}$/.test(year) && /^\d{2}$/.test(month) && /^\d{2}$/.test(day)
  return isDay ? `${year}-${month}-${day}` : text
}

/** What a refused day would be in each order of its parts, or which pattern was named; undefined where no order reads it. */
export function explainDay(text: string, { date }: NumberNotation): string | undefined {
  if (date !== undefined) return `a day such as ${date}`
  const sign = /^\d{1,4}([./ -])\d{1,2}\1\d{1,4}$/.exec(text.trim())?.[1] ?? ''
  const readings = ['dd.mm.yyyy', 'mm.dd.yyyy', 'yyyy.mm.dd'].flatMap((order) => {
    const pattern = order.replaceAll('.', sign)
    const day = sign === '' ? undefined : parseIsoDate(isoDayOf(text, pattern))
    return day === undefined ? [] : [`${day} with giving import --date ${sign === ' ' ? `'${pattern}'` : pattern}`]
  })
  return readings.length === 0 ? undefined : `a day such as 2026-11-21; this one is ${readings.join(', ')}`
}

const patterns: Readonly<Record<DecimalSign, RegExp>> = {
  point: /^-?(?:\d+|[1-9]\d{0,2}(?:[, \u00A0\u202F'’]\d{3})+)(?:\.\d+)?$/,
  comma: /^-?(?:\d+|[1-9]\d{0,2}(?:[. \u00A0\u202F'’]\d{3})+)(?:,\d+)?$/,
}

/** The plain number of a text with this decimal sign, and perhaps with signs between thousands; undefined for others. */
function readAs(decimal: DecimalSign, text: string): string | undefined {
  if (!patterns[decimal].test(text)) return undefined
  const [whole = '', fraction] = text.split(decimal === 'comma' ? ',' : '.')
  return whole.replace(/[^-\d]/g, '') + (fraction === undefined ? '' : `.${fraction}`)
}

/** A number as it is written in a cell, as a plain number; undefined where it must be refused. */
export function plainAmount(text: string, { decimal, hasThreeDecimals }: NumberNotation): string | undefined {
  if (decimal !== undefined) return readAs(decimal, text)
  return !hasThreeDecimals && /^-?[1-9]\d{0,2}\.\d{3}$/.test(text) ? undefined : text
}

/** A number that is never in thousands, such as degrees, as a plain number. */
export function plainMeasure(text: string, { decimal }: NumberNotation): string {
  return decimal === 'comma' ? text.replace(',', '.') : text
}

/** What a refused amount would be with each decimal sign, or which sign was named; undefined where its sign is not what is wrong. */
export function explainAmount(text: string, { decimal }: NumberNotation): string | undefined {
  if (decimal !== undefined) {
    const example = decimal === 'comma' ? '1234,50' : '1234.50'
    return readAs(decimal, text) === undefined
      ? `a plain number such as ${example}, as --decimal ${decimal} has it`
      : undefined
  }
  if (!/\d[^\d]\d/.test(text)) return undefined
  const readings = (['point', 'comma'] as const).flatMap((sign) => {
    const plain = readAs(sign, text)
    return plain === undefined ? [] : [`${plain.replace(/\.0+$/, '')} with giving import --decimal ${sign}`]
  })
  return readings.length === 0 ? undefined : `a plain number such as 1234.50; this one is ${readings.join(', ')}`
}
