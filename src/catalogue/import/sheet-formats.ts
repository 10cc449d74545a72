/** What the format of a cell says of its number. */
export type SheetFormat = {
  readonly isDay: boolean
  /** Whether days are counted from 1904, as older workbooks of a Mac do. */
  readonly is1904: boolean
  /** The code or sign of a currency, or the sign of per cent, that is shown beside the number. */
  readonly mark?: string
}

/** The formats of cells by the number of their style; `codes` are those that the workbook defines itself. */
export function cellFormats(
  ids: readonly string[],
  codes: ReadonlyMap<string, string>,
  is1904: boolean,
): readonly SheetFormat[] {
  return ids.map((id) => {
    const code = codes.get(id)
    const mark = /^(?:9|10)$/.test(id) || /%/.test(code?.replace(/"[^"]*"/g, '') ?? '') ? '%' : markIn(code ?? '')
    return { is1904, isDay: code === undefined ? isBuiltInDay(Number(id)) : isDayCode(code), ...(mark && { mark }) }
  })
}

/** ECMA-376 18.8.30; those of East Asia too. */
function isBuiltInDay(id: number): boolean {
  return (id >= 14 && id <= 22) || (id >= 27 && id <= 36) || id === 45 || id === 47 || (id >= 50 && id <= 58)
}

/** Whether a code shows days or times: letters of them outside of texts, colours and conditions. Durations are numbers. */
function isDayCode(code: string): boolean {
  if (/\[(?:h+|m+|s+)\]/i.test(code)) return false
  const [shown = ''] = code.replace(/"[^"]*"|\\.|_.|\*.|\[[^\]]*\]/g, '').split(';')
  return /[dmyhs]/i.test(shown) && !/general|standard|[0#?]/i.test(shown.replace(/ss\.0+/i, ''))
}

function markIn(code: string): string | undefined {
  const [first = ''] = code.split(';')
  const [, locale] = /\[\$([^-\]]+)(?:-[^\]]*)?\]/.exec(first) ?? []
  const [, text] = /"\s*([A-Z]{3}|[A-Z]{0,2}\p{Sc})\s*"/u.exec(first) ?? []
  const mark = (locale ?? text)?.trim()
  return mark !== undefined && /^(?:[A-Z]{3}|[A-Z]{0,2}\p{Sc}|kr\.?|Fr\.?)$/u.test(mark) ? mark : undefined
}

const firstDay = Date.UTC(1899, 11, 30)

/** A number of days as Excel counts them, as a day, with its time where it has one. */
export function dayOfSerial(serial: number, is1904: boolean): string {
  const days = is1904 ? serial + 1462 : serial
  const seconds = Math.round(days * 86_400)
  const [whole, rest] = [Math.floor(seconds / 86_400), ((seconds % 86_400) + 86_400) % 86_400]
  const time = new Date(rest * 1000).toISOString().slice(11, 19)
  if (days >= 0 && days < 1) return time
  // Excel has a 29 February 1900, which no calendar has.
  if (!is1904 && whole === 60) return '1900-02-29'
  const at = new Date(firstDay + (!is1904 && whole < 60 ? whole + 1 : whole) * 86_400_000)
  if (Number.isNaN(at.getTime()) || days < 0 || at.getUTCFullYear() > 9999) return String(serial)
  const day = at.toISOString().slice(0, 10)
  return rest === 0 ? day : `${day} ${time}`
}
