import { describe, expect, it } from 'vitest'
import { addMonths, monthEnd, parseIsoDate, parseWireDateTime } from '../../../src/domain/dates.js'
import { day } from '../../support/builders.js'

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
})

describe('a date and time from the wire', () => {
  it.each([
    ['2003-05-16T12:57:20-04:00', '2003-05-16T16:57:20.000Z'],
    ['2003-05-16T12:57:20.123Z', '2003-05-16T12:57:20.000Z'],
    ['2003-05-16T23:57:20+0530', '2003-05-16T18:27:20.000Z'],
  ])('%s is %s', (text, instant) => {
    expect(parseWireDateTime(text)?.toISOString()).toBe(instant)
  })

  it.each(['2003-05-16', '2003-02-30T00:00:00Z', '2003-05-16T24:00:00Z', '2003-05-16T12:57:20', 'yesterday'])(
    'refuses %j',
    (text) => {
      expect(parseWireDateTime(text)).toBeUndefined()
    },
  )
})
