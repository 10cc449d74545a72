import { CronExpressionParser } from 'cron-parser'
import { ServiceError } from '../kernel/errors.js'
import { messageOf } from '../kernel/system-errors.js'

/** When a publication is due: a cron expression (five fields, or six with seconds first) read in an IANA time zone. */
export type Schedule = { readonly expression: string; readonly timezone: string }

/**
 * The first due instant after `after`. A time of day that clocks leave out when they are set forward is due at the first
 * instant after the gap. Throws `configuration-invalid` when the expression cannot be read or never comes due.
 */
export function nextDue(schedule: Schedule, after: Date): Date {
  const next = parse(schedule, after).next().toDate()
  for (const gap of gapsBetween(schedule.timezone, after, next)) {
    // Without the gap a time in it would come due within its length; an hourly schedule, and cron-parser for most hours, does.
    if (next.getTime() >= gap.end + gap.length && isDueWithin(schedule, gap)) return new Date(gap.end)
  }
  return next
}

/** Clocks set forward: the instant at which they were, and by how many milliseconds. */
type Gap = { readonly end: number; readonly length: number }

/** Whether a time of day that the gap leaves out is one of the schedule. */
function isDueWithin({ expression }: Schedule, { end, length, offset }: Gap & { readonly offset: number }): boolean {
  // Times of day are read as if they were those of UTC, which has no gaps.
  const skipped = end + offset - length
  const next = parse({ expression, timezone: 'UTC' }, new Date(skipped - 1))
    .next()
    .getTime()
  return next < skipped + length
}

// Nowhere clocks are set forward and back within a week.
const stepMs = 7 * 86_400_000

/** The gaps of a zone's clocks after `from` and before `to`, with the zone's offset after each. */
function* gapsBetween(timezone: string, from: Date, to: Date): Generator<Gap & { readonly offset: number }> {
  const offsetAt = offsetsOf(timezone)
  let [before, offsetBefore] = [from.getTime(), offsetAt(from.getTime())]
  while (before < to.getTime()) {
    const at = Math.min(before + stepMs, to.getTime())
    const offset = offsetAt(at)
    if (offset > offsetBefore) {
      let [low, high] = [before, at]
      while (high - low > 1) {
        const middle = Math.floor((low + high) / 2)
        if (offsetAt(middle) === offsetBefore) low = middle
        else high = middle
      }
      if (high < to.getTime()) yield { end: high, length: offset - offsetBefore, offset }
    }
    ;[before, offsetBefore] = [at, offset]
  }
}

// Making one takes longer than all that is done with it; a service has the zones of its schedules.
const formats = new Map<string, Intl.DateTimeFormat>()

/** How many milliseconds the clocks of a zone are ahead of UTC at an instant. */
function offsetsOf(timeZone: string): (instant: number) => number {
  const format = formats.get(timeZone) ?? new Intl.DateTimeFormat('en', { timeZone, timeZoneName: 'longOffset' })
  formats.set(timeZone, format)
  return (instant) => {
    // "GMT+03:00", or "GMT" alone.
    const [, sign = '+', hours = 0, minutes = 0] = /GMT([+-])(\d\d):(\d\d)/.exec(format.format(instant)) ?? []
    return Number(`${sign}1`) * (Number(hours) * 60 + Number(minutes)) * 60_000
  }
}

/**
 * The last due instant at or before `until`, or undefined when the last twenty years have none. It only steps forward: the parser's
 * backward step gives instants that its forward step skips, and does not end where clocks leave out midnight.
 */
export function latestDue(schedule: Schedule, until: Date): Date | undefined {
  for (let span = shortestSpanMs; span <= longestSpanMs; span *= 8) {
    let latest: Date | undefined
    const from = new Date(until.getTime() - span)
    for (let due = nextDue(schedule, from); due <= until; due = nextDue(schedule, due)) latest = due
    if (latest) return latest
  }
  return undefined
}

const shortestSpanMs = 5_000
const longestSpanMs = shortestSpanMs * 8 ** 9

/** Whether the schedule is due at exactly this instant. */
export function isDue(schedule: Schedule, instant: Date): boolean {
  return latestDue(schedule, instant)?.getTime() === instant.getTime()
}

function parse(schedule: Schedule, at: Date) {
  try {
    return CronExpressionParser.parse(schedule.expression, { currentDate: at, tz: schedule.timezone })
  } catch (error) {
    const reason = messageOf(error)
    throw new ServiceError(
      'configuration-invalid',
      `the schedule must be a cron expression such as "0 2 * * *", "${schedule.expression}" is not: ${reason}`,
      { cause: error },
    )
  }
}
