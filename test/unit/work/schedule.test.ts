import { describe, expect, test } from 'vitest'
import { isDue, latestDue, nextDue } from '../../../src/work/schedule.js'

const daily = { expression: '0 2 * * *', timezone: 'UTC' }
const at = (text: string) => new Date(text)

describe('a schedule', () => {
  test('is next due strictly after the given instant', () => {
    expect(nextDue(daily, at('2026-03-01T01:59:59.999Z'))).toEqual(at('2026-03-01T02:00:00Z'))
    expect(nextDue(daily, at('2026-03-01T02:00:00Z'))).toEqual(at('2026-03-02T02:00:00Z'))
  })

  test('was latest due at or before the given instant', () => {
    expect(latestDue(daily, at('2026-03-01T02:00:00Z'))).toEqual(at('2026-03-01T02:00:00Z'))
    expect(latestDue(daily, at('2026-03-01T01:59:59.999Z'))).toEqual(at('2026-02-28T02:00:00Z'))
  })

  test('reads six fields, seconds first', () => {
    expect(latestDue({ expression: '*/5 * * * * *', timezone: 'UTC' }, at('2026-03-01T02:00:07Z'))).toEqual(
      at('2026-03-01T02:00:05Z'),
    )
  })

  test('knows its instants to the millisecond', () => {
    expect(isDue(daily, at('2026-03-01T02:00:00Z'))).toBe(true)
    expect(isDue(daily, at('2026-03-01T02:00:00.001Z'))).toBe(false)
  })

  test.each(['30 1 * * *', '30 2 * * *', '0 3 * * *', '*/20 * * * *'])(
    'looking back finds what looking forward names when clocks change (%s)',
    (expression) => {
      for (const day of ['2026-03-28', '2026-10-24']) {
        const schedule = { expression, timezone: 'Europe/Amsterdam' }
        const until = at(`${day}T00:00:00Z`).getTime() + 3 * 86_400_000
        let due = nextDue(schedule, at(`${day}T00:00:00Z`))
        while (due.getTime() < until) {
          const following = nextDue(schedule, due)
          expect(latestDue(schedule, due)).toEqual(due)
          expect(latestDue(schedule, new Date(following.getTime() - 1))).toEqual(due)
          due = following
        }
      }
    },
  )

  test.each([
    ['0 0 * * *', 'Africa/Cairo', '2027-04-29T12:00:00Z', '2027-04-29T22:00:00Z', '2027-04-30T21:00:00Z'],
    ['30 0 * * *', 'Africa/Cairo', '2027-04-29T12:00:00Z', '2027-04-29T22:00:00Z', '2027-04-30T21:30:00Z'],
    ['0 0 * * *', 'Asia/Beirut', '2027-03-27T12:00:00Z', '2027-03-27T22:00:00Z', '2027-03-28T21:00:00Z'],
    ['0 0 * * 0', 'America/Santiago', '2027-08-29T12:00:00Z', '2027-09-05T04:00:00Z', '2027-09-12T03:00:00Z'],
    ['0 0 * * *', 'America/Havana', '2027-03-13T12:00:00Z', '2027-03-14T05:00:00Z', '2027-03-15T04:00:00Z'],
    ['0 0 4 11 *', 'America/Sao_Paulo', '2018-01-01T12:00:00Z', '2018-11-04T03:00:00Z', '2019-11-04T03:00:00Z'],
    // Hours that go on, and a time that the parser itself moves behind the gap, have no second instant.
    ['15 * * * *', 'Africa/Cairo', '2027-04-29T21:15:00Z', '2027-04-29T22:15:00Z', '2027-04-29T23:15:00Z'],
    ['30 2 * * *', 'Europe/Berlin', '2027-03-27T12:00:00Z', '2027-03-28T01:30:00Z', '2027-03-29T00:30:00Z'],
  ])('is due after the gap for a time that clocks leave out (%s, %s)', (expression, timezone, from, ...dues) => {
    const schedule = { expression, timezone }
    let after = at(from)
    for (const due of dues) {
      after = nextDue(schedule, after)
      expect(after).toEqual(at(due))
      expect(isDue(schedule, after)).toBe(true)
    }
  })

  test('that cannot be read is refused in one sentence', () => {
    const message = 'the schedule must be a cron expression such as "0 2 * * *", "0 0 31 2 *" is not'
    expect(() => nextDue({ expression: '0 0 31 2 *', timezone: 'UTC' }, at('2026-03-01T00:00:00Z'))).toThrow(
      expect.objectContaining({ code: 'configuration-invalid', message: expect.stringContaining(message) }),
    )
  })
})
