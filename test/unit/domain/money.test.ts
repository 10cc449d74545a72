import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  type CurrencyCode,
  fromMinorUnits,
  parseDecimal,
  roundToCurrency,
  splitByLargestRemainder,
  toMinorUnits,
} from '../../../src/domain/money.js'
import { amount } from '../../support/builders.js'

describe('a decimal', () => {
  it.each(['1e3', '0x10', '', ' 1', '1,000', '.5', '1.', '--1', 'NaN', '１'])('refuses %j', (text) => {
    expect(parseDecimal(text)).toBeUndefined()
  })

  it.each([
    ['007.50', '7.50'],
    ['+3', '3'],
    ['-0.00', '0.00'],
    ['-12.3', '-12.3'],
  ])('reads %s as %s', (text, value) => {
    expect(parseDecimal(text)).toBe(value)
  })

  it('survives the way to minor units and back', () => {
    fc.assert(
      fc.property(
        fc.bigInt({ min: -(10n ** 18n), max: 10n ** 18n }),
        fc.integer({ min: 0, max: 4 }),
        (units, places) => {
          expect(toMinorUnits(fromMinorUnits(units, places), places)).toBe(units)
        },
      ),
    )
  })

  it('rounds half away from zero to the minor unit of its currency', () => {
    expect(roundToCurrency(amount('1.005'), 'USD' as CurrencyCode)).toBe('1.01')
    expect(roundToCurrency(amount('-1.005'), 'USD' as CurrencyCode)).toBe('-1.01')
    expect(roundToCurrency(amount('1.5'), 'JPY' as CurrencyCode)).toBe('2')
    expect(roundToCurrency(amount('1.5'), 'KWD' as CurrencyCode)).toBe('1.500')
  })
})

describe('a split by largest remainder', () => {
  it('always sums to the whole, and no part is off by more than one', () => {
    fc.assert(
      fc.property(
        fc.bigInt({ min: 0n, max: 10n ** 12n }),
        fc.array(fc.bigInt({ min: 0n, max: 10n ** 6n }), { minLength: 1, maxLength: 40 }),
        (total, weights) => {
          const parts = splitByLargestRemainder(total, weights)
          const sum = weights.reduce((a, b) => a + b, 0n)
          expect(parts.reduce((a, b) => a + b, 0n)).toBe(total)
          parts.forEach((part, index) => {
            const exact = sum === 0n ? total / BigInt(weights.length) : (total * (weights[index] ?? 0n)) / sum
            expect(part - exact).toBeGreaterThanOrEqual(0n)
            expect(part - exact).toBeLessThanOrEqual(1n)
          })
        },
      ),
    )
  })
})
