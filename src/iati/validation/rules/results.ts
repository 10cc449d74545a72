import type { Element } from '../../../kernel/xml/element.js'
import { quoted } from '../findings.js'
import { childrenOf, type RecordView } from '../view.js'
import type { Rule } from './rule.js'

const quantitative = new Set(['1', '2', '3', '4'])
const qualitative = new Set(['5'])
// What XPath's number() reads (the official rules are XPath): no plus sign, no exponent.
const numberPattern = /^[ \t\r\n]*-?(?:\d+(?:\.\d*)?|\.\d+)[ \t\r\n]*$/

/** Every baseline, target and actual of the indicators of these measures. */
function* figuresOf(record: RecordView, measures: ReadonlySet<string>): Generator<Element> {
  for (const indicator of record.all('indicator')) {
    if (!measures.has(indicator.attributes.measure ?? '')) continue
    for (const child of indicator.children) {
      if (child.name === 'baseline') yield child
      if (child.name !== 'period') continue
      for (const figure of child.children) if (figure.name === 'target' || figure.name === 'actual') yield figure
    }
  }
}

export const resultRules: readonly Rule[] = [
  {
    code: 'result-value-missing',
    severity: 'error',
    official: ['8.8.1', '8.9.1', '8.10.1'],
    sentence: 'A baseline, target or actual of an indicator that is measured in numbers has no value.',
    check(record, report) {
      for (const figure of figuresOf(record, quantitative)) {
        if (figure.attributes.value === undefined)
          report(figure, `expected a value on ${figure.name}, got none`, 'value')
      }
    },
  },
  {
    code: 'result-value-not-number',
    severity: 'warning',
    official: ['8.8.2', '8.9.2', '8.10.2'],
    sentence: 'A baseline, target or actual of an indicator that is measured in numbers is not a number.',
    check(record, report) {
      for (const figure of figuresOf(record, quantitative)) {
        const { value } = figure.attributes
        if (value !== undefined && !numberPattern.test(value))
          report(figure, `expected a number, got ${quoted(value)}`, 'value')
      }
    },
  },
  {
    code: 'result-value-unwanted',
    severity: 'warning',
    official: ['8.8.3', '8.9.3', '8.10.3'],
    sentence: 'A baseline, target or actual of a qualitative indicator has a value.',
    check(record, report) {
      for (const figure of figuresOf(record, qualitative)) {
        if (figure.attributes.value !== undefined)
          report(figure, `expected no value on a qualitative ${figure.name}, got one`, 'value')
      }
    },
  },
  {
    code: 'result-reference-at-both-levels',
    severity: 'error',
    official: ['8.11.1'],
    sentence: 'A result and one of its indicators both have a reference.',
    check(record, report) {
      for (const result of record.children('result')) {
        if (childrenOf(result, 'reference').length === 0) continue
        for (const indicator of childrenOf(result, 'indicator')) {
          const [first] = childrenOf(indicator, 'reference')
          if (first) report(first, 'expected a reference on the result or on its indicators, got both')
        }
      }
    },
  },
]
