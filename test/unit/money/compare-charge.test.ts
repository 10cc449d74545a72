import { describe, expect, it } from 'vitest'
import type { Donation } from '../../../src/kernel/donation.js'
import type { CurrencyCode, Decimal } from '../../../src/kernel/money.js'
import { compareCharge, disputeOf, holdsMoney } from '../../../src/money/compare-charge.js'
import type { ChargeState } from '../../../src/money/gateways/gateway.js'
import type { BookedCharge } from '../../../src/money/sql/charge-states.js'

const amount = (text: string) => text as Decimal

const donation: Donation = {
  ...{ id: 1, projectId: 7, status: 'settled', reference: 'ours', fee: amount('0'), currency: 'USD' as CurrencyCode },
  ...{ amount: amount('40.000'), addon: amount('2.500'), refunded: amount('0.000') },
  ...{ newsletterPlatform: false, newsletterCharity: false },
}
const booked = (changes: Partial<BookedCharge> = {}): BookedCharge => {
  return { donation, chargeId: 'c1', givenBack: amount('0'), references: [], open: false, ...changes }
}
const charge = (changes: Partial<ChargeState> = {}): ChargeState => ({
  ...{ chargeId: 'c1', reference: 'ours', amount: amount('42.50'), currency: 'USD', progress: 'settled' },
  ...{ at: new Date(0) },
  ...{ refunds: [], disputes: [], ...changes },
})
const refund = (id: string, of: string) => ({ id, amount: amount(of) })

describe('a charge compared with the books', () => {
  it('agrees when nothing went back', () => {
    for (const progress of ['pending', 'settled'] as const) {
      expect(compareCharge(booked(), charge({ progress }))).toEqual({ missing: [], difference: undefined })
    }
  })

  it('takes what went back off the donation first, then off the tip', () => {
    expect(compareCharge(booked(), charge({ refunds: [refund('r1', '39.99'), refund('r2', '2.51')] }))).toEqual({
      missing: [
        { reference: 'r1', kind: 'refund', amount: '39.99', addon: '0.00' },
        { reference: 'r2', kind: 'refund', amount: '0.01', addon: '2.50' },
      ],
      difference: undefined,
    })
  })

  it('enters no more than was charged, and says that more went back', () => {
    const dispute = { id: 'd1', amount: amount('42.50'), status: 'lost' } as const
    expect(compareCharge(booked(), charge({ refunds: [refund('r1', '10')], disputes: [dispute] }))).toEqual({
      missing: [
        { reference: 'r1', kind: 'refund', amount: '10.00', addon: '0.00' },
        { reference: 'd1', kind: 'chargeback', amount: '30.00', addon: '2.50' },
      ],
      difference: 'the processor gave back 52.50 USD of a charge of 42.50 USD',
    })
  })

  it('knows refunds by our reference and by the id that they were entered under', () => {
    const known = booked({ givenBack: amount('15.000'), references: ['mine', 'r2'] })
    const refunds = [{ ...refund('r1', '10'), reference: 'mine' }, refund('r2', '5'), refund('r3', '1')]
    const withPart = { ...known, donation: { ...donation, refunded: amount('15.000') } }
    expect(compareCharge(withPart, charge({ refunds }))).toEqual({
      missing: [{ reference: 'r3', kind: 'refund', amount: '1.00', addon: '0.00' }],
      difference: undefined,
    })
  })

  it('agrees before the books know the charge', () => {
    expect(compareCharge(booked({ chargeId: undefined }), charge()).difference).toBeUndefined()
  })

  it('takes what the books have given back of the donation into account', () => {
    const refunded = { donation: { ...donation, refunded: amount('39.00') }, givenBack: amount('39.00') }
    const refunds = [refund('r1', '39.00'), refund('r2', '2.00')]
    expect(compareCharge(booked({ ...refunded, references: ['r1'] }), charge({ refunds })).missing).toEqual([
      { reference: 'r2', kind: 'refund', amount: '1.00', addon: '1.00' },
    ])
  })

  it('enters nothing that the books have given back under another name', () => {
    const refunds = [{ ...refund('r1', '10'), reference: 'mine' }]
    expect(compareCharge(booked({ givenBack: amount('10') }), charge({ refunds }))).toEqual({
      missing: [],
      difference: undefined,
    })
  })

  it.each([['r1'], ['mine']])('says that the books name a refund, %s, without its amount', (name) => {
    const refunds = [{ ...refund('r1', '10'), reference: 'mine' }]
    expect(compareCharge(booked({ references: [name] }), charge({ refunds }))).toEqual({
      missing: [],
      difference: 'the books have given back 0.00 USD, the processor 10.00 USD',
    })
  })

  it.each([
    ['voided', 'c1-void', 'refund'],
    ['failed', 'c1-failed', 'failure'],
  ] as const)('gives all of it back where it has %s', (progress, reference, kind) => {
    expect(compareCharge(booked(), charge({ progress }))).toEqual({
      missing: [{ reference, kind, amount: '40.00', addon: '2.50' }],
      difference: undefined,
    })
  })

  it.each([
    ['another amount', { amount: amount('42.51') }, 'the processor charged 42.51 USD, the books say 42.50 USD'],
    ['another currency', { currency: 'EUR' }, 'the processor charged 42.50 EUR, the books say 42.50 USD'],
    ['another charge', { chargeId: 'c2' }, 'the processor has two charges with one reference, c1 and c2'],
  ])('enters nothing for %s', (_what, changes, difference) => {
    const changed = charge({ ...changes, refunds: [refund('r1', '10')] })
    expect(compareCharge(booked(), changed)).toEqual({ missing: [], difference })
  })

  it('allows a chargeback that was booked when the dispute opened, and no more than that', () => {
    const dispute = { id: 'd1', amount: amount('10.00'), status: 'open' } as const
    const disputed = charge({ disputes: [dispute] })
    expect(compareCharge(booked({ givenBack: amount('10') }), disputed).difference).toBeUndefined()
    expect(compareCharge(booked({ givenBack: amount('10.01') }), disputed).difference).toBe(
      'the books have given back 10.01 USD, the processor 0.00 USD',
    )
  })

  it('is of an open dispute before a lost one, and of a lost one before one that was won', () => {
    const [won, lost, open] = (['won', 'lost', 'open'] as const).map((status) => {
      return { id: status, amount: amount('1'), status }
    }) as [ChargeState['disputes'][number], ChargeState['disputes'][number], ChargeState['disputes'][number]]
    expect(disputeOf(charge({ disputes: [won, lost, open] }))).toBe(open)
    expect(disputeOf(charge({ disputes: [won, lost] }))).toBe(lost)
    expect(disputeOf(charge({ disputes: [won] }))).toBe(won)
    expect(disputeOf(charge())).toBeUndefined()
  })

  it('holds money until all of it went back', () => {
    expect(holdsMoney(charge({ refunds: [refund('r1', '42.49')] }))).toBe(true)
    expect(holdsMoney(charge({ refunds: [refund('r1', '42.50')] }))).toBe(false)
    expect(holdsMoney(charge({ progress: 'voided' }))).toBe(false)
    expect(holdsMoney(charge({ progress: 'failed' }))).toBe(false)
  })
})
