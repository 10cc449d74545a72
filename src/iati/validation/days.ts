/** A day as the number of days since 1970-01-01 in the proleptic Gregorian calendar, so that days of any year compare. */
export type Day = number

const datePattern = /^(-?)(\d{4,})-(\d\d)-(\d\d)(?:Z|[+-](\d\d):(\d\d))?$/

/** The day of an `xsd:date`, whose time zone is ignored; undefined for a text that is not an `xsd:date`. */
export function parseDay(text: string): Day | undefined {
  return parseCommonDay(text) ?? parseAnyDay(text)
}

/** A day that every month has, of the years 1000 to 9999, without a zone, as nearly all dates are. */
function parseCommonDay(text: string): Day | undefined {
  if (text.length !== 10 || text[4] !== '-' || text[7] !== '-' || text[0] === '0') return undefined
  const year = digitAt(text, 0) * 1000 + digitAt(text, 1) * 100 + digitAt(text, 2) * 10 + digitAt(text, 3)
  const month = digitAt(text, 5) * 10 + digitAt(text, 6)
  const day = digitAt(text, 8) * 10 + digitAt(text, 9)
  if (!(year >= 0 && month >= 1 && month <= 12 && day >= 1 && day <= 28)) return undefined
  return daysSinceEpoch(year, month, day)
}

function parseAnyDay(text: string): Day | undefined {
  const match = datePattern.exec(text)
  if (!match) return undefined
  const [, sign, digits = '', monthText, dayText, zoneHour, zoneMinute] = match
  if (digits.length > 4 && digits.startsWith('0')) return undefined
  // XML Schema 1.0 has no year 0000.
  if (!/[1-9]/.test(digits) || !isZone(zoneHour, zoneMinute)) return undefined
  const month = Number(monthText)
  const day = Number(dayText)
  // The calendar repeats every 400 years, so the last four digits decide about leap years.
  const lastDay = month === 2 && isLeapYear(Number(digits.slice(-4))) ? 29 : (daysInMonth[month - 1] ?? 0)
  if (day < 1 || day > lastDay) return undefined
  const isNegative = sign === '-'
  if (digits.length > 12) return isNegative ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY
  return daysSinceEpoch(isNegative ? -Number(digits) : Number(digits), month, day)
}

/** The digit at a place; NaN, which spoils every sum and comparison, for anything else. */
function digitAt(text: string, at: number): number {
  const digit = text.charCodeAt(at) - 48
  return digit >= 0 && digit <= 9 ? digit : Number.NaN
}

const daysInMonth = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]

function isLeapYear(year: number): boolean {
  return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0)
}

/** Whether hour and minute are those of a time zone of XML Schema: up to 14:00 on both sides of UTC. */
export function isZone(hour: string | undefined, minute: string | undefined): boolean {
  if (hour === undefined || minute === undefined) return true
  return hour < '14' ? minute < '60' : hour === '14' && minute === '00'
}

const epoch = 719_468

/** Counts from 1 March of the year 0, so that the leap day is the last one of a year. */
function daysSinceEpoch(year: number, month: number, day: number): Day {
  const fromMarch = month > 2 ? year : year - 1
  const dayOfYear = Math.floor((153 * (month > 2 ? month - 3 : month + 9) + 2) / 5) + day - 1
  const leapDays = Math.floor(fromMarch / 4) - Math.floor(fromMarch / 100) + Math.floor(fromMarch / 400)
  return fromMarch * 365 + leapDays + dayOfYear - epoch
}
