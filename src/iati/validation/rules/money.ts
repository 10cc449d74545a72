import type { Element } from '../../../kernel/xml/element.js'
import { quoted } from '../findings.js'
import { childOf, childrenOf, type RecordView } from '../view.js'
import { type Period, periodOf } from './periods.js'
import type { Report, Rule } from './rule.js'
import { allInRange, byAttribute, lacksDac, sharesOf, shareUnits } from './shares.js'

const monetary = ['value', 'forecast', 'loan-status'] as const

const budgets = [
  'budget',
  'total-budget',
  'recipient-org-budget',
  'recipient-region-budget',
  'recipient-country-budget',
] as const

/** Reports every second code of one vocabulary. */
function onePerVocabulary(aidTypes: readonly Element[], report: Report): void {
  for (const [vocabulary, same] of byAttribute(aidTypes, 'vocabulary', '1')) {
    for (const further of same.slice(1)) report(further, `expected one code of vocabulary ${vocabulary}, got another`)
  }
}

/** The budgets whose periods must not overlap: those of one type. */
function budgetGroups(record: RecordView): Element[][] {
  return [
    ...byAttribute(record.children('budget'), 'type', '1').values(),
    ...byAttribute(record.children('total-budget'), 'status', '1').values(),
  ]
}

/** Reports the periods of budgets that begin before the latest end of those before is over: on its last day, or earlier. */
function noneOverlaps(record: RecordView, report: Report, onLastDay: boolean): void {
  for (const group of budgetGroups(record)) {
    if (group.length < 2) continue
    const periods = group.flatMap((budget) => periodOf(budget) ?? []).sort((a, b) => a.from - b.from)
    let latest: Period | undefined
    for (const period of periods) {
      const isTouching = latest !== undefined && period.from === latest.to && period.from > latest.from
      if (latest && period.from <= latest.to && isTouching === onLastDay)
        report(period.element, `expected a period that starts after ${latest.end}, got ${period.start}`)
      if (!latest || period.to > latest.to) latest = period
    }
  }
}

export const moneyRules: readonly Rule[] = [
  {
    code: 'currency-missing',
    severity: 'error',
    official: ['7.8.1', '7.8.2'],
    sentence: 'An amount has no currency and the record no default currency.',
    check(record, report) {
      if (record.root.attributes['default-currency']) return
      for (const name of monetary) {
        for (const value of record.all(name)) {
          const { currency } = value.attributes
          const detail = 'expected a currency on the value or a default-currency, got neither'
          if (!currency) report(value, detail, 'currency', currency === '')
        }
      }
    },
  },
  {
    code: 'budget-overlap',
    severity: 'error',
    severityElsewhere: 'warning',
    official: [],
    sentence: 'Two budgets of one type have periods that share more than a day.',
    check: (record, report) => noneOverlaps(record, report, false),
  },
  {
    code: 'budget-touch',
    severity: 'error',
    severityElsewhere: 'info',
    official: [],
    sentence: 'A budget begins on the day on which another of its type ends.',
    check: (record, report) => noneOverlaps(record, report, true),
  },
  {
    code: 'budget-negative',
    severity: 'error',
    severityElsewhere: 'info',
    official: [],
    sentence: 'A budget is negative.',
    check(record, report) {
      for (const name of budgets) {
        for (const budget of record.children(name)) {
          const value = childOf(budget, 'value')
          if (value && shareUnits(value.text) < 0n) report(value, `expected 0 or more, got ${quoted(value.text)}`)
        }
      }
    },
  },
  {
    code: 'budget-currency-mixed',
    severity: 'error',
    severityElsewhere: 'warning',
    official: [],
    sentence: 'The budgets of one period (original and revised) have different currencies.',
    check(record, report) {
      const found = record.children('budget')
      if (found.length < 2) return
      const currencies = new Map<string, string>()
      for (const budget of found) {
        const period = periodOf(budget)
        const value = childOf(budget, 'value')
        const currency = value?.attributes.currency || record.root.attributes['default-currency']
        if (!period || !value || !currency) continue
        const days = `${period.from} ${period.to}`
        const first = currencies.get(days)
        if (first === undefined) currencies.set(days, currency)
        else if (first !== currency)
          report(value, `expected ${first} as in the other budget of this period, got ${quoted(currency)}`, 'currency')
      }
    },
  },
  {
    code: 'budget-not-provided-contradicted',
    severity: 'warning',
    official: [],
    sentence: 'The activity says why it has no budget, and has one.',
    check(record, report) {
      const reason = record.root.attributes['budget-not-provided']
      if (reason === undefined || record.children('budget').length === 0) return
      report(record.root, `expected budget-not-provided or a budget, got both`, 'budget-not-provided')
    },
  },
  {
    code: 'transaction-repeated',
    severity: 'warning',
    official: [],
    sentence: 'Two transactions of the activity have the same reference.',
    check(record, report) {
      const seen = new Set<string>()
      for (const transaction of record.children('transaction')) {
        const { ref } = transaction.attributes
        if (!ref) continue
        if (seen.has(ref))
          report(transaction, `expected another reference than ${quoted(ref)}, which a transaction already has`, 'ref')
        seen.add(ref)
      }
    },
  },
  {
    code: 'receiver-missing',
    severity: 'warning',
    official: [],
    sentence: 'A disbursement (type 3) does not name its receiver.',
    check(record, report) {
      for (const transaction of record.children('transaction')) {
        if (childOf(transaction, 'transaction-type')?.attributes.code !== '3' || childOf(transaction, 'receiver-org'))
          continue
        report(transaction, 'expected a receiver-org in a transaction of type 3, got none')
      }
    },
  },
  {
    code: 'capital-spend-range',
    severity: 'error',
    official: ['12.2.1'],
    sentence: 'The percentage of capital spend or of a budget item lies outside 0 to 100.',
    check: (record, report) => allInRange([...record.all('capital-spend'), ...record.all('budget-item')], report),
  },
  {
    code: 'budget-item-percentage',
    severity: 'warning',
    official: ['7.9.1', '7.9.2', '7.9.4'],
    sentence: 'Percentages of the country budget items are missing, or do not add up to 100.',
    check(record, report) {
      for (const items of record.children('country-budget-items')) {
        const { missing, sum } = sharesOf(childrenOf(items, 'budget-item'))
        for (const item of missing)
          report(item, 'expected a percentage on each of several budget items, got none', 'percentage')
        if (sum !== undefined) report(items, `expected 100 for all budget items together, got ${sum}`)
      }
    },
  },
  {
    code: 'aid-type-dac-missing',
    severity: 'warning',
    official: ['107.1.1', '107.2.1'],
    sentence: 'Aid types are named, but none of the OECD DAC list (vocabulary 1).',
    check(record, report) {
      const defaults = record.children('default-aid-type')
      const [first] = defaults
      if (first && lacksDac(defaults)) report(first, 'expected a default-aid-type of vocabulary 1, got none')
      for (const transaction of record.children('transaction')) {
        const own = childrenOf(transaction, 'aid-type')
        if (lacksDac(own)) report(transaction, 'expected an aid-type of vocabulary 1, got none')
      }
    },
  },
  {
    code: 'aid-type-repeated',
    severity: 'warning',
    official: ['107.1.2', '107.2.2'],
    sentence: 'There is more than one aid type of a vocabulary.',
    check(record, report) {
      onePerVocabulary(record.children('default-aid-type'), report)
      if (record.all('aid-type').length === 0) return
      for (const transaction of record.children('transaction'))
        onePerVocabulary(childrenOf(transaction, 'aid-type'), report)
    },
  },
]
