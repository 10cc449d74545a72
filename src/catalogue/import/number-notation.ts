/** What stands before the decimals of a number. */
export type DecimalSign = 'comma' | 'point'

/** What a cell with nothing but `NULL`, `N/A`, `-` or the like is: left out, or the text that it is. */
export type MissingWords = 'empty' | 'text'

/** How the numbers of a file are written. */
export type NumberNotation = {
  /** Undefined: as plain numbers, with a point before decimals. */
  readonly decimal: DecimalSign | undefined
  /** Whether amounts have three decimals, as those of KWD: then a point before three digits is one before decimals. */
  readonly hasThreeDecimals: boolean
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

/** What a refused amount would be with each decimal sign; undefined where neither reads it, or one was named. */
export function explainAmount(text: string, { decimal }: NumberNotation): string | undefined {
  if (decimal !== undefined || !/\d[^\d]\d/.test(text)) return undefined
  const readings = (['point', 'comma'] as const).flatMap((sign) => {
    const plain = readAs(sign, text)
    return plain === undefined ? [] : [`${plain.replace(/\.0+$/, '')} with giving import --decimal ${sign}`]
  })
  return readings.length === 0 ? undefined : `a plain number such as 1234.50; this one is ${readings.join(', ')}`
}
