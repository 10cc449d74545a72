import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  type CurrencyCode,
  fromMinorUnits,
  isWhole,
  minorUnitExponent,
  parseCurrencyCode,
  parseDecimal,
  roundToCurrency,
  signOf,
  splitByLargestRemainder,
  toMinorUnits,
} from '../../../src/kernel/money.js'
import { amount } from '../../support/values/builders.js'

describe('a decimal', () => {
  it.each(['1e3', '0x10', '', ' 1', '1,000', '.5', '1.', '--1', 'NaN', '１'])('refuses %j', (text) => {
    expect(parseDecimal(text)).toBeUndefined()
  })

  it.each([
    ['007.50', '7.50'],
    ['+3', '3'],
    ['-0.00', '0.00'],
    ['-12.3', '-12.3'],
    ['-0.01', '-0.01'],
    ['-10', '-10'],
    ['0', '0'],
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
    expect(roundToCurrency(amount('0.5'), 'CLF' as CurrencyCode)).toBe('0.5000')
  })

  it('has the minor units that its digits say, however many there are', () => {
    const digits = fc.stringMatching(/^[0-9]{1,16}$/)
    fc.assert(
      fc.property(
        fc.boolean(),
        digits,
        fc.option(digits),
        fc.integer({ min: 0, max: 5 }),
        (minus, whole, part, places) => {
          const fraction = part ?? ''
          const text = `${minus ? '-' : ''}${whole}${part === null ? '' : `.${part}`}`
          // Twice the units of the finest place, plus one half, cut: half away from zero.
          const scale = 10n ** BigInt(fraction.length)
          const units = (BigInt(whole + fraction) * 10n ** BigInt(places) * 2n + scale) / (2n * scale)
          expect(toMinorUnits(amount(text), places)).toBe(minus ? -units : units)
        },
      ),
    )
  })

  it.each(['', '-', '.', '1.', '.1', '1.2.3', '1x', 'x1', '1-', '/', ':'])('that is %j has no units', (text) => {
    expect(() => toMinorUnits(text as never, 2)).toThrow(`not a decimal: ${text}`)
  })

  it('has a sign, and is whole or not', () => {
    expect(['-0.01', '-10', '0.00', '-0', '0.10', '7'].map((text) => signOf(text as never))).toEqual([
      -1, -1, 0, 0, 1, 1,
    ])
    expect(['7', '7.00', '7.01', '7.10', '70.001', '0.0010'].map((text) => isWhole(text as never))).toEqual([
      ...[true, true],
      ...[false, false, false, false],
    ])
  })
})

describe('a currency', () => {
  it.each(['usd', 'US', 'USDX', 'XUSDX', '1USD', 'USD1', ''])('is not %j', (text) => {
    expect(parseCurrencyCode(text)).toBeUndefined()
  })

  it('has the minor unit of ISO 4217', () => {
    expect(parseCurrencyCode('USD')).toBe('USD')
    expect(['USD', 'JPY', 'KWD', 'CLF'].map((code) => minorUnitExponent(code as CurrencyCode))).toEqual([2, 0, 3, 4])
  })
})

describe('a split by largest remainder', () => {
  it.each<[bigint, bigint[], bigint[]]>([
    [10n, [], []],
    [10n, [0n, 0n, 0n], [4n, 3n, 3n]],
    [10n, [0n, 1n], [0n, 10n]],
    [100n, [1n, 1n, 1n], [34n, 33n, 33n]],
    [101n, [1n, 1n, 1n], [34n, 34n, 33n]],
    // Remainders 1, 2 and 2 of 5: the two larger ones get one each, in their order.
    [6n, [1n, 2n, 2n], [1n, 3n, 2n]],
    [7n, [1n, 2n, 2n], [1n, 3n, 3n]],
    [6n, [2n, 2n, 1n], [3n, 2n, 1n]],
    // The largest remainder is the last one's.
    [10n, [33n, 33n, 34n], [3n, 3n, 4n]],
  ])('of %s over %s is %s', (total, weights, parts) => {
    expect(splitByLargestRemainder(total, weights)).toEqual(parts)
  })

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
