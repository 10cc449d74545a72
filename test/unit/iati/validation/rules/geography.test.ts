import { describe } from 'vitest'
import { testRule } from '../../../../support/iati/rule-findings.js'

const country = (code: string, percentage?: string) =>
  `<recipient-country code="${code}"${percentage === undefined ? '' : ` percentage="${percentage}"`}/>`
const region = (code: string, vocabulary: string, percentage: string) =>
  `<recipient-region code="${code}"${vocabulary && ` vocabulary="${vocabulary}"`} percentage="${percentage}"/>`
const transaction = (inside = '') => `<transaction>${inside}</transaction>`
const position = (text: string) => `<location><point><pos>${text}</pos></point></location>`

describe('the recipients', () => {
  const nowhere = ': expected a recipient-country or recipient-region on the activity or on all transactions, got none'
  const elsewhere = 'expected a recipient-country or recipient-region as on the other transactions, got none'
  testRule('recipient-missing', [
    ['<iati-organisation/>'],
    [country('KE') + transaction()],
    [region('298', '1', '100') + transaction()],
    [transaction(country('KE')) + transaction(region('298', '1', '100'))],
    ['', nowhere],
    [transaction() + transaction(), nowhere],
    [
      transaction() + transaction(country('KE')) + transaction(),
      `/transaction[1]: ${elsewhere}`,
      `/transaction[3]: ${elsewhere}`,
    ],
  ])
  testRule('recipient-at-both-levels', [
    [transaction(country('KE'))],
    [country('KE') + transaction()],
    [
      region('298', '1', '100') + transaction() + transaction(country('KE')),
      '/transaction[2]: expected recipients on the activity or on its transactions, got both',
    ],
    [
      country('KE') + transaction(region('298', '1', '100')),
      '/transaction: expected recipients on the activity or on its transactions, got both',
    ],
  ])
})

describe('the shares of recipients', () => {
  const missing = 'expected a percentage on each of several recipients, got none'
  testRule('recipient-percentage-missing', [
    [''],
    [country('KE')],
    [country('KE', '40') + region('298', '1', '60')],
    [country('KE') + country('UG', '50'), `/recipient-country[1]/@percentage: ${missing}`],
    // A country that stands beside the regions of two vocabularies is reported once.
    [country('KE') + region('298', '1', '60') + region('R', '99', '60'), `/recipient-country/@percentage: ${missing}`],
  ])
  testRule('recipient-percentage-sum', [
    [''],
    [country('KE')],
    [country('KE', '40') + region('298', '', '30') + region('289', '1', '30') + region('R', '99', '60')],
    [
      country('KE', '60') + country('UG', '39'),
      '/recipient-country[2]/@percentage: expected 100 for all recipients together, got 99',
    ],
    [
      country('KE', '60') + country('UG', '30') + country('TZ', '9'),
      '/recipient-country[3]/@percentage: expected 100 for all recipients together, got 99',
    ],
    [
      country('KE', '40') + region('298', '1', '60') + region('R', '99', '61'),
      '/recipient-region[2]/@percentage: expected 100 for all recipients together, got 101',
    ],
  ])
  testRule('recipient-percentage-range', [
    [country('KE', '0') + country('UG', '100') + region('298', '1', 'half') + country('TZ')],
    [
      country('KE', '-0.1') + region('298', '1', '100.1'),
      '/recipient-country/@percentage: expected 0 to 100, got -0.1',
      '/recipient-region/@percentage: expected 0 to 100, got 100.1',
    ],
  ])
})

describe('a position', () => {
  const expected = 'expected a latitude (-90 to 90) and a longitude (-180 to 180)'
  testRule('position-unreadable', [
    [''],
    [position(' -90 180 ') + position('90.0\n-180.0')],
    ...['', '1', '1,2', '90.1 0', '-91 0', '0 180.1', '0 -181', '1 2 3', '+1 2', '1. 2', '1e1 2'].map(
      (text) => [position(text), `/location/point/pos: ${expected}, got "${text}"`] as const,
    ),
  ])
  const exchanged = (of: string, text: string) =>
    `/location/point/pos: expected latitude, then longitude, in ${of}, got "${text}"`
  testRule('position-swapped', [
    [country('KE')],
    [country('KE') + position('-0.1 34.7')],
    [country('KE') + position('60 60')],
    [country('KE') + position('no place')],
    [country('KE') + region('298', '1', '50') + position('34.7 -0.1')],
    [country('KE') + country('QQ') + position('34.7 -0.1')],
    [position('34.7 -0.1')],
    // In the one country as written, in the other when exchanged.
    [country('KE') + country('DZ') + position('34.7 -0.1')],
    [country('KE') + position('34.7 -0.1'), exchanged('KE', '34.7 -0.1')],
    [country('DK') + country('KE') + position('34.7 -0.1'), exchanged('DK or KE', '34.7 -0.1')],
    [transaction(country('KE')) + position('34.7 -0.1'), exchanged('KE', '34.7 -0.1')],
  ])
})
