import type { Element } from '../../xml/element.js'
import { childOf, dateOf, dayOf, isAfterNow, type RecordView } from '../view.js'
import type { Report, Rule } from './rule.js'

function ofType(record: RecordView, type: string): readonly Element[] {
  return record.children('activity-date').filter(({ attributes }) => attributes.type === type)
}

function inOrder(record: RecordView, startType: string, endType: string, report: Report): void {
  for (const start of ofType(record, startType)) {
    for (const end of ofType(record, endType)) {
      const from = dayOf(start.attributes['iso-date'])
      const to = dayOf(end.attributes['iso-date'])
      if (from && to && from > to) {
        report(
          end,
          `expected an end (type ${endType}) on or after the start ${from} (type ${startType}), got ${to}`,
          'iso-date',
        )
      }
    }
  }
}

function notInFuture(record: RecordView, type: string, report: Report): void {
  for (const date of ofType(record, type)) {
    const day = dayOf(date.attributes['iso-date'])
    if (day && day > record.context.today) {
      report(date, `expected a day not after ${record.context.today}, got ${day}`, 'iso-date')
    }
  }
}

/** Elements that hold a period, and whether it may last at most a year. */
const periods: Readonly<Record<string, 'budget' | 'any'>> = {
  budget: 'budget',
  'planned-disbursement': 'any',
  period: 'any',
  'total-budget': 'budget',
  'recipient-org-budget': 'budget',
  'recipient-region-budget': 'budget',
  'recipient-country-budget': 'budget',
  'total-expenditure': 'budget',
}

/** The attributes that hold a day, by element. */
const days: Readonly<Record<string, string>> = {
  'activity-date': 'iso-date',
  'transaction-date': 'iso-date',
  'period-start': 'iso-date',
  'period-end': 'iso-date',
  'document-date': 'iso-date',
  baseline: 'iso-date',
  value: 'value-date',
  forecast: 'value-date',
  'loan-status': 'value-date',
}

const zoned = /\d(?:Z|[+-]\d\d:\d\d)\s*$/
const longestBudgetDays = 365
const dayMilliseconds = 86_400_000

export const dateRules: readonly Rule[] = [
  {
    code: 'date-with-zone',
    severity: 'warning',
    official: [],
    sentence: 'A date carries a time zone, so that consumers disagree about the day.',
    check(record, report) {
      for (const name in days) {
        const attribute = days[name] ?? ''
        for (const element of record.all(name)) {
          const day = element.attributes[attribute]
          if (day !== undefined && day.length > 10 && zoned.test(day))
            report(element, `expected a date without time zone, got ${day}`, attribute)
        }
      }
    },
  },
  {
    code: 'start-date-missing',
    severity: 'error',
    official: ['6.11.1'],
    sentence: 'The activity has neither a planned nor an actual start date.',
    check(record, report) {
      if (record.root.name !== 'iati-activity') return
      const starts = record.children('activity-date').some(({ attributes: { type } }) => type === '1' || type === '2')
      if (!starts) report(record.root, 'expected an activity-date of type 1 or 2, got none')
    },
  },
  {
    code: 'activity-date-repeated',
    severity: 'warning',
    official: [],
    sentence: 'The activity has two dates of one type.',
    check(record, report) {
      const seen = new Set<string>()
      for (const date of record.children('activity-date')) {
        const { type } = date.attributes
        if (type === undefined) continue
        if (seen.has(type)) report(date, `expected one activity-date of type ${type}, got another`, 'type')
        seen.add(type)
      }
    },
  },
  {
    code: 'planned-dates-order',
    severity: 'error',
    official: ['11.1.2'],
    sentence: 'The planned end lies before the planned start.',
    check: (record, report) => inOrder(record, '1', '3', report),
  },
  {
    code: 'actual-dates-order',
    severity: 'error',
    official: ['11.1.3'],
    sentence: 'The actual end lies before the actual start.',
    check: (record, report) => inOrder(record, '2', '4', report),
  },
  {
    code: 'actual-start-in-future',
    severity: 'error',
    official: ['11.1.4'],
    sentence: 'The actual start lies in the future.',
    check: (record, report) => notInFuture(record, '2', report),
  },
  {
    code: 'actual-end-in-future',
    severity: 'error',
    official: ['11.1.5'],
    sentence: 'The actual end lies in the future.',
    check: (record, report) => notInFuture(record, '4', report),
  },
  {
    code: 'end-date-missing',
    severity: 'warning',
    official: [],
    sentence: 'The activity is closed (status 4) but has no actual end date.',
    check(record, report) {
      const status = record.children('activity-status')[0]
      if (status?.attributes.code !== '4' || ofType(record, '4').length > 0) return
      report(status, 'expected an activity-date of type 4 with status 4, got none')
    },
  },
  {
    code: 'updated-in-future',
    severity: 'error',
    official: ['11.1.1', '11.4.1'],
    sentence: 'The time of the last update lies in the future.',
    check(record, report) {
      const text = record.root.attributes['last-updated-datetime']
      if (text === undefined) return
      if (isAfterNow(text, record.context)) {
        const { now, today } = record.context
        report(record.root, `expected a time not after ${now ?? today}, got ${text}`, 'last-updated-datetime')
      }
    },
  },
  {
    code: 'transaction-date-in-future',
    severity: 'error',
    official: ['11.2.1'],
    sentence: 'A transaction lies in the future.',
    check(record, report) {
      for (const transaction of record.children('transaction')) {
        const date = childOf(transaction, 'transaction-date')
        const day = dayOf(date?.attributes['iso-date'])
        if (date && day && day > record.context.today) {
          report(date, `expected a day not after ${record.context.today}, got ${day}`, 'iso-date')
        }
      }
    },
  },
  {
    code: 'value-date-in-future',
    severity: 'error',
    official: ['11.2.2'],
    sentence: 'The value date of a transaction lies in the future.',
    check(record, report) {
      for (const transaction of record.children('transaction')) {
        const value = childOf(transaction, 'value')
        const day = dayOf(value?.attributes['value-date'])
        if (value && day && day > record.context.today) {
          report(value, `expected a day not after ${record.context.today}, got ${day}`, 'value-date')
        }
      }
    },
  },
  {
    code: 'period-order',
    severity: 'error',
    official: ['8.6.1', '8.6.3'],
    sentence: 'A period ends before it starts.',
    check(record, report) {
      for (const name in periods) {
        for (const period of record.all(name)) {
          const from = dateOf(period, 'period-start')
          const to = dateOf(period, 'period-end')
          if (from && to && from > to) report(period, `expected an end on or after the start ${from}, got ${to}`)
        }
      }
    },
  },
  {
    code: 'budget-too-long',
    severity: 'error',
    official: ['7.5.3'],
    sentence: 'A budget or expenditure period is longer than a year.',
    check(record, report) {
      for (const name in periods) {
        if (periods[name] !== 'budget') continue
        for (const period of record.all(name)) {
          const from = dateOf(period, 'period-start')
          const to = dateOf(period, 'period-end')
          if (!from || !to) continue
          const days = (Date.parse(to) - Date.parse(from)) / dayMilliseconds
          if (days > longestBudgetDays) report(period, `expected at most 365 days from start to end, got ${days}`)
        }
      }
    },
  },
  {
    code: 'budget-line-date',
    severity: 'error',
    official: ['11.3.1'],
    sentence: "The value date of a budget line lies outside the budget's period.",
    check(record, report) {
      for (const budget of record.children('recipient-country-budget')) {
        const from = dateOf(budget, 'period-start')
        const to = dateOf(budget, 'period-end')
        if (!from || !to) continue
        for (const line of budget.children) {
          if (line.name !== 'budget-line') continue
          const value = childOf(line, 'value')
          const day = dayOf(value?.attributes['value-date'])
          if (value && day && (day < from || day > to)) {
            report(value, `expected a day from ${from} to ${to}, got ${day}`, 'value-date')
          }
        }
      }
    },
  },
]
