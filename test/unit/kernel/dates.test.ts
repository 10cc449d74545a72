import { describe, expect, it } from 'vitest'
import {
  addDays,
  addMonths,
  earlier,
  expectedDay,
  isoDateOf,
  isoInstantOf,
  later,
  monthEnd,
  monthStart,
  parseIsoDate,
  parseWireDateTime,
} from '../../../src/kernel/dates.js'
import { day } from '../../support/values/builders.js'

describe('a calendar day', () => {
  it.each(['2026-02-29', '2026-13-01', '2026-1-1', '0999-01-01', '2026-01-01T00:00:00', ''])('refuses %j', (text) => {
    expect(parseIsoDate(text)).toBeUndefined()
  })

  it('knows leap days and the ends of months', () => {
    expect(parseIsoDate('2024-02-29')).toBe('2024-02-29')
    expect(addMonths(day('2024-02-29'), 12)).toBe('2025-02-28')
    expect(addMonths(day('2026-01-31'), 1)).toBe('2026-02-28')
    expect(monthEnd(day('2026-12-05'))).toBe('2026-12-31')
  })

  it('is one that a person would mean', () => {
    const today = day('2024-02-29')
    for (const meaning of ['fact', 'plan', 'deadline'] as const) {
      expect(expectedDay(day('1899-12-31'), meaning, today)).toBe('a day from 1900-01-01')
      for (const text of ['1900-01-01', today]) expect(expectedDay(day(text), meaning, today)).toBeUndefined()
    }
    expect(expectedDay(day('2024-03-01'), 'fact', today)).toBe('a day that is not in the future')
    expect(expectedDay(day('2084-02-29'), 'plan', today)).toBeUndefined()
    expect(expectedDay(day('2084-03-01'), 'plan', today)).toBe('a day until 2084-02-29')
    expect(expectedDay(day('9999-12-31'), 'deadline', today)).toBeUndefined()
  })

  it('is read from year 1000 on', () => {
    expect(parseIsoDate('1000-01-01')).toBe('1000-01-01')
    expect(parseIsoDate('0999-12-31')).toBeUndefined()
  })

  it.each([1900, 2000, 2023, 2024])('has the months of the Gregorian calendar in %i', (year) => {
    for (let month = 0; month < 12; month++) {
      const first = isoDateOf(new Date(Date.UTC(year, month, 1)))
      const last = isoDateOf(new Date(Date.UTC(year, month + 1, 0)))
      expect([monthStart(last), monthEnd(first)]).toEqual([first, last])
      expect(addDays(last, 1)).toBe(addMonths(first, 1))
      expect(addMonths(day(`${year}-01-31`), month)).toBe(last)
      expect(addMonths(last, -month)).toBe(day(`${year}-01-${last.slice(8)}`))
    }
  })

  it('is earlier or later than another, and never changes by the comparison', () => {
    const [a, b] = [day('2026-01-31'), day('2026-02-01')]
    expect([earlier(a, b), earlier(b, a), later(a, b), later(b, a), earlier(a, a), later(a, a)]).toEqual([
      a,
      a,
      b,
      b,
      a,
      a,
    ])
  })

  it('and an instant are those of UTC, without fractions', () => {
    const instant = new Date('2026-06-30T23:59:59.999-01:00')
    expect([isoDateOf(instant), isoInstantOf(instant)]).toEqual(['2026-07-01', '2026-07-01T00:59:59Z'])
  })
})

describe('a date and time from the wire', () => {
  it.each([
    ['2003-05-16T12:57:20-04:00', '2003-05-16T16:57:20.000Z'],
    ['2003-05-16T12:57:20.123Z', '2003-05-16T12:57:20.000Z'],
    ['2003-05-16T23:57:20+0530', '2003-05-16T18:27:20.000Z'],
    ['2003-05-16T23:59:59-18:59', '2003-05-17T18:58:59.000Z'],
    ['2003-05-16T00:00:00+00:00', '2003-05-16T00:00:00.000Z'],
  ])('%s is %s', (text, instant) => {
    expect(parseWireDateTime(text)?.toISOString()).toBe(instant)
  })

  it.each([
    ...['2003-05-16', '2003-02-30T00:00:00Z', '2003-05-16T12:57:20', 'yesterday'],
    ...['2003-05-16T24:00:00Z', '2003-05-16T23:60:00Z', '2003-05-16T23:59:60Z'],
    ...['2003-05-16T12:57:20+19:00', '2003-05-16T12:57:20-10:60', '2003-05-16T12:57:20+19:60'],
    ...['x2003-05-16T12:57:20Z', '2003-05-16T12:57:20Zx', '2003-05-16T12:57:20.1234567890Z'],
  ])('refuses %j', (text) => {
    expect(parseWireDateTime(text)).toBeUndefined()
  })
})
