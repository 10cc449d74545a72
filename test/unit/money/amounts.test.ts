import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type CurrencyCode, type Decimal, sameAmount } from '../../../src/kernel/money.js'
import { withTimeout } from '../../../src/money/gateways/gateway.js'
import { feeOf, sumOf } from '../../../src/money/payments.js'

const amount = (text: string) => text as Decimal
const [usd, jpy, kwd] = ['USD', 'JPY', 'KWD'] as CurrencyCode[] as [CurrencyCode, CurrencyCode, CurrencyCode]

describe('a fee', () => {
  it.each([
    ['40.00', '5', usd, '2.00'],
    ['10.10', '5', usd, '0.51'],
    ['10.09', '5', usd, '0.50'],
    ['25', '2.75', usd, '0.69'],
    ['1010', '0.05', jpy, '1'],
    ['10.001', '5', kwd, '0.500'],
    ['40', '0', usd, '0.00'],
  ])('of %s at %s %% in %s is %s', (of, percent, currency, expected) => {
    expect(feeOf(amount(of), amount(percent), currency)).toBe(expected)
  })

  it('is never more than the amount', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 10 ** 9 }), fc.integer({ min: 0, max: 9999 }), (cents, percent) => {
        const of = amount((cents / 100).toFixed(2))
        expect(Number(feeOf(of, amount((percent / 100).toFixed(2)), usd))).toBeLessThanOrEqual(Number(of))
      }),
    )
  })
})

describe('amounts', () => {
  it('are added exactly, and compared as numbers', () => {
    expect(sumOf(amount('0.1'), amount('0.2'), usd)).toBe('0.30')
    expect(sameAmount(amount('40'), amount('40.000'))).toBe(true)
    expect(sameAmount(amount('40.01'), amount('40.1'))).toBe(false)
  })
})

describe('a gateway call', () => {
  it('that does not answer is given up and told so', async () => {
    let told = false
    const silent = (signal: AbortSignal) =>
      new Promise<never>(() => {
        signal.addEventListener('abort', () => {
          told = true
        })
      })
    await expect(withTimeout(20, silent)).rejects.toThrow('did not answer within 20 ms')
    expect(told).toBe(true)
  })
})
