import { CronExpressionParser } from 'cron-parser'
import { ServiceError } from '../kernel/errors.js'
import { messageOf } from '../kernel/system-errors.js'

/** When a publication is due: a cron expression (five fields, or six with seconds first) read in an IANA time zone. */
export type Schedule = { readonly expression: string; readonly timezone: string }

/**
 * The first due instant after `after`. Uses the parser that BullMQ schedules with, so both see the same instants.
 * Throws `configuration-invalid` when the expression cannot be read or never comes due.
 */
export function nextDue(schedule: Schedule, after: Date): Date {
  return parse(schedule, after).next().toDate()
}

/**
 * The last due instant at or before `until`, or undefined when there is none. It steps forward from an earlier instant,
 * because the parser's backward step gives instants that its forward step skips where clocks are set back.
 */
export function latestDue(schedule: Schedule, until: Date): Date | undefined {
  const anchor = stepBack(schedule, until, 3)
  if (anchor === undefined) return undefined
  let latest: Date | undefined
  for (let due = nextDue(schedule, anchor); due <= until; due = nextDue(schedule, due)) latest = due
  return latest
}

/** Whether the schedule is due at exactly this instant. */
export function isDue(schedule: Schedule, instant: Date): boolean {
  return latestDue(schedule, instant)?.getTime() === instant.getTime()
}

function stepBack(schedule: Schedule, from: Date, steps: number): Date | undefined {
  const interval = parse(schedule, new Date(from.getTime() + 1))
  let instant: Date | undefined
  try {
    for (let step = 0; step < steps; step++) instant = interval.prev().toDate()
  } catch {
    // The expression has fewer instants in the past; the earliest one found is the anchor.
  }
  return instant === undefined ? undefined : new Date(instant.getTime() - 1)
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
