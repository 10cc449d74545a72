import { describe, expect, it } from 'vitest'
import { validateActivity, validateOrganisation, validationNotices } from '../../../../src/iati/validation/index.js'
import { rules } from '../../../../src/iati/validation/rules/index.js'
import type { IsoDate } from '../../../../src/kernel/dates.js'
import { type Element, element, textElement } from '../../../../src/kernel/xml/element.js'
import {
  anActivity,
  anOrganisation,
  aTransaction,
  budget,
  documentLink,
  inserted,
  narrative,
  period,
  replaced,
  value,
  withAttributes,
  withChildren,
  without,
} from '../../../support/iati-records.js'

const context = { today: '2026-03-15' as IsoDate, reportingOrgRef: 'XM-DAC-47045' }
const tomorrow = '2026-03-16'

function codesOf(record: Element): string[] {
  const validate = record.name === 'iati-activity' ? validateActivity : validateOrganisation
  return validate(record, context).map(({ code, path }) => `${code} ${path}`)
}

type Case = readonly [what: string, record: Element, ...expected: string[]]

const activity = anActivity()
const organisation = anOrganisation()
const attribute = (path: string, changes: Record<string, string | undefined>, of = activity) =>
  replaced(of, path, (found) => withAttributes(found, changes))
const text = (path: string, words: string, of = activity) => replaced(of, path, (found) => ({ ...found, text: words }))
const date = (type: string, day: string) => element('activity-date', { type, 'iso-date': day })
const secondTransaction = (change: (transaction: Element) => Element) => {
  const index = activity.children.findLastIndex(({ name }) => name === 'transaction')
  return withChildren(activity, (children) => children.map((child, at) => (at === index ? change(child) : child)))
}

// Each changes one thing; what is expected is all that may be found.
const cases: readonly Case[] = [
  [
    'an identifier of blanks',
    text('iati-identifier', ' '),
    'identifier-empty /iati-activity/iati-identifier',
    'identifier-prefix /iati-activity/iati-identifier',
    'identifier-spaces /iati-activity/iati-identifier',
  ],
  [
    "the organisation's identifier",
    text('iati-identifier', 'XM-DAC-47045'),
    'identifier-of-organisation /iati-activity/iati-identifier',
    'identifier-prefix /iati-activity/iati-identifier',
  ],
  [
    'an identifier without the prefix',
    text('iati-identifier', 'XM-DAC-1-7'),
    'identifier-prefix /iati-activity/iati-identifier',
  ],
  [
    'an identifier with a slash',
    text('iati-identifier', 'XM-DAC-47045-7/1'),
    'identifier-symbols /iati-activity/iati-identifier',
  ],
  [
    'a reference with a blank after it',
    attribute('participating-org', { ref: 'XM-DAC-41114 ' }),
    'identifier-spaces /iati-activity/participating-org/@ref',
  ],
  [
    'an empty reference',
    attribute('participating-org', { ref: '' }),
    'reference-empty /iati-activity/participating-org/@ref',
  ],
  [
    'an invented prefix',
    attribute('participating-org', { ref: 'XX-NONE-1' }),
    'organisation-prefix-unknown /iati-activity/participating-org/@ref',
  ],
  [
    'another reporting organisation',
    replaced(text('iati-identifier', 'XM-DAC-1-7'), 'reporting-org', (org) => withAttributes(org, { ref: 'XM-DAC-1' })),
    'reporting-org-other /iati-activity/reporting-org/@ref',
  ],
  [
    'a reporting organisation of no agency',
    replaced(text('iati-identifier', 'NONE-7'), 'reporting-org', (org) => withAttributes(org, { ref: 'NONE' })),
    'reporting-org-prefix-unknown /iati-activity/reporting-org/@ref',
    'reporting-org-other /iati-activity/reporting-org/@ref',
  ],
  ['no language', withAttributes(activity, { 'xml:lang': undefined }), 'language-missing /iati-activity/@xml:lang'],
  [
    'a title of blanks',
    replaced(activity, 'title', (title) => withChildren(title, () => [narrative(' ')])),
    'title-empty /iati-activity/title',
    'narrative-empty /iati-activity/title/narrative',
  ],
  [
    'a description of a transaction without words',
    text('transaction/description/narrative', ''),
    'description-empty /iati-activity/transaction[1]/description',
    'narrative-empty /iati-activity/transaction[1]/description/narrative',
  ],
  [
    'an empty second narrative',
    replaced(activity, 'title', (title) => inserted(title, narrative('', { 'xml:lang': 'fr' }))),
    'narrative-empty /iati-activity/title/narrative[2]',
  ],
  [
    'a provider without ref and name',
    replaced(activity, 'transaction/provider-org', (org) => without(org, 'narrative')),
    'organisation-unnamed /iati-activity/transaction[1]/provider-org',
  ],
  [
    'a provider with an empty name',
    text('transaction/provider-org/narrative', ''),
    'narrative-empty /iati-activity/transaction[1]/provider-org/narrative',
    'organisation-blank /iati-activity/transaction[1]/provider-org',
  ],
  [
    'an own policy marker without words',
    attribute('policy-marker', { vocabulary: '99' }),
    'policy-marker-narrative /iati-activity/policy-marker',
  ],
  [
    'a policy marker without significance',
    attribute('policy-marker', { significance: undefined, vocabulary: undefined }),
    'policy-marker-significance /iati-activity/policy-marker/@significance',
  ],
  [
    'a relative address',
    attribute('document-link', { url: '/projects/7' }),
    'url-unusable /iati-activity/document-link/@url',
  ],
  [
    'an address of another scheme',
    inserted(activity, documentLink('ftp://giving.example/7')),
    'url-unusable /iati-activity/document-link[2]/@url',
  ],
  [
    'only end dates',
    withChildren(activity, (children) =>
      children.filter(({ name, attributes }) => name !== 'activity-date' || attributes.type === '3'),
    ),
    'start-date-missing /iati-activity',
  ],
  [
    'two planned starts',
    inserted(activity, date('1', '2025-01-02')),
    'activity-date-repeated /iati-activity/activity-date[4]/@type',
  ],
  [
    'a planned end before the start',
    replaced(activity, 'activity-date', (start) => withAttributes(start, { 'iso-date': '2027-01-02' })),
    'planned-dates-order /iati-activity/activity-date[3]/@iso-date',
  ],
  [
    'an actual end before the start',
    inserted(activity, date('4', '2025-01-31')),
    'actual-dates-order /iati-activity/activity-date[4]/@iso-date',
  ],
  [
    'an actual end tomorrow',
    inserted(activity, date('4', tomorrow)),
    'actual-end-in-future /iati-activity/activity-date[4]/@iso-date',
  ],
  [
    'an actual start tomorrow',
    withChildren(activity, (children) =>
      children.map((child) =>
        child.attributes.type === '2' && child.name === 'activity-date' ? date('2', tomorrow) : child,
      ),
    ),
    'actual-start-in-future /iati-activity/activity-date[2]/@iso-date',
  ],
  [
    'a closed activity without its end',
    attribute('activity-status', { code: '4' }),
    'end-date-missing /iati-activity/activity-status',
  ],
  [
    'an update tomorrow',
    withAttributes(activity, { 'last-updated-datetime': '2026-03-15T23:00:00-02:00' }),
    'updated-in-future /iati-activity/@last-updated-datetime',
  ],
  [
    'a second transaction tomorrow',
    secondTransaction((one) =>
      replaced(one, 'transaction-date', (day) => withAttributes(day, { 'iso-date': tomorrow })),
    ),
    'transaction-date-in-future /iati-activity/transaction[2]/transaction-date/@iso-date',
  ],
  [
    'a second value date tomorrow',
    secondTransaction((one) => replaced(one, 'value', (amount) => withAttributes(amount, { 'value-date': tomorrow }))),
    'value-date-in-future /iati-activity/transaction[2]/value/@value-date',
  ],
  [
    'a budget that ends before it starts',
    inserted(activity, budget('2028-02-01', '2028-01-31')),
    'period-order /iati-activity/budget[3]',
  ],
  [
    'a budget of a year and a day',
    inserted(activity, budget('2028-01-01', '2029-01-01')),
    'budget-too-long /iati-activity/budget[3]',
  ],
  [
    'overlapping budgets',
    inserted(activity, budget('2026-12-30', '2027-06-30')),
    'budget-overlap /iati-activity/budget[3]',
  ],
  [
    'budgets that share a day',
    inserted(activity, budget('2026-12-31', '2027-06-30')),
    'budget-touch /iati-activity/budget[3]',
  ],
  [
    'a negative budget',
    inserted(activity, budget('2027-01-01', '2027-06-30', '-0.01')),
    'budget-negative /iati-activity/budget[3]/value',
  ],
  [
    'a reason for no budget beside one',
    withAttributes(activity, { 'budget-not-provided': '1' }),
    'budget-not-provided-contradicted /iati-activity/@budget-not-provided',
  ],
  [
    'no currency anywhere',
    withAttributes(attribute('transaction/value', { currency: undefined }), { 'default-currency': undefined }),
    'currency-missing /iati-activity/transaction[1]/value/@currency',
  ],
  [
    'a reference of two transactions',
    inserted(activity, aTransaction('in-1', { type: '1', day: '2026-01-01' })),
    'transaction-repeated /iati-activity/transaction[3]/@ref',
  ],
  [
    'a disbursement to nobody',
    secondTransaction((one) => without(one, 'receiver-org')),
    'receiver-missing /iati-activity/transaction[2]',
  ],
  [
    'capital spend above 100',
    attribute('capital-spend', { percentage: '100.1' }),
    'capital-spend-range /iati-activity/capital-spend/@percentage',
  ],
  [
    'budget items that make 90',
    inserted(activity, budgetItems('40', '50'), 'sector'),
    'budget-item-percentage /iati-activity/country-budget-items',
  ],
  [
    'only an earmarking code',
    attribute('default-aid-type', { code: '3', vocabulary: '2' }),
    'aid-type-dac-missing /iati-activity/default-aid-type',
  ],
  [
    'two aid types',
    inserted(activity, element('default-aid-type', { code: 'B01' })),
    'aid-type-repeated /iati-activity/default-aid-type[2]',
  ],
  ['no sector', without(activity, 'sector'), 'sector-missing /iati-activity'],
  [
    'sectors on one of two transactions',
    replaced(without(activity, 'sector'), 'transaction', (one) =>
      inserted(one, element('sector', { code: '14031' }), 'receiver-org'),
    ),
    'sector-on-some-transactions /iati-activity/transaction[2]',
  ],
  [
    'sectors at both levels',
    replaced(activity, 'transaction', (one) => inserted(one, element('sector', { code: '14031' }), 'receiver-org')),
    'sector-at-both-levels /iati-activity/transaction[1]/sector',
  ],
  [
    'a second sector without a share',
    inserted(activity, element('sector', { code: '11220' })),
    'sector-percentage-missing /iati-activity/sector[3]/@percentage',
  ],
  [
    'three thirds that make 99.99',
    thirds('33.33', '33.33', '33.33'),
    'sector-percentage-sum /iati-activity/sector[1]/@percentage',
  ],
  [
    'a single sector of half',
    attribute('sector', { percentage: '50' }),
    'sector-percentage-sum /iati-activity/sector[1]/@percentage',
  ],
  [
    'shares of -1 and 101',
    thirds('-1', '101', '0'),
    'sector-percentage-range /iati-activity/sector[1]/@percentage',
    'sector-percentage-range /iati-activity/sector[2]/@percentage',
  ],
  [
    'an own sector without words',
    withChildren(activity, (children) =>
      children.map((child) => (child.attributes.vocabulary === '99' ? { ...child, children: [] } : child)),
    ),
    'sector-narrative-missing /iati-activity/sector[2]',
  ],
  [
    'an own sector of an unnamed list',
    withChildren(activity, (children) =>
      children.map((child) =>
        child.attributes.vocabulary === '99' ? withAttributes(child, { 'vocabulary-uri': undefined }) : child,
      ),
    ),
    'sector-vocabulary-uri-missing /iati-activity/sector[2]/@vocabulary-uri',
  ],
  [
    'only own sectors',
    withChildren(activity, (children) =>
      children.filter(({ name, attributes }) => name !== 'sector' || attributes.vocabulary === '99'),
    ),
    'sector-dac-missing /iati-activity/sector',
  ],
  ['no recipient, with transactions', without(activity, 'recipient-country'), 'recipient-missing /iati-activity'],
  [
    'no recipient, without transactions',
    without(without(activity, 'recipient-country'), 'transaction'),
    'recipient-missing /iati-activity',
  ],
  [
    'recipients at both levels',
    replaced(activity, 'transaction', (one) =>
      inserted(one, element('recipient-country', { code: 'KE' }), 'receiver-org'),
    ),
    'recipient-at-both-levels /iati-activity/transaction[1]',
  ],
  [
    'a recipient without a share',
    attribute('recipient-country', { percentage: undefined }),
    'recipient-percentage-missing /iati-activity/recipient-country[1]/@percentage',
  ],
  [
    'recipients that make 100.0001',
    attribute('recipient-country', { percentage: '60.0001' }),
    'recipient-percentage-sum /iati-activity/recipient-country[2]/@percentage',
  ],
  [
    'two regions without vocabulary that make 130',
    regions('60', '70'),
    'recipient-percentage-sum /iati-activity/recipient-region[2]/@percentage',
  ],
  [
    'a share above 100',
    regions('-1', '101'),
    'recipient-percentage-range /iati-activity/recipient-region[1]/@percentage',
    'recipient-percentage-range /iati-activity/recipient-region[2]/@percentage',
  ],
  [
    'a position with a comma',
    text('location/point/pos', '-0.1, 34.7'),
    'position-unreadable /iati-activity/location/point/pos',
  ],
  [
    'a latitude beyond the pole',
    text('location/point/pos', '134.7 -0.1'),
    'position-unreadable /iati-activity/location/point/pos',
  ],
  [
    'latitude and longitude exchanged',
    text('location/point/pos', '34.7 -0.1'),
    'position-swapped /iati-activity/location/point/pos',
  ],
  [
    'a day with a time zone',
    replaced(activity, 'activity-date', (start) => withAttributes(start, { 'iso-date': '2025-01-01-12:00' })),
    'date-with-zone /iati-activity/activity-date[1]/@iso-date',
  ],
  [
    'a revised budget in another currency',
    inserted(
      activity,
      withAttributes(
        replaced(budget('2026-01-01', '2026-12-31'), 'value', (amount) => withAttributes(amount, { currency: 'KES' })),
        { type: '2' },
      ),
    ),
    'budget-currency-mixed /iati-activity/budget[3]/value/@currency',
  ],
  [
    'a figure without value',
    attribute('result/indicator/period/actual', { value: undefined }),
    'result-value-missing /iati-activity/result/indicator/period/actual/@value',
  ],
  [
    'a figure that is no number',
    attribute('result/indicator/period/actual', { value: 'three' }),
    'result-value-not-number /iati-activity/result/indicator/period/actual/@value',
  ],
  [
    'a qualitative figure with a value',
    attribute('result/indicator', { measure: '5' }),
    'result-value-unwanted /iati-activity/result/indicator/period/actual/@value',
  ],
  [
    'references at both levels of a result',
    referenced(),
    'result-reference-at-both-levels /iati-activity/result/indicator/reference',
  ],
  [
    'an indicator period that ends before it starts',
    replaced(activity, 'result/indicator/period/period-end', (end) =>
      withAttributes(end, { 'iso-date': '2024-12-31' }),
    ),
    'period-order /iati-activity/result/indicator/period',
  ],
  [
    'a language that does not exist',
    withAttributes(activity, { 'xml:lang': 'zz' }),
    'code-unknown /iati-activity/@xml:lang',
  ],
  ['a withdrawn sector', attribute('sector', { code: '74010' }), 'code-withdrawn /iati-activity/sector[1]/@code'],
  [
    'a format that is not listed',
    attribute('document-link', { format: 'image/webp' }),
    'code-unknown /iati-activity/document-link/@format',
  ],
  [
    'an unknown country',
    attribute('recipient-country', { code: 'XX' }),
    'code-unknown /iati-activity/recipient-country[1]/@code',
  ],
  [
    'a budget line outside its period',
    replaced(organisation, 'recipient-country-budget/budget-line/value', () => value('1.00', '2027-01-01')),
    'budget-line-date /iati-organisation/recipient-country-budget/budget-line/value/@value-date',
  ],
  [
    'overlapping total budgets',
    inserted(
      organisation,
      element('total-budget', { status: '1' }, [...period('2026-06-01', '2027-01-01'), value('1.00', '2026-06-01')]),
    ),
    'budget-overlap /iati-organisation/total-budget[2]',
  ],
  [
    'an organisation without identifier',
    text('organisation-identifier', '', organisation),
    'identifier-empty /iati-organisation/organisation-identifier',
  ],
]

function budgetItems(...shares: string[]): Element {
  return element(
    'country-budget-items',
    { vocabulary: '2' },
    shares.map((percentage) => element('budget-item', { code: '1.1.1', percentage })),
  )
}

function thirds(...shares: string[]): Element {
  const codes = ['14031', '11220', '12220']
  const sectors = shares.map((percentage, index) =>
    element('sector', { vocabulary: '1', code: codes[index] ?? '', percentage }),
  )
  return withChildren(activity, (children) => {
    const at = children.findIndex(({ name }) => name === 'sector')
    return [...children.slice(0, at), ...sectors, ...children.slice(at + 2)]
  })
}

function regions(...shares: string[]): Element {
  const found = shares.map((percentage, index) =>
    element('recipient-region', { code: index === 0 ? '298' : '798', percentage }),
  )
  return withChildren(activity, (children) =>
    children.flatMap((child) =>
      child.name !== 'recipient-country' ? child : child.attributes.code === 'KE' ? found : [],
    ),
  )
}

function referenced(): Element {
  const reference = () => element('reference', { vocabulary: '99', code: 'R1' })
  return replaced(activity, 'result', (result) =>
    inserted(
      replaced(result, 'indicator', (indicator) => inserted(indicator, reference(), 'title')),
      reference(),
      'title',
    ),
  )
}

describe('valid records', () => {
  it('give no notice', () => {
    expect(codesOf(activity)).toEqual([])
    expect(codesOf(organisation)).toEqual([])
  })

  it.each<[string, Element]>([
    [
      'regions of two vocabularies, each complete with the countries',
      withChildren(activity, (children) =>
        children.flatMap((child) =>
          child.name === 'recipient-country'
            ? child.attributes.code === 'KE'
              ? [withAttributes(child, { percentage: '60' })]
              : [
                  element('recipient-region', { code: '298', vocabulary: '1', percentage: '40' }),
                  element('recipient-region', { code: 'R', vocabulary: '99', percentage: '40' }),
                ]
            : child,
        ),
      ),
    ],
    ['thirds that make 100 after rounding to four decimals', thirds('33.33333', '33.33333', '33.33334')],
    [
      'sectors and recipients on every transaction',
      withChildren(without(without(activity, 'sector'), 'recipient-country'), (children) =>
        children.map((child) =>
          child.name === 'transaction'
            ? inserted(
                inserted(child, element('sector', { code: '14031' }), 'receiver-org'),
                element('recipient-country', { code: 'KE' }),
                'sector',
              )
            : child,
        ),
      ),
    ],
    ['each narrative with its own language', withAttributes(languages(activity), { 'xml:lang': undefined })],
    [
      'an original and a revised budget for one period',
      inserted(activity, withAttributes(budget('2026-01-01', '2026-12-31'), { type: '2' })),
    ],
    [
      'an earlier prefix that other-identifier names',
      inserted(text('iati-identifier', 'XM-DAC-1-7'), element('other-identifier', { ref: 'XM-DAC-1', type: 'B1' })),
    ],
    [
      'elements and attributes of a foreign namespace at the end',
      withChildren(withAttributes(activity, { 'own:id': '7' }), (children) => [
        ...children,
        element('own:extra', { any: 'thing' }, [textElement('sector', 'not ours')]),
      ]),
    ],
  ])('also with %s', (_what, record) => {
    expect(codesOf(record)).toEqual([])
  })
})

function languages(of: Element): Element {
  const children = of.children.map(languages)
  return of.name === 'narrative' ? withAttributes(of, { 'xml:lang': 'en' }) : { ...of, children }
}

describe('a record with one thing wrong', () => {
  it.each(cases.map(([what, record, ...expected]) => ({ what, record, expected })))('$what', ({ record, expected }) => {
    expect(codesOf(record).sort()).toEqual([...expected].sort())
  })

  it('is tried for every rule', () => {
    const tried = new Set(cases.flatMap(([, , ...expected]) => expected.map((found) => found.split(' ')[0])))
    expect(rules.map(({ code }) => code).filter((code) => !tried.has(code))).toEqual([])
  })
})

describe('a notice', () => {
  it('says whom, where, what was expected and what came', () => {
    const record = { ...attribute('recipient-country', { code: 'XX' }), line: 12 }
    expect(validateActivity(record, context)).toEqual([
      {
        code: 'code-unknown',
        severity: 'error',
        subject: 'XM-DAC-47045-7',
        path: '/iati-activity/recipient-country[1]/@code',
        detail: 'expected a code of Country, got "XX"',
        line: 12,
      },
    ])
  })
})

describe('the catalogue', () => {
  it('has each code once and one sentence for it', () => {
    const codes = rules.map(({ code }) => code)
    expect(new Set(codes).size).toBe(codes.length)
    for (const [code, { sentence }] of Object.entries(validationNotices)) {
      expect(sentence, code).toMatch(/^[A-Z][^\n|]*\.$/)
      expect(code).toMatch(/^[a-z]+(-[a-z]+)*$/)
    }
  })
})
