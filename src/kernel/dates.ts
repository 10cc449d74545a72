declare const isoDateBrand: unique symbol
declare const isoInstantBrand: unique symbol

/** A calendar day without time, `YYYY-MM-DD`. Always text, never a `Date` (IATI `iso-date`, xsd:date without zone). */
export type IsoDate = string & { readonly [isoDateBrand]: true }

/** An instant in UTC with second precision, `YYYY-MM-DDTHH:MM:SSZ` (xsd:dateTime). */
export type IsoInstant = string & { readonly [isoInstantBrand]: true }

/** The only source of "now"; injected, so that tests and repeated runs set the time. */
export type Clock = () => Date

const datePattern = /^\d{4}-\d{2}-\d{2}$/

/** Returns the day, or undefined when the text is not an existing calendar day between years 1000 and 9999. */
export function parseIsoDate(text: string): IsoDate | undefined {
  if (!datePattern.test(text) || text < '1000') return undefined
  const date = new Date(`${text}T00:00:00Z`)
  if (Number.isNaN(date.getTime()) || date.toISOString().slice(0, 10) !== text) return undefined
  return text as IsoDate
}

/** The UTC day of an instant. */
export function isoDateOf(instant: Date): IsoDate {
  return instant.toISOString().slice(0, 10) as IsoDate
}

const dayFormats = new Map<string, Intl.DateTimeFormat>()

/** The day of an instant in an IANA time zone. */
export function isoDateIn(timeZone: string, instant: Date): IsoDate {
  if (timeZone === 'UTC') return isoDateOf(instant)
  const options = { timeZone, year: 'numeric', month: '2-digit', day: '2-digit' } as const
  const format = dayFormats.get(timeZone) ?? new Intl.DateTimeFormat('en-CA', options)
  dayFormats.set(timeZone, format)
  return format.format(instant) as IsoDate
}

/** The instant in UTC, fractions of a second cut off. */
export function isoInstantOf(instant: Date): IsoInstant {
  return `${instant.toISOString().slice(0, 19)}Z` as IsoInstant
}

type InText<Row> = { readonly [Name in keyof Row]: Row[Name] extends Date | undefined ? Told<Row[Name]> : Row[Name] }
type Told<At> = At extends Date ? IsoInstant : At

/** A row with its instants as texts, for JSON. */
export function instantsInText<Row extends object>(row: Row): InText<Row> {
  const told = Object.entries(row).map(([name, value]) => [name, value instanceof Date ? isoInstantOf(value) : value])
  return Object.fromEntries(told) as InText<Row>
}

/** The day `days` later (or earlier, when negative). */
export function addDays(day: IsoDate, days: number): IsoDate {
  const date = new Date(`${day}T00:00:00Z`)
  date.setUTCDate(date.getUTCDate() + days)
  return isoDateOf(date)
}

/** The same day `months` later, clamped to the last day of the target month (31 January + 1 = 28 or 29 February). */
export function addMonths(day: IsoDate, months: number): IsoDate {
  const total = Number(day.slice(0, 4)) * 12 + Number(day.slice(5, 7)) - 1 + months
  const year = Math.floor(total / 12)
  const month = total - year * 12
  const dayOfMonth = Math.min(Number(day.slice(8, 10)), lastDayOf(year, month))
  return `${year}-${twoDigits(month + 1)}-${twoDigits(dayOfMonth)}` as IsoDate
}

function twoDigits(value: number): string {
  return value < 10 ? `0${value}` : `${value}`
}

/** What a day tells: what has happened, what is planned, or the end of a collection, which may stand for none. */
export type DayMeaning = 'fact' | 'plan' | 'deadline'

/** What a message expects instead of a day that no person would mean; the database expects the same of plain SQL. */
export function expectedDay(day: IsoDate, meaning: DayMeaning, today: IsoDate): string | undefined {
  if (day < '1900-01-01') return 'a day from 1900-01-01'
  if (meaning === 'fact') return day > today ? 'a day that is not in the future' : undefined
  const last = addMonths(today, 60 * 12)
  return meaning === 'plan' && day > last ? `a day until ${last}` : undefined
}

/** The first day of the day's month. */
export function monthStart(day: IsoDate): IsoDate {
  return `${day.slice(0, 8)}01` as IsoDate
}

/** The last day of the day's month. */
export function monthEnd(day: IsoDate): IsoDate {
  const last = lastDayOf(Number(day.slice(0, 4)), Number(day.slice(5, 7)) - 1)
  return `${day.slice(0, 8)}${last}` as IsoDate
}

/** The number of days of a month of the Gregorian calendar; January is 0. */
function lastDayOf(year: number, month: number): number {
  if (month === 1) return (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0 ? 29 : 28
  return month === 3 || month === 5 || month === 8 || month === 10 ? 30 : 31
}

/** The earlier of two days. */
export function earlier(a: IsoDate, b: IsoDate): IsoDate {
  return a <= b ? a : b
}

/** The later of two days. */
export function later(a: IsoDate, b: IsoDate): IsoDate {
  return a >= b ? a : b
}

const wireDateTime = /^(\d{4}-\d{2}-\d{2})T(\d{2}):(\d{2}):(\d{2})(?:\.\d{1,9})?(Z|[+-]\d{2}:?\d{2})$/

/** Reads an RFC 3339 / xsd:dateTime text with any offset (also `+0530`), to the second; undefined for others. */
export function parseWireDateTime(text: string): Date | undefined {
  const match = wireDateTime.exec(text)
  if (!match) return undefined
  const [, day = '', hour = '', minute = '', second = '', offset = ''] = match
  if (!parseIsoDate(day) || hour > '23' || minute > '59' || second > '59') return undefined
  let offsetMinutes = 0
  if (offset !== 'Z') {
    const hours = Number(offset.slice(1, 3))
    const minutes = Number(offset.slice(-2))
    if (hours > 18 || minutes > 59) return undefined
    offsetMinutes = (offset.startsWith('-') ? -1 : 1) * (hours * 60 + minutes)
  }
  const time = Date.UTC(
    Number(day.slice(0, 4)),
    Number(day.slice(5, 7)) - 1,
    Number(day.slice(8, 10)),
    Number(hour),
    Number(minute),
    Number(second),
  )
  return new Date(time - offsetMinutes * 60_000)
}
