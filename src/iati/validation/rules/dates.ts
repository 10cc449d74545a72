import type { Element } from '../../../kernel/xml/element.js'
import { childOf, childrenOf, dayOf, isAfterNow, type RecordView } from '../view.js'
import { periodOf } from './periods.js'
import type { Report, Rule } from './rule.js'

function ofType(record: RecordView, type: string): readonly Element[] {
  return record.children('activity-date').filter(({ attributes }) => attributes.type === type)
}

function inOrder(record: RecordView, startType: string, endType: string, report: Report): void {
  const [firstStart] = ofType(record, startType)
  const [firstEnd] = ofType(record, endType)
  for (const start of ofType(record, startType)) {
    const startText = start.attributes['iso-date']
    const from = dayOf(startText)
    if (from === undefined) continue
    for (const end of ofType(record, endType)) {
      const endText = end.attributes['iso-date']
      const to = dayOf(endText)
      if (to === undefined || from <= to) continue
      report(
        end,
        `expected an end (type ${endType}) on or after the start ${startText} (type ${startType}), got ${endText}`,
        'iso-date',
        start !== firstStart || end !== firstEnd,
      )
    }
  }
}

/** Of several, the official rules look at the first. */
function noneInFuture(record: RecordView, elements: readonly Element[], attribute: string, report: Report): void {
  const first = elements.find(({ attributes }) => attributes[attribute] !== undefined)
  for (const element of elements) {
    const text = element.attributes[attribute]
    const day = dayOf(text)
    if (day !== undefined && day > record.today)
      report(element, `expected a day not after ${record.context.today}, got ${text}`, attribute, element !== first)
  }
}

const inTransactions = (record: RecordView, name: string): Element[] =>
  record.children('transaction').flatMap((transaction) => childOf(transaction, name) ?? [])

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
          if (day !== undefined && day.length > 10 && zoned.test(day) && dayOf(day) !== undefined)
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
    check: (record, report) => noneInFuture(record, ofType(record, '2'), 'iso-date', report),
  },
  {
    code: 'actual-end-in-future',
    severity: 'error',
    official: ['11.1.5'],
    sentence: 'The actual end lies in the future.',
    check: (record, report) => noneInFuture(record, ofType(record, '4'), 'iso-date', report),
  },
  {
    code: 'end-date-missing',
    // The records of a giving platform state no end (iati.md 4.2).
    severity: 'info',
    severityElsewhere: 'warning',
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
    check: (record, report) => noneInFuture(record, inTransactions(record, 'transaction-date'), 'iso-date', report),
  },
  {
    code: 'value-date-in-future',
    severity: 'error',
    official: ['11.2.2'],
    sentence: 'The value date of a transaction lies in the future.',
    check: (record, report) => noneInFuture(record, inTransactions(record, 'value'), 'value-date', report),
  },
  {
    code: 'period-order',
    severity: 'error',
    official: ['8.6.1', '8.6.3'],
    sentence: 'A period ends before it starts.',
    check(record, report) {
      for (const name in periods) {
        for (const element of record.all(name)) {
          const period = periodOf(element)
          if (!period || period.from <= period.to) continue
          report(element, `expected an end on or after the start ${period.start}, got ${period.end}`)
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
        for (const element of record.all(name)) {
          const period = periodOf(element)
          const days = period ? period.to - period.from : 0
          if (days > longestBudgetDays) report(element, `expected at most 365 days from start to end, got ${days}`)
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
        const period = periodOf(budget)
        if (!period) continue
        const values = childrenOf(budget, 'budget-line').flatMap((line) => childOf(line, 'value') ?? [])
        for (const value of values) {
          const text = value.attributes['value-date']
          const day = dayOf(text)
          if (day === undefined || (day >= period.from && day <= period.to)) continue
          const detail = `expected a day from ${period.start} to ${period.end}, got ${text}`
          report(value, detail, 'value-date', value !== values[0])
        }
      }
    },
  },
]
