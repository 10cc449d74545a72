import { type Element, element } from '../../../../src/kernel/xml/element.js'
import { exchanged, found } from '../iati-editing.js'
import {
  aTransaction,
  budget,
  narrative,
  period,
  replaced,
  value,
  withAttributes,
  withChildren,
} from '../iati-records.js'
import { activity, attribute, child, isActivity, type Mutant, mutantsDay, tomorrow } from './mutant.js'
import { country, date, disbursement, started, withDates } from './parts.js'
import { figure } from './results.js'

/** A budget element of an organisation with this period; `other` for what stands before it. */
function periodic(record: Element, name: string, from: string, to: string): Element {
  const target = found(record, name)
  if (!target) throw new Error(`the record has no ${name}`)
  const kept = target.children.filter((part) => part.name !== 'budget-line' && part.name !== 'expense-line')
  return exchanged(
    record,
    target,
    withChildren(target, () =>
      kept.map((part) => {
        if (part.name === 'period-start') return withAttributes(part, { 'iso-date': from })
        return part.name === 'period-end' ? withAttributes(part, { 'iso-date': to }) : part
      }),
    ),
  )
}

export const organisationBudgets = [
  'total-budget',
  'recipient-org-budget',
  'recipient-region-budget',
  'recipient-country-budget',
  'total-expenditure',
]

/** Rules about dates and periods. */
export const dateMutants: readonly Mutant[] = [
  activity('6.11.1', 'start-date-missing', 'only an end date', withDates(date('3', '2027-01-01')), withDates(started)),
  attribute(
    '11.1.1',
    'updated-in-future',
    ['activity', '', 'last-updated-datetime'],
    '2026-12-15T00:00:00Z',
    '2026-12-16T00:00:00Z',
  ),
  attribute(
    '11.1.1',
    'updated-in-future',
    ['activity', '', 'last-updated-datetime'],
    '2026-12-15T12:00:00Z',
    '2026-12-15T12:00:01Z',
  ),
  attribute(
    '11.4.1',
    'updated-in-future',
    ['organisation', '', 'last-updated-datetime'],
    '2026-12-15T00:00:00Z',
    '2026-12-15T23:00:00-05:00',
  ),
  activity(
    '11.1.2',
    'planned-dates-order',
    'a planned end before the start',
    withDates(started, date('3', '2023-12-31')),
    withDates(started, date('3', '2024-01-01')),
  ),
  activity(
    '11.1.3',
    'actual-dates-order',
    'an actual end before the start',
    withDates(date('2', '2024-01-01'), date('4', '2023-12-31')),
    withDates(date('2', '2024-01-01'), date('4', '2024-01-01')),
  ),
  activity(
    '11.1.4',
    'actual-start-in-future',
    'an actual start tomorrow',
    withDates(date('2', tomorrow)),
    withDates(date('2', mutantsDay)),
  ),
  activity(
    '11.1.5',
    'actual-end-in-future',
    'an actual end tomorrow',
    withDates(started, date('4', tomorrow)),
    withDates(started, date('4', mutantsDay)),
  ),
  child('11.2.1', 'transaction-date-in-future', 'a transaction tomorrow', (bad) =>
    replaced(aTransaction('new', { type: '1', day: mutantsDay }), 'transaction-date', (own) =>
      withAttributes(own, { 'iso-date': bad ? tomorrow : mutantsDay }),
    ),
  ),
  child('11.2.2', 'value-date-in-future', 'a value date tomorrow', (bad) =>
    replaced(aTransaction('new', { type: '1', day: mutantsDay }), 'value', () =>
      value('1.00', bad ? tomorrow : mutantsDay),
    ),
  ),
  child(
    '11.3.1',
    'budget-line-date',
    'a budget line before its period',
    (bad) =>
      element('recipient-country-budget', {}, [
        country('KE'),
        ...period('2026-01-01', '2026-12-31'),
        value('9.00', '2026-01-01'),
        element('budget-line', {}, [value('4.00', bad ? '2025-12-31' : '2026-01-01'), narrative('Line')]),
      ]),
    ['organisation', ''],
  ),
  child('8.6.1', 'period-order', 'an indicator period that ends before it starts', (bad) =>
    replaced(figure('1', 'actual', { value: '1' }), 'indicator/period/period-end', (end) =>
      withAttributes(end, { 'iso-date': bad ? '2024-12-31' : '2025-12-31' }),
    ),
  ),
  child('8.6.3', 'period-order', 'a budget that ends before it starts', (bad) =>
    budget('2032-02-01', bad ? '2032-01-31' : '2032-02-01'),
  ),
  child('8.6.3', 'period-order', 'a planned disbursement that ends before it starts', (bad) =>
    disbursement('2027-02-01', bad ? '2027-01-31' : '2027-02-01'),
  ),
  child('7.5.3', 'budget-too-long', 'a budget of a year and a day', (bad) =>
    budget('2033-01-01', bad ? '2034-01-02' : '2034-01-01'),
  ),
  ...organisationBudgets.flatMap((name): Mutant[] => {
    const make = (bad: [string, string]) => (record: Element) =>
      !isActivity(record) && found(record, name)
        ? { sound: periodic(record, name, '2027-01-01', '2028-01-01'), broken: periodic(record, name, ...bad) }
        : undefined
    return [
      {
        breaks: '8.6.3',
        code: 'period-order',
        what: `a ${name} that ends before it starts`,
        make: make(['2027-01-02', '2027-01-01']),
      },
      {
        breaks: '7.5.3',
        code: 'budget-too-long',
        what: `a ${name} of a year and a day`,
        make: make(['2027-01-01', '2028-01-02']),
      },
    ]
  }),
]
