import { describe } from 'vitest'
import { testRule } from '../../../../support/iati/rule-findings.js'

const period = (from: string, to: string) => `<period-start iso-date="${from}"/><period-end iso-date="${to}"/>`
const budget = (from: string, to: string, attributes = '') => `<budget${attributes}>${period(from, to)}</budget>`
const activity = (attributes: string, inside: string) => `<iati-activity ${attributes}>${inside}</iati-activity>`
const transaction = (inside: string, attributes = '') => `<transaction${attributes}>${inside}</transaction>`

describe('a currency', () => {
  testRule('currency-missing', [
    [activity('default-currency="EUR"', '<value/>')],
    ['<value currency="EUR"/>'],
    ...['value', 'forecast', 'loan-status'].map(
      (name) =>
        [
          activity('default-currency=""', `<${name} currency=""/>`),
          `/${name}/@currency: expected a currency on the value or a default-currency, got neither`,
        ] as const,
    ),
  ])
  const valued = (year: number, currency: string) =>
    `<budget>${period(`${year}-01-01`, `${year}-12-31`)}<value${currency && ` currency="${currency}"`}/></budget>`
  const mixed = (nth: number, first: string, got: string) =>
    `/budget[${nth}]/value/@currency: expected ${first} as in the other budget of this period, got "${got}"`
  testRule('budget-currency-mixed', [
    [valued(2025, 'EUR')],
    [valued(2025, 'EUR') + valued(2025, 'EUR') + valued(2026, 'USD') + valued(2025, '')],
    [`${valued(2025, 'EUR')}<budget><value currency="USD"/></budget><budget><value currency="KES"/></budget>`],
    [valued(2025, 'EUR') + budget('2025-01-01', '2025-12-31')],
    [`${valued(2025, 'EUR')}<budget>${period('2025-01-01', '2025-06-30')}<value currency="USD"/></budget>`],
    [activity('default-currency="EUR"', valued(2025, 'EUR') + valued(2025, ''))],
    [activity('default-currency="USD"', valued(2025, 'EUR') + budget('2025-01-01', '2025-12-31'))],
    [valued(2025, 'EUR') + valued(2025, 'USD') + valued(2025, 'KES'), mixed(2, 'EUR', 'USD'), mixed(3, 'EUR', 'KES')],
    [activity('default-currency="EUR"', valued(2025, '') + valued(2025, 'USD')), mixed(2, 'EUR', 'USD')],
  ])
})

describe('a budget', () => {
  const starts = (path: string, end: string, got: string) =>
    `${path}: expected a period that starts after ${end}, got ${got}`
  testRule('budget-touch', [
    [budget('2025-01-01', '2025-12-31') + budget('2026-01-01', '2026-12-31')],
    [budget('2025-01-01', '2025-12-31') + budget('2025-12-30', '2026-12-31')],
    [budget('2025-01-01', '2025-01-01') + budget('2025-01-01', '2025-01-01')],
    [
      budget('2025-12-31', '2026-12-31') + budget('2025-01-01', '2025-12-31', ' type="1"'),
      starts('/budget[1]', '2025-12-31', '2025-12-31'),
    ],
  ])
  testRule('budget-overlap', [
    [budget('2025-01-01', '2025-12-31') + budget('2025-12-31', '2026-12-31')],
    [
      budget('2025-01-01', '2025-12-31') + budget('2025-12-30', '2026-12-31'),
      starts('/budget[2]', '2025-12-31', '2025-12-30'),
    ],
    [
      budget('2025-01-01', '2025-01-01') + budget('2025-01-01', '2025-01-01'),
      starts('/budget[2]', '2025-01-01', '2025-01-01'),
    ],
    [budget('2025-01-01', '2025-12-31', ' type="1"') + budget('2025-01-01', '2025-12-31', ' type="2"')],
    [`${budget('2025-01-01', '2025-12-31')}<budget/>`],
    // The latest end is compared, not that of the budget before; the first of two equal ends is named.
    [
      budget('2025-01-01', '2025-12-31') + budget('2025-02-01', '2025-03-31') + budget('2025-06-01', '2025-12-31Z'),
      starts('/budget[2]', '2025-12-31', '2025-02-01'),
      starts('/budget[3]', '2025-12-31', '2025-06-01'),
    ],
    [
      budget('2025-01-01', '2025-12-31') + budget('2025-02-01', '2025-12-31Z') + budget('2025-06-01', '2025-07-31'),
      starts('/budget[2]', '2025-12-31', '2025-02-01'),
      starts('/budget[3]', '2025-12-31', '2025-06-01'),
    ],
    [
      budget('2025-01-01', '2025-06-30') + budget('2025-02-01', '2025-12-31') + budget('2025-11-01', '2026-01-31'),
      starts('/budget[2]', '2025-06-30', '2025-02-01'),
      starts('/budget[3]', '2025-12-31', '2025-11-01'),
    ],
    [
      ['1', '2', '']
        .map((status) => `<total-budget status="${status}">${period('2025-01-01', '2025-12-31')}</total-budget>`)
        .join(''),
      starts('/total-budget[3]', '2025-12-31', '2025-01-01'),
    ],
  ])
  testRule('budget-negative', [
    [
      '<budget/><budget><value>0</value></budget><budget><value>-0</value></budget><budget><value>-1,5</value></budget>',
    ],
    ['<planned-disbursement><value>-1</value></planned-disbursement>'],
    ...['budget', 'total-budget', 'recipient-org-budget', 'recipient-region-budget', 'recipient-country-budget'].map(
      (name) => [`<${name}><value>-0.01</value></${name}>`, `/${name}/value: expected 0 or more, got "-0.01"`] as const,
    ),
  ])
  testRule('budget-not-provided-contradicted', [
    ['<budget/>'],
    [activity('budget-not-provided="1"', '')],
    [
      activity('budget-not-provided="1"', '<budget/>'),
      '/@budget-not-provided: expected budget-not-provided or a budget, got both',
    ],
  ])
  testRule('budget-item-percentage', [
    [''],
    ['<country-budget-items><budget-item/></country-budget-items>'],
    [
      '<country-budget-items><budget-item percentage="40"/><budget-item percentage="60"/><description/></country-budget-items>',
    ],
    [
      '<country-budget-items><budget-item percentage="40"/><budget-item/></country-budget-items>',
      '/country-budget-items/budget-item[2]/@percentage: expected a percentage on each of several budget items, got none',
    ],
    [
      '<country-budget-items><budget-item percentage="40"/></country-budget-items>',
      '/country-budget-items: expected 100 for all budget items together, got 40',
    ],
  ])
  testRule('capital-spend-range', [
    ['<capital-spend/><capital-spend percentage="0"/><capital-spend percentage="100"/>'],
    ['<capital-spend percentage="100.01"/>', '/capital-spend/@percentage: expected 0 to 100, got 100.01'],
    [
      '<country-budget-items><budget-item percentage="-1"/></country-budget-items>',
      '/country-budget-items/budget-item/@percentage: expected 0 to 100, got -1',
    ],
  ])
})

describe('a transaction', () => {
  testRule('transaction-repeated', [
    [transaction('') + transaction('') + transaction('', ' ref=""') + transaction('', ' ref=""')],
    [transaction('', ' ref="1"') + transaction('', ' ref="2"')],
    [
      transaction('', ' ref="1"') + transaction('', ' ref="2"') + transaction('', ' ref="1"'),
      '/transaction[3]/@ref: expected another reference than "1", which a transaction already has',
    ],
  ])
  testRule('receiver-missing', [
    [''],
    [transaction('')],
    [transaction('<transaction-type code="2"/>')],
    [transaction('<transaction-type code="3"/><receiver-org/>')],
    [
      transaction('<transaction-type code="3"/>'),
      '/transaction: expected a receiver-org in a transaction of type 3, got none',
    ],
  ])
})

describe('an aid type', () => {
  const byDefault = (vocabulary: string) => `<default-aid-type vocabulary="${vocabulary}"/>`
  const own = (...vocabularies: string[]) =>
    transaction(vocabularies.map((vocabulary) => `<aid-type vocabulary="${vocabulary}"/>`).join(''))
  testRule('aid-type-dac-missing', [
    [''],
    [`${byDefault('2')}<default-aid-type/>${own('2', '')}${own()}`],
    [byDefault('2') + byDefault('1') + own('2', '1')],
    [
      byDefault('2') + byDefault('3') + own('1') + own('2'),
      '/default-aid-type[1]: expected a default-aid-type of vocabulary 1, got none',
      '/transaction[2]: expected an aid-type of vocabulary 1, got none',
    ],
  ])
  testRule('aid-type-repeated', [
    [''],
    [byDefault('1') + byDefault('2') + own('1', '2') + own('1')],
    [
      byDefault('') + byDefault('1') + own('1') + own('2', '2', '2'),
      '/default-aid-type[2]: expected one code of vocabulary 1, got another',
      '/transaction[2]/aid-type[2]: expected one code of vocabulary 2, got another',
      '/transaction[2]/aid-type[3]: expected one code of vocabulary 2, got another',
    ],
  ])
})
