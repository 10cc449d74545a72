import { describe, expect, it } from 'vitest'
import type { IsoInstant } from '../../../../../src/kernel/dates.js'
import { foundBy, testRule } from '../../../../support/iati/rule-findings.js'

const date = (type: string, day: string) => `<activity-date type="${type}" iso-date="${day}"/>`
const period = (from: string, to: string) => `<period-start iso-date="${from}"/><period-end iso-date="${to}"/>`
const periods = ['budget', 'planned-disbursement', 'period', 'total-budget', 'recipient-org-budget']
periods.push('recipient-region-budget', 'recipient-country-budget', 'total-expenditure')

describe('a day with a time zone', () => {
  const zoned = (name: string, attribute: string) => `<${name} ${attribute}="2026-01-01Z"/>`
  const isoDates = ['activity-date', 'transaction-date', 'period-start', 'period-end', 'document-date', 'baseline']
  testRule('date-with-zone', [
    ...isoDates.map(
      (name) =>
        [zoned(name, 'iso-date'), `/${name}/@iso-date: expected a date without time zone, got 2026-01-01Z`] as const,
    ),
    ...['value', 'forecast', 'loan-status'].map(
      (name) =>
        [
          zoned(name, 'value-date'),
          `/${name}/@value-date: expected a date without time zone, got 2026-01-01Z`,
        ] as const,
    ),
    [
      date('1', '2026-01-01-05:00'),
      '/activity-date/@iso-date: expected a date without time zone, got 2026-01-01-05:00',
    ],
    [date('1', '2026-01-01') + date('1', '12026-01-01') + date('1', '2026-13-01Z')],
    ['<activity-date/>'],
  ])
})

describe('the dates of an activity', () => {
  testRule('start-date-missing', [
    [date('1', '2026-01-01')],
    [date('2', '2026-01-01')],
    [date('3', '2026-01-01') + date('4', '2026-01-01'), ': expected an activity-date of type 1 or 2, got none'],
    ['<iati-organisation/>'],
  ])
  testRule('activity-date-repeated', [
    [`${date('1', '2026-01-01') + date('2', '2026-01-01')}<activity-date/><activity-date/>`],
    [
      date('1', '2026-01-01') + date('2', '2026-01-01') + date('1', '2026-02-01'),
      '/activity-date[3]/@type: expected one activity-date of type 1, got another',
    ],
  ])
  for (const [code, start, end] of [
    ['planned-dates-order', '1', '3'],
    ['actual-dates-order', '2', '4'],
  ] as const) {
    testRule(code, [
      [date(start, '2026-01-02') + date(end, '2026-01-02')],
      [date(start, '2026-13-02') + date(end, '2026-01-01')],
      [date(start, '2026-01-02') + date(end, '2026-13-01')],
      [`<activity-date type="${start}"/><activity-date type="${end}"/>`],
      [
        date(start, '2026-01-02') + date(end, '2026-01-01'),
        `/activity-date[2]/@iso-date: expected an end (type ${end}) on or after the start 2026-01-02 (type ${start}), got 2026-01-01`,
      ],
    ])
  }
  testRule('end-date-missing', [
    [''],
    ['<activity-status code="3"/>'],
    [`<activity-status code="4"/>${date('4', '2026-01-01')}`],
    [
      `<activity-status code="4"/>${date('3', '2026-01-01')}`,
      '/activity-status: expected an activity-date of type 4 with status 4, got none',
    ],
  ])
})

describe('a day or time in the future', () => {
  for (const [code, type] of [
    ['actual-start-in-future', '2'],
    ['actual-end-in-future', '4'],
  ] as const) {
    testRule(code, [
      [`${date(type, '2026-03-15') + date('1', '2026-03-16')}<activity-date type="${type}"/>`],
      [date(type, '2026-03-16'), '/activity-date/@iso-date: expected a day not after 2026-03-15, got 2026-03-16'],
    ])
  }
  testRule('transaction-date-in-future', [
    ['<transaction/><transaction><transaction-date/></transaction>'],
    ['<transaction><transaction-date iso-date="2026-03-15"/></transaction>'],
    [
      '<transaction><transaction-date iso-date="2026-03-16"/></transaction>',
      '/transaction/transaction-date/@iso-date: expected a day not after 2026-03-15, got 2026-03-16',
    ],
  ])
  testRule('value-date-in-future', [
    ['<transaction/><transaction><value value-date="2026-03-15"/></transaction>'],
    [
      '<transaction><value value-date="2026-03-16"/></transaction>',
      '/transaction/value/@value-date: expected a day not after 2026-03-15, got 2026-03-16',
    ],
  ])
  const updated = (time: string) => `<iati-activity last-updated-datetime="${time}"/>`
  testRule('updated-in-future', [
    ['<iati-activity/>'],
    [updated('2026-03-15T23:59:59Z')],
    [
      updated('2026-03-16T00:00:00Z'),
      '/@last-updated-datetime: expected a time not after 2026-03-15, got 2026-03-16T00:00:00Z',
    ],
  ])

  it('is after the current instant where that is known', () => {
    const now = { now: '2026-03-15T12:00:00Z' as IsoInstant }
    expect(foundBy('updated-in-future', updated('2026-03-15T12:00:00Z'), now)).toEqual([])
    expect(foundBy('updated-in-future', updated('2026-03-15T12:00:01Z'), now)).toEqual([
      '/@last-updated-datetime: expected a time not after 2026-03-15T12:00:00Z, got 2026-03-15T12:00:01Z',
    ])
  })
})

describe('a period', () => {
  testRule('period-order', [
    ['<budget/>'],
    [`<budget>${period('2026-01-01', '2026-01-01')}</budget>`],
    [`<budget>${period('2026-13-01', '2026-01-01')}</budget><budget>${period('2026-01-01', '2025-13-01')}</budget>`],
    ...periods.map(
      (name) =>
        [
          `<${name}>${period('2026-01-02', '2026-01-01')}</${name}>`,
          `/${name}: expected an end on or after the start 2026-01-02, got 2026-01-01`,
        ] as const,
    ),
  ])
  testRule('budget-too-long', [
    ['<budget/>'],
    [`<budget>${period('2026-01-01', '2027-01-01')}</budget>`],
    ...periods.map((name) => {
      const xml = `<${name}>${period('2026-01-01', '2027-01-02')}</${name}>`
      const isLimited = name !== 'planned-disbursement' && name !== 'period'
      return [xml, ...(isLimited ? [`/${name}: expected at most 365 days from start to end, got 366`] : [])] as const
    }),
  ])
  const lines = (...all: string[]) =>
    `<recipient-country-budget>${period('2026-01-01', '2026-12-31')}${all.join('')}</recipient-country-budget>`
  const line = (day: string) => `<budget-line><value value-date="${day}"/></budget-line>`
  const path = '/recipient-country-budget/budget-line/value/@value-date'
  testRule('budget-line-date', [
    [lines(line('2026-01-01'), line('2026-12-31'), '<budget-line/>', '<budget-line><value/></budget-line>')],
    [lines('<other><value value-date="2027-01-01"/></other>')],
    [`<recipient-country-budget>${line('2027-01-01')}</recipient-country-budget>`],
    [lines(line('2025-12-31')), `${path}: expected a day from 2026-01-01 to 2026-12-31, got 2025-12-31`],
    [lines(line('2027-01-01')), `${path}: expected a day from 2026-01-01 to 2026-12-31, got 2027-01-01`],
  ])
})
