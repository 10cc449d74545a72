import { describe, expect, it } from 'vitest'
import { methodCodes, rejectionCodes } from '../../../src/extensions/braintree/braintree-declines.js'
import { stripeCodes } from '../../../src/extensions/stripe/stripe-declines.js'
import { declines } from '../../../src/money/gateways/declines.js'
import { sandboxNonces, scenarioOf } from '../../../src/money/gateways/sandbox/sandbox-scenarios.js'
import { readFirstTable, readProjectFile } from '../../support/documents/markdown-table.js'

const text = readProjectFile('docs/reference/payments.md')
const tableAfter = (heading: string) => readFirstTable(text.slice(text.indexOf(`\n## ${heading}\n`)))

describe('docs/reference/payments.md', () => {
  it('lists the nonces of the sandbox, and nothing else', () => {
    const expected = Object.entries(sandboxNonces).map(([nonce, { meaning }]) => [nonce, meaning])
    expect(
      tableAfter('Sandbox gateway'),
      'write it again from src/money/gateways/sandbox/sandbox-scenarios.ts',
    ).toEqual(expected)
  })

  it('lists the codes of payments that Braintree itself rejects, and nothing else', () => {
    const tableBelow = (words: string) => readFirstTable(text.slice(text.indexOf(words)))
    const rows = (codes: Readonly<Record<string, number>>) =>
      Object.entries(codes).map(([key, code]) => [key, `${code}`])
    expect(tableBelow("| Braintree's gateway rejects for")).toEqual(rows(rejectionCodes))
    expect(tableBelow("| Braintree's validation code")).toEqual(rows(methodCodes))
  })

  it('lists the decline codes of Stripe with their numbers, and nothing else', () => {
    expect(tableAfter('Stripe')).toEqual(Object.entries(stripeCodes).map(([key, code]) => [key, `${code}`]))
  })

  it('lists the decline codes, and nothing else', () => {
    const expected = Object.entries(declines)
    expect(tableAfter('Decline codes'), 'write it again from src/money/gateways/declines.ts').toEqual(expected)
  })
})

describe('the sandbox', () => {
  it.each([
    ['fake-valid-nonce', '40.00', 'approved'],
    ['fake-valid-discover-nonce', '1999.99', 'approved'],
    ['fake-valid-nonce', '2000.00', 2000],
    ['fake-valid-nonce', '2046.75', 2046],
    ['fake-valid-nonce', '3000.99', 3000],
    ['fake-valid-nonce', '3001.00', 'approved'],
    ['fake-declined-2004-nonce', '40.00', 2004],
    ['fake-processor-declined-visa-nonce', '40.00', 2000],
    ['fake-timeout-after-nonce', '2001.00', 'silent-after'],
    ['toString', '40.00', 'unknown'],
    ['fake-valid-<x>-nonce', '40.00', 'unknown'],
  ])('decides %s with %s', (nonce, amount, expected) => {
    const scenario = scenarioOf(nonce, amount)
    expect(scenario.kind === 'declined' ? scenario.code : scenario.kind).toBe(expected)
  })
})
