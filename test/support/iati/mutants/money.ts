import { type Element, element } from '../../../../src/kernel/xml/element.js'
import { found, placed, withOnly } from '../iati-editing.js'
import { replaced, withAttributes, withChildren } from '../iati-records.js'
import { activity, child, isActivity, type Mutant } from './mutant.js'
import { aid, placedIn, second, withTwoTransactions } from './parts.js'
import { figure } from './results.js'
export const items = (...percentages: (string | undefined)[]) =>
  element(
    'country-budget-items',
    { vocabulary: '2' },
    percentages.map((percentage) =>
      element('budget-item', { code: '1.1.1', ...(percentage !== undefined && { percentage }) }),
    ),
  )
const itemised = (good: Element, bad: Element) => (breaks: string, code: string, what: string) =>
  activity(
    breaks,
    code,
    what,
    (record) => withOnly(record, ['country-budget-items'], [bad]),
    (record) => withOnly(record, ['country-budget-items'], [good]),
  )

const withCurrencies = (record: Element): Element => ({
  ...record,
  attributes: record.name === 'value' ? { currency: 'EUR', ...record.attributes } : record.attributes,
  children: record.children.map(withCurrencies),
})
const withoutDefault = (record: Element) => withAttributes(withCurrencies(record), { 'default-currency': undefined })

/** Rules about amounts, currencies and aid types. */
export const moneyMutants: readonly Mutant[] = [
  activity(
    '7.8.1',
    'currency-missing',
    'an amount without any currency',
    (record) => replaced(record, 'transaction/value', (own) => withAttributes(own, { currency: undefined })),
    (record) => withoutDefault(withTwoTransactions(record)),
  ),
  {
    breaks: '7.8.2',
    code: 'currency-missing',
    what: 'an amount without any currency',
    make(record) {
      if (isActivity(record) || !found(record, 'total-budget')) return undefined
      const sound = withoutDefault(record)
      return {
        sound,
        broken: replaced(sound, 'total-budget/value', (own) => withAttributes(own, { currency: undefined })),
      }
    },
  },
  itemised(items('60', '40'), items(undefined, undefined))(
    '7.9.1',
    'budget-item-percentage',
    'budget items without shares',
  ),
  itemised(items('60', '40'), items('60', '30'))('7.9.2', 'budget-item-percentage', 'budget items that make 90'),
  itemised(items('100'), items('50'))('7.9.4', 'budget-item-percentage', 'a single budget item of half'),
  itemised(items('0', '100'), items('-1', '101'))('12.2.1', 'capital-spend-range', 'budget items of -1 and 101'),
  activity(
    '12.2.1',
    'capital-spend-range',
    'capital spend above 100',
    (record) => withOnly(record, ['capital-spend'], [element('capital-spend', { percentage: '100.01' })]),
    (record) => withOnly(record, ['capital-spend'], [element('capital-spend', { percentage: '100' })]),
  ),
  activity(
    '107.1.1',
    'aid-type-dac-missing',
    'only an earmarking code',
    (record) => withOnly(record, ['default-aid-type'], [aid('default-aid-type', '3', '2')]),
    (record) =>
      withOnly(record, ['default-aid-type'], [aid('default-aid-type', 'C01', '1'), aid('default-aid-type', '3', '2')]),
  ),
  activity(
    '107.1.2',
    'aid-type-repeated',
    'two codes of one vocabulary',
    (record) =>
      withOnly(
        record,
        ['default-aid-type'],
        [aid('default-aid-type', 'C01', '1'), aid('default-aid-type', 'B01', '1')],
      ),
    (record) => withOnly(record, ['default-aid-type'], [aid('default-aid-type', 'C01', '1')]),
  ),
  activity(
    '107.1.2',
    'aid-type-repeated',
    'two earmarking codes',
    (record) => placed(record, '', aid('default-aid-type', '2', '2')),
    (record) =>
      withOnly(record, ['default-aid-type'], [aid('default-aid-type', 'C01', '1'), aid('default-aid-type', '3', '2')]),
  ),
  activity(
    '107.2.1',
    'aid-type-dac-missing',
    'only an earmarking code on a transaction',
    second((one) => withChildren(one, (parts) => parts.filter(({ attributes }) => attributes.code !== 'C01'))),
    (record) =>
      second((one) => placedIn(placedIn(one, aid('aid-type', 'C01', '1')), aid('aid-type', '3', '2')))(
        withTwoTransactions(record),
      ),
  ),
  activity(
    '107.2.2',
    'aid-type-repeated',
    'two codes of one vocabulary on a transaction',
    second((one) => placedIn(one, aid('aid-type', 'B01', '1'))),
    (record) => second((one) => placedIn(one, aid('aid-type', 'C01', '1')))(withTwoTransactions(record)),
  ),
  activity(
    '107.2.2',
    'aid-type-repeated',
    'two earmarking codes on a transaction',
    second((one) => placedIn(one, aid('aid-type', '2', '2'))),
    (record) =>
      second((one) => placedIn(placedIn(one, aid('aid-type', 'C01', '1')), aid('aid-type', '3', '2')))(
        withTwoTransactions(record),
      ),
  ),
  child('8.11.1', 'result-reference-at-both-levels', 'a reference on a result and on its indicator', (bad) => {
    const reference = () => element('reference', { vocabulary: '99', code: 'R1' })
    const [title, indicator] = figure('1', 'actual', { value: '1' }).children
    return element('result', { type: '1' }, [
      title,
      reference(),
      indicator &&
        (bad
          ? withChildren(indicator, ([name, ...rest]) => [...(name ? [name] : []), reference(), ...rest])
          : indicator),
    ])
  }),
]
