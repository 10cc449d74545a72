import { describe } from 'vitest'
import { testRule } from '../../../../support/iati/rule-findings.js'

const transaction = (inside = '') => `<transaction>${inside}</transaction>`
const sector = (attributes = '', inside = '') => `<sector ${attributes}>${inside}</sector>`
const shares = (...percentages: string[]) => percentages.map((one) => sector(`percentage="${one}"`)).join('')
const words = '<narrative>Water</narrative>'

describe('the sectors', () => {
  testRule('sector-missing', [
    ['<iati-organisation/>'],
    [sector()],
    [transaction() + transaction(sector())],
    [transaction(), ': expected a sector on the activity or on all transactions, got none'],
  ])
  testRule('sector-on-some-transactions', [
    [transaction()],
    [transaction(sector())],
    [sector() + transaction(sector()) + transaction()],
    [
      transaction(sector()) + transaction(),
      '/transaction[2]: expected a sector as on the other transactions, got none',
    ],
  ])
  testRule('sector-at-both-levels', [
    [sector() + transaction()],
    [transaction(sector())],
    [
      sector() + transaction() + transaction(sector()),
      '/transaction[2]/sector: expected sectors on the activity or on its transactions, got both',
    ],
  ])
  testRule('sector-dac-missing', [
    [''],
    [sector('vocabulary="99"') + sector()],
    [sector('vocabulary="1"') + sector('vocabulary="99"')],
    [sector('vocabulary=""')],
    [
      sector('vocabulary="99"') + sector('vocabulary="2"'),
      '/sector[1]: expected at least one sector of vocabulary 1, got none',
    ],
  ])
})

describe('the shares of sectors', () => {
  testRule('sector-percentage-missing', [
    [sector() + sector('vocabulary="99"')],
    [
      sector('vocabulary="2" percentage="50"') + sector('vocabulary="2"') + sector(),
      '/sector[2]/@percentage: expected a percentage on each of the 2 sectors of vocabulary 2, got none',
    ],
  ])
  const sum = (got: string) => `/sector[1]/@percentage: expected 100 for the sectors of vocabulary 1, got ${got}`
  testRule('sector-percentage-sum', [
    [''],
    [sector()],
    [sector() + sector()],
    [shares('33.33335', '33.33335', '33.33334') + sector('vocabulary="2" percentage="100"')],
    [shares(' +50. ', '50.00004')],
    [shares('99.5', '.5')],
    [shares('-1', '101')],
    // Digits beyond the twelfth are dropped, and a text that is no decimal counts nothing.
    [shares('99.9999', '0.0000999999999999')],
    [shares('100', 'half', '.', '')],
    [shares('50', '50.00005'), sum('100.0001')],
    [shares('50', '49.9999'), sum('99.9999')],
    [shares('50', '60.5'), sum('110.5')],
    [shares('0', '0'), sum('0')],
    [shares('0', '0.05'), sum('0.05')],
    [shares('0', '10'), sum('10')],
    [shares('100', '1000'), sum('1100')],
    [shares('1', '-1.5'), sum('-0.4999')],
    [shares('1', '-3'), sum('-1.9999')],
  ])
  testRule('sector-percentage-range', [
    [shares('0', '100', '100.0000000000001', 'half') + sector()],
    [
      shares('-0.000001', '100.000001'),
      '/sector[1]/@percentage: expected 0 to 100, got -0.000001',
      '/sector[2]/@percentage: expected 0 to 100, got 100.000001',
    ],
  ])
})

describe("a sector of the publisher's own vocabulary", () => {
  testRule('sector-narrative-missing', [
    [sector() + sector('vocabulary="2"') + sector('vocabulary="98"', words) + transaction(sector())],
    [
      sector('vocabulary="98"') + transaction(sector('vocabulary="99"', '<narrative> </narrative>')),
      '/sector: expected a narrative in a sector of vocabulary 98, got none',
      '/transaction/sector: expected a narrative in a sector of vocabulary 99, got none',
    ],
  ])
  testRule('sector-vocabulary-uri-missing', [
    [sector() + sector('vocabulary="2"') + sector('vocabulary="98" vocabulary-uri="https://a.example"')],
    [
      sector('vocabulary="98"') + transaction(sector('vocabulary="99" vocabulary-uri=""')),
      '/sector/@vocabulary-uri: expected vocabulary-uri on a sector of vocabulary 98, got none',
      '/transaction/sector/@vocabulary-uri: expected vocabulary-uri on a sector of vocabulary 99, got none',
    ],
  ])
})
