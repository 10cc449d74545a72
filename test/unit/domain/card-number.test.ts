import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { holdsCardNumber } from '../../../src/domain/card-number.js'

describe('the number of a payment card', () => {
  it.each([
    '4111111111111111',
    '4111 1111 1111 1111',
    '5178-0598-7654-0437',
    'Lina 5105105105105100 Okoro',
    'my card: 378282246310005.',
    '12 4111 1111 1111 1111 02/30',
    '6011000991300009',
    '36259600000004',
    '3530111333300000',
    '2223000048400011',
    '6304000000000000',
    '4000000000000000006',
  ])('is found in %s', (text) => {
    expect(holdsCardNumber(text)).toBe(true)
  })

  it.each([
    '4111111111111112',
    'Lina Okoro',
    '+49 1512 3456789',
    '1763712000000000',
    '1234567890123452',
    'tx-000071',
    '2026-11-21T09:15:30.412Z',
    '41111111111111111111111',
    'a4111111111111111',
    '3f2504e0-4f89-11d3-9a0c-0305e82c3301',
    '41111111-1111-1111-1111-111111111111',
    '',
  ])('is not found in %s', (text) => {
    expect(holdsCardNumber(text)).toBe(false)
  })

  it('is not found in identifiers that clients make up', () => {
    for (let n = 0; n < 2_000; n++) expect(holdsCardNumber(randomUUID())).toBe(false)
  })
})
