import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseDay } from '../../../../src/iati/validation/days.js'
import { validateActivity } from '../../../../src/iati/validation/index.js'
import type { IsoDate, IsoInstant } from '../../../../src/kernel/dates.js'
import { type Element, element } from '../../../../src/kernel/xml/element.js'
import {
  anActivity,
  anOrganisation,
  budget,
  inserted,
  replaced,
  withAttributes,
} from '../../../support/iati/iati-records.js'
import { validateOrganisation } from '../../../support/iati/validate-organisation.js'

const context = { today: '2026-03-15' as IsoDate, now: '2026-03-15T12:00:00Z' as IsoInstant }

function codesOf(record: Element): string[] {
  const validate = record.name === 'iati-activity' ? validateActivity : validateOrganisation
  return [...new Set(validate(record, context).map(({ code }) => code))].sort()
}

describe('a day', () => {
  it('is the number of days since 1970, as the platform counts them', () => {
    fc.assert(
      fc.property(fc.integer({ min: -30_000_000, max: 90_000_000 }), (day) => {
        const [text = ''] = new Date(day * 86_400_000).toISOString().split('T')
        // JavaScript writes other years than 0 to 9999 with six digits and a sign.
        const year = Number(text.slice(0, -6))
        fc.pre(year > 0)
        expect(parseDay(`${String(year).padStart(4, '0')}${text.slice(-6)}`)).toBe(day)
      }),
    )
  })

  it.each([
    ['2026-03-15Z', '2026-03-15'],
    ['2026-03-15+14:00', '2026-03-15'],
  ])('of %s is that of %s', (zoned, plain) => {
    expect(parseDay(zoned)).toBe(parseDay(plain))
  })

  it('is ordered over all years', () => {
    const texts = [`-${'9'.repeat(400)}-01-01`, '-20225-01-01', '-0001-12-31', '0001-01-01', '0999-12-31', '1000-01-01']
    texts.push('9999-12-31', '10000-01-01', '20225-01-01', `${'9'.repeat(400)}-01-01`)
    const days = texts.map((text) => parseDay(text) ?? Number.NaN)
    expect([...days].sort((a, b) => a - b)).toEqual(days)
  })

  it.each(['2020-13-01', '2021-02-29', '0000-01-01', '02021-01-01', '2020-1-1', '2020-01-01T00:00:00Z', ' 2020-01-01'])(
    'is not %j',
    (text) => {
      expect(parseDay(text)).toBeUndefined()
    },
  )
})

const dated = (type: string, day: string) => (record: Element) => {
  const date = element('activity-date', { type, 'iso-date': day })
  const isOther = (child: Element) => child.name !== 'activity-date' || child.attributes.type !== type
  return inserted({ ...record, children: record.children.filter(isOther) }, date)
}
const at = (path: string, name: string, value: string) => (record: Element) =>
  replaced(record, path, (found) => withAttributes(found, { [name]: value }))

// Every rule about days, as a typing slip in the year breaks it.
const slips: readonly [code: string, broken: (record: Element) => Element, of?: Element][] = [
  ['actual-start-in-future', dated('2', '20225-01-01')],
  ['actual-end-in-future', dated('4', '20225-01-01')],
  ['planned-dates-order', dated('3', '-2022-01-01')],
  ['actual-dates-order', dated('4', '-2022-01-01')],
  ['transaction-date-in-future', at('transaction/transaction-date', 'iso-date', '20225-01-01')],
  ['value-date-in-future', at('transaction/value', 'value-date', '20225-01-01')],
  ['budget-too-long', (record) => inserted(record, budget('2027-01-01', '20227-12-31'))],
  ['period-order', (record) => inserted(record, budget('20227-01-01', '2027-12-31'))],
  [
    'budget-overlap',
    (record) => inserted(inserted(record, budget('20227-01-01', '20227-12-31')), budget('20227-06-01', '20227-12-31')),
  ],
  ['updated-in-future', (record) => withAttributes(record, { 'last-updated-datetime': '20225-01-01T00:00:00Z' })],
  ['budget-line-date', at('recipient-country-budget/budget-line/value', 'value-date', '20225-01-01'), anOrganisation()],
]

describe('a year of five digits or a negative one, valid in the schema,', () => {
  it.each(slips)('gives %s', (code, broken, of = anActivity()) => {
    expect(codesOf(broken(of))).toEqual([code])
  })
})

describe('a malformed date', () => {
  it.each([
    ['an actual start', dated('2', '2030-13-01')],
    ['a planned end', dated('3', '2020-13-01')],
    ['a start with a zone', dated('2', '2020-13-01Z')],
    ['a transaction', at('transaction/transaction-date', 'iso-date', '2030-02-30')],
    ['a value date', at('transaction/value', 'value-date', '2030-02-30')],
    ['a budget', (record: Element) => inserted(record, budget('2027-02-01', '2020-13-01'))],
    [
      'two budgets',
      (record: Element) =>
        inserted(
          inserted(record, budget('2027-02-01', '2029-13-01')),
          withAttributes(
            replaced(budget('2027-02-01', '2029-13-01'), 'value', (value) =>
              withAttributes(value, { currency: 'KES' }),
            ),
            { type: '2' },
          ),
        ),
    ],
    ['a period of a result', at('result/indicator/period/period-end', 'iso-date', '2020-13-01')],
    [
      'the last update',
      (record: Element) => withAttributes(record, { 'last-updated-datetime': '2030-13-01T00:00:00Z' }),
    ],
    [
      'the last update after its end',
      (record: Element) => withAttributes(record, { 'last-updated-datetime': '2030-01-01T24:00:01Z' }),
    ],
  ])('of %s is reported once, by the structure', (_what, broken) => {
    expect(codesOf(broken(anActivity()))).toEqual(['value-malformed'])
  })
})
