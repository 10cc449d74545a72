import { type Element, element, textElement } from '../../../../src/kernel/xml/element.js'
import { allFound, exchanged, found, placed, withOnly } from '../iati-editing.js'
import { budget, documentLink, narrative, replaced, withAttributes, withChildren, without } from '../iati-records.js'
import { organisationBudgets } from './dates.js'
import { activity, agency, attribute, child, isActivity, type Mutant, tomorrow } from './mutant.js'
import {
  country,
  date,
  region,
  second,
  sector,
  started,
  withDates,
  withOnlyRecipients,
  withRecipients,
  withSectors,
  withTwoTransactions,
} from './parts.js'

const point = (pos: string) =>
  element('location', {}, [
    element('point', { srsName: 'http://www.opengis.net/def/crs/EPSG/0/4326' }, [textElement('pos', pos)]),
  ])
const located = (pos: string) => (record: Element) => withOnly(record, ['location'], [point(pos)])

/** What the official validator does not see (iati.md 13.2), as far as one record shows it. */
export const blindSpotMutants: readonly Mutant[] = [
  activity(
    'a later date in the future',
    'transaction-date-in-future',
    'the second transaction is of tomorrow',
    second((one) => replaced(one, 'transaction-date', (own) => withAttributes(own, { 'iso-date': tomorrow }))),
    withTwoTransactions,
  ),
  activity(
    'a later date in the future',
    'value-date-in-future',
    'the second value is of tomorrow',
    second((one) => replaced(one, 'value', (own) => withAttributes(own, { 'value-date': tomorrow }))),
    withTwoTransactions,
  ),
  attribute('an unknown language', 'code-unknown', ['activity', '', 'xml:lang'], 'fr', 'zz'),
  attribute('an unknown language', 'code-unknown', ['organisation', '', 'xml:lang'], 'fr', 'zz'),
  activity('an unknown language', 'code-unknown', 'a narrative in zz', (record) =>
    replaced(record, 'title', (title) => withChildren(title, () => [narrative('Titel', { 'xml:lang': 'zz' })])),
  ),
  activity(
    'a withdrawn code',
    'code-withdrawn',
    'the sector 74010',
    withSectors(sector('74010')),
    withSectors(sector('14031')),
  ),
  activity(
    'regions without vocabulary',
    'recipient-percentage-sum',
    'two that make 130',
    withRecipients(region('298', { percentage: '60' }), region('798', { percentage: '70' })),
    withRecipients(region('298', { percentage: '60' }), region('798', { percentage: '40' })),
  ),
  activity(
    'no recipient and no transactions',
    'recipient-missing',
    'nothing says where',
    withOnlyRecipients,
    (record) => withRecipients(country('KE'))(withOnly(record, ['transaction'], [])),
  ),
  ...['/projects/7', 'giving.example/7', 'https://giving.example/a b', 'ftp://giving.example/7', 'https://'].map(
    (url) =>
      child('a relative or broken URL', 'url-unusable', `the address ${url}`, (bad) =>
        documentLink(bad ? url : 'https://giving.example/7'),
      ),
  ),
  activity(
    'overlapping or negative budgets',
    'budget-overlap',
    'two budgets share two days',
    (record) => placed(record, '', budget('2034-12-30', '2035-06-30')),
    (record) => placed(record, '', budget('2034-06-01', '2034-12-31')),
  ),
  activity(
    'overlapping or negative budgets',
    'budget-touch',
    'two budgets share a day',
    (record) => placed(record, '', budget('2034-12-31', '2035-06-30')),
    (record) => placed(record, '', budget('2034-06-01', '2034-12-31')),
  ),
  child('overlapping or negative budgets', 'budget-negative', 'a budget of -0.01', (bad) =>
    budget('2036-01-01', '2036-06-30', bad ? '-0.01' : '0'),
  ),
  ...organisationBudgets.slice(0, 4).map(
    (name): Mutant => ({
      breaks: 'overlapping or negative budgets',
      code: 'budget-negative',
      what: `a negative ${name}`,
      make: (record) =>
        !isActivity(record) && found(record, name)
          ? { sound: record, broken: replaced(record, `${name}/value`, (own) => ({ ...own, text: '-1' })) }
          : undefined,
    }),
  ),
  activity(
    'one budget in two currencies',
    'budget-currency-mixed',
    'the revised budget is in another currency',
    (record) =>
      withLast(record, 'budget', (own) =>
        replaced(own, 'value', (amount) => withAttributes(amount, { currency: 'KES' })),
      ),
    (record) =>
      withOnly(
        record,
        ['budget'],
        [budget('2026-01-01', '2026-12-31'), withAttributes(budget('2026-01-01', '2026-12-31'), { type: '2' })],
      ),
  ),
  activity(
    'more than one original or revised budget',
    'budget-overlap',
    'two revised budgets of one period',
    (record) => placed(record, '', withAttributes(budget('2026-01-01', '2026-12-31'), { type: '2' })),
    (record) =>
      withOnly(
        record,
        ['budget'],
        [budget('2026-01-01', '2026-12-31'), withAttributes(budget('2026-01-01', '2026-12-31'), { type: '2' })],
      ),
  ),
  activity(
    'budget-not-provided beside budgets',
    'budget-not-provided-contradicted',
    'a reason for no budget, and one',
    (record) => withAttributes(record, { 'budget-not-provided': '1' }),
    (record) => withOnly(record, ['budget'], [budget('2026-01-01', '2026-12-31')]),
  ),
  activity(
    'closed without an actual end',
    'end-date-missing',
    'status 4 without a date of type 4',
    (record) => withDatesOnly(record, started),
    (record) => withDatesOnly(record, started, date('4', '2025-01-01')),
  ),
  activity(
    'a disbursement without receiver',
    'receiver-missing',
    'the payout names nobody',
    second((one) => without(one, 'receiver-org')),
    withTwoTransactions,
  ),
  activity(
    'two transactions with one reference',
    'transaction-repeated',
    'the second is called as the first',
    second((one) => withAttributes(one, { ref: 'one' })),
    withTwoTransactions,
  ),
  attribute(
    'an invented prefix',
    'organisation-prefix-unknown',
    ['activity', 'participating-org', 'ref'],
    agency,
    'XX-NONE-7',
  ),
  activity(
    'an invented prefix',
    'organisation-prefix-unknown',
    'a receiver of an agency that is none',
    second((one) => replaced(one, 'receiver-org', (own) => withAttributes(own, { ref: 'XX-NONE-7' }))),
    withTwoTransactions,
  ),
  attribute('an empty reference', 'reference-empty', ['activity', 'participating-org', 'ref'], agency, ''),
  activity('a position with a comma', 'position-unreadable', 'latitude, longitude', located('-0.1, 34.7'), (record) =>
    located('-0.1 34.7')(withRecipients(country('KE'))(record)),
  ),
  activity(
    'latitude and longitude exchanged',
    'position-swapped',
    'a place of Kenya off the coast of Turkey',
    located('34.7 -0.1'),
    (record) => located('-0.1 34.7')(withRecipients(country('KE'))(record)),
  ),
  activity(
    'latitude and longitude exchanged',
    'position-unreadable',
    'a latitude of 120',
    located('120.98 14.6'),
    (record) => located('14.6 120.98')(withRecipients(country('PH'))(record)),
  ),
  child('a format that is not listed', 'code-unknown', 'image/webp', (bad) =>
    withAttributes(documentLink('https://giving.example/7.webp'), { format: bad ? 'image/webp' : 'image/jpeg' }),
  ),
  activity(
    'a date with a zone',
    'date-with-zone',
    '2024-01-01-12:00',
    withDates(date('2', '2024-01-01-12:00')),
    withDates(date('2', '2024-01-01')),
  ),
]

function withDatesOnly(record: Element, ...days: Element[]): Element {
  const closed = replaced(record, 'activity-status', (status) => withAttributes(status, { code: '4' }))
  return withOnly(closed, ['activity-date'], days)
}

function withLast(record: Element, name: string, change: (found: Element) => Element): Element {
  const last = allFound(record, name).at(-1)
  return last ? exchanged(record, last, change(last)) : record
}
