import { describe, expect, it } from 'vitest'
import { pairAllowance, waitSeconds } from '../../../../src/http/api/operations/allowances.js'
import { signInOf } from '../../../../src/http/api/operations/throttle.js'

const lastAt = new Date('2026-11-21T09:00:00Z')
const waitAfter = (count: number, at = lastAt) => waitSeconds({ count, lastAt }, pairAllowance, at)

describe('the wait after failed sign-ins', () => {
  it('is nothing for a few, then doubles, up to a quarter of an hour and never for ever', () => {
    expect([1, 4, 5, 6, 7, 8].map((count) => waitAfter(count))).toEqual([0, 0, 1, 2, 4, 8])
    expect([14, 15, 16, 1_000_000].map((count) => waitAfter(count))).toEqual([512, 900, 900, 900])
  })

  it('is nothing for a free one that was counted after another at a later instant', () => {
    const before = new Date(lastAt.getTime() - 1)
    expect([1, 4, 5].map((count) => waitAfter(count, before))).toEqual([0, 0, 2])
  })
})

describe('who is counted', () => {
  it('is an IPv4 address, also when it is written as an IPv6 one', () => {
    expect(signInOf('a', '::ffff:192.0.2.1').place).toEqual(signInOf('a', '192.0.2.1').place)
    expect(signInOf('a', '192.0.2.2').place).not.toEqual(signInOf('a', '192.0.2.1').place)
  })

  it('is the network of an IPv6 address, since one household has them all', () => {
    expect(signInOf('a', '2001:db8::1').place).toEqual(signInOf('a', '2001:db8::ffff:2').place)
    expect(signInOf('a', '2001:db8:0:1::1').place).not.toEqual(signInOf('a', '2001:db8::1').place)
  })

  it('is never an e-mail and an address run together', () => {
    expect(signInOf('a\0', 'b').pair).not.toEqual(signInOf('a', '\0b').account)
  })
})
