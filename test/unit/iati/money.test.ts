import { describe, expect, it } from 'vitest'
import { toActivity } from '../../../src/iati/mapping/activity.js'
import type { Disbursement, Project } from '../../../src/kernel/project.js'
import { writeElement } from '../../../src/kernel/xml/writer.js'
import { type Changes, mapped, payout, today } from '../../support/iati/mapped.js'
import { aGraph, aMonth, amount, aReport, day, mappingConfig, usd } from '../../support/values/builders.js'

describe('budgets', () => {
  const periods = (changes: Changes, on = today) =>
    mapped(changes, on)
      .all('budget')
      .map((text) => {
        const [type, start, end, value] = [
          /type="(\d)"/,
          /start iso-date="([^"]+)"/,
          /end iso-date="([^"]+)"/,
          />([\d.]+)</,
        ].map((pattern) => pattern.exec(text)?.[1])
        return `${type} ${start} ${end} ${value}`
      })
  const goal = amount('100.00')

  it.each<[string, Partial<Project>, string[]]>([
    ['are none without a goal', {}, []],
    ['are none for a goal of nothing', { goal: amount('0.00') }, []],
    ['are none for goals of nothing', { goal: amount('0.00'), originalGoal: amount('0') }, []],
    ['are original when the goal never changed', { goal, originalGoal: goal }, ['1 2026-02-11 2027-02-10 100.00']],
    ['are original for the original goal alone', { originalGoal: goal }, ['1 2026-02-11 2027-02-10 100.00']],
    [
      'are revised when the goal changed',
      { goal, originalGoal: amount('80') },
      ['1 2026-02-11 2027-02-10 80.00', '2 2026-02-11 2027-02-10 100.00'],
    ],
    [
      'are revised only when the first goal was nothing',
      { goal, originalGoal: amount('0') },
      ['2 2026-02-11 2027-02-10 100.00'],
    ],
    [
      'are original only when the goal became nothing',
      { goal: amount('0'), originalGoal: goal },
      ['1 2026-02-11 2027-02-10 100.00'],
    ],
  ])('%s', (_what, project, expected) => {
    expect(periods({ project })).toEqual(expected)
  })

  it('of a running project are in its current year of 12 months', () => {
    const project = { goal, approvedDate: new Date('2024-11-21T00:00:00Z') }
    expect(periods({ project })).toEqual(['1 2026-11-21 2027-11-20 100.00'])
    expect(periods({ project }, day('2026-11-20'))).toEqual(['1 2025-11-21 2026-11-20 100.00'])
    expect(mapped({ project }, day('2026-11-20')).validUntil).toBe('2026-11-21')
    expect(periods({ project: { goal, approvedDate: new Date('2026-12-01T00:00:00Z') } })).toEqual([
      '1 2026-12-01 2027-11-30 100.00',
    ])
  })

  const approved = {
    goal,
    approvedDate: new Date('2003-05-16T16:57:20Z'),
    modifiedDate: new Date('2022-03-29T00:00:00Z'),
  }
  const firstYear = '1 2003-05-16 2004-05-15 100.00'

  it.each<[string, Changes, string]>([
    ['funded', { project: { status: 'funded' } }, firstYear],
    ['paused', { project: { paused: true } }, firstYear],
    ['funded, and first seen today', { project: { status: 'funded', firstSeenOn: today } }, firstYear],
    ['retired after a gift', { project: { status: 'retired' }, months: [aMonth('2004-06', '1.00')] }, firstYear],
    [
      'funded with an opening total',
      { project: { status: 'funded' }, months: [aMonth('2003-12', '1.00', { kind: 'opening' })] },
      firstYear,
    ],
    [
      'retired after a payout',
      { project: { status: 'retired' }, disbursements: [payout('A', '2005-03-01')] },
      firstYear,
    ],
    [
      'retired after a stated report of later years',
      { project: { status: 'retired', dateOfMostRecentReport: new Date('2009-10-30T00:00:00Z') } },
      firstYear,
    ],
    [
      'funded, with its last report in its first year',
      {
        project: { status: 'funded', modifiedDate: undefined } as Partial<Project>,
        reports: [aReport(2, '2003-09-01'), aReport(1, '2003-08-01')],
      },
      '1 2003-05-16 2003-09-01 100.00',
    ],
    [
      'funded, and last changed in its first year',
      { project: { status: 'funded', modifiedDate: new Date('2003-11-11T00:00:00Z') } },
      '1 2003-05-16 2003-11-11 100.00',
    ],
  ])('of a project that is over are those of its own first 12 months: %s', (_what, changes, expected) => {
    const activity = { ...changes, project: { ...approved, ...changes.project } }
    expect(periods(activity)).toEqual([expected])
    const [start, end] = expected.split(' ').slice(1)
    expect(mapped(activity).notices('budget-period-derived')).toEqual([
      `deadline: expected a day, got none; ${start} to ${end} is reported`,
    ])
    expect(mapped(activity).validUntil).toBeUndefined()
    expect(mapped(activity, day('2031-01-01')).all('budget')).toEqual(mapped(activity).all('budget'))
  })

  it.each<[string, Changes, string]>([
    [
      'of a retired project that nothing was given to',
      { project: { ...approved, status: 'retired', numberOfDonations: 0 } },
      'no money',
    ],
    [
      'of a past project without a known start',
      { project: { ...approved, status: 'funded', approvedDate: undefined } as Partial<Project> },
      'no start',
    ],
  ])('are left out where their time would be a guess: %s', (_what, changes, missing) => {
    expect(periods(changes)).toEqual([])
    expect(mapped(changes).notices('budget-unknown').join()).toContain(
      `goal: expected a deadline, got none, and ${missing}`,
    )
  })

  it('are at most 60 years: a later deadline is none, with a notice', () => {
    const last = { project: { goal, deadline: day('2085-02-10') } }
    expect(periods(last)).toHaveLength(60)
    for (const deadline of ['2085-02-11', '2999-01-01', '9999-12-31']) {
      const activity = { project: { goal, deadline: day(deadline) } }
      expect(periods(activity)).toEqual(['1 2026-02-11 2027-02-10 100.00'])
      expect(mapped(activity).all('activity-date')).toEqual(['<activity-date type="1" iso-date="2025-02-11"/>'])
      expect(mapped(activity).notices('deadline-unusable')).toEqual([
        `deadline: expected a day until 2085-02-10, got ${deadline}`,
      ])
    }
  })

  it('up to a deadline are in years of 12 months, the last one cut', () => {
    const project = { goal: amount('367.00'), deadline: day('2026-02-12') }
    expect(periods({ project })).toEqual(['1 2025-02-11 2026-02-10 365.00', '1 2026-02-11 2026-02-12 2.00'])
    expect(periods({ project: { ...project, deadline: day('2026-02-11') } })).toHaveLength(2)
    expect(periods({ project: { ...project, deadline: day('2026-02-10') } })).toHaveLength(1)
  })
})

describe('transactions', () => {
  it('leave out money of days to come until they come, and say so', () => {
    const activity = mapped({
      months: [aMonth('2026-11', '5.00', { lastOn: day('2026-11-22') })],
      disbursements: [payout('P', '2026-11-23')],
    })
    expect(activity.all('transaction')).toEqual([])
    expect(activity.notices('money-in-future')).toEqual([
      'donation_month: expected a day until 2026-11-21, got 2026-11-22',
      'disbursement: expected a day until 2026-11-21, got 2026-11-23',
    ])
    expect(activity.validUntil).toBe('2026-11-22')
  })

  it('have money of today, at its day until the month is over', () => {
    const activity = mapped({
      months: [aMonth('2026-11', '5.00', { lastOn: today })],
      disbursements: [payout('P', '2026-11-21')],
    })
    expect(activity.all('transaction').map((text) => /transaction-date iso-date="([^"]+)"/.exec(text)?.[1])).toEqual([
      '2026-11-21',
      '2026-11-21',
    ])
    expect(activity.validUntil).toBe('2026-11-30')
    expect(activity.totals).toEqual({ USD: { in: 500n, out: 1000n } })
  })

  it('are one for all sources of a month, with their sum, count and last day', () => {
    const [line, ...others] = mapped({
      months: [
        aMonth('2026-11', '5.00', { lastOn: day('2026-11-20'), count: 2 }),
        aMonth('2026-11', '7.00', { lastOn: day('2026-11-19'), count: 3, source: 'import' }),
      ],
    }).all('transaction')
    expect(others).toEqual([])
    expect(line).toContain('iso-date="2026-11-20"')
    expect(line).toContain('>12.00<')
    expect(line).toContain('5 donations in 2026-11')
  })

  it('count one donation as one', () => {
    const texts = mapped({ months: [aMonth('2026-10', '5.00', { count: 1 })] }).all('transaction')
    expect(texts.join()).toContain('>1 donation in 2026-10<')
  })

  it('have no line for a month that sums to nothing, nor for a payout of nothing', () => {
    const activity = mapped({
      months: [aMonth('2026-10', '5.00'), aMonth('2026-10', '-5.00', { source: 'import' })],
      disbursements: [payout('P', '2026-10-01', '0.00')],
    })
    expect(activity.all('transaction')).toEqual([])
    expect(activity.totals).toEqual({})
  })

  it('are ordered by date, type and reference', () => {
    const lines = mapped({
      months: [
        aMonth('2026-10', '1.00', { kind: 'fee' }),
        aMonth('2026-10', '5.00'),
        aMonth('2026-10', '-1.00', { kind: 'refund' }),
        aMonth('2026-09', '2.00'),
      ],
      disbursements: [payout('B', '2026-10-31'), payout('A', '2026-10-31', '-3.00')],
    }).all('transaction')
    expect(lines.map((text) => /ref="([^"]+)"/.exec(text)?.[1])).toEqual([
      ...['don-2045-2026-09-USD', 'don-2045-2026-10-USD', 'ref-2045-2026-10-USD'],
      ...['pay-A', 'pay-B', 'fee-2045-2026-10-USD'],
    ])
    expect(lines[3]).toContain('Money returned by the implementing partner')
    expect(lines[4]).toContain('Payout to the implementing partner')
  })

  it('of a payout in another currency say what was paid', () => {
    const original = (amount: string, currency: string) => ({ amount, currency }) as Disbursement['original']
    const lines = mapped({
      disbursements: [
        { ...payout('A', '2026-10-30', '25.00'), original: original('3500.000', 'KES') },
        { ...payout('B', '2026-10-31', '-3.00'), original: original('-420', 'JPY') },
      ],
    }).all('transaction')
    expect(lines[0]).toContain('<narrative>Payout to the implementing partner: 3500.00 KES</narrative>')
    expect(lines[0]).toMatch(/<value currency="USD"[^>]*>25.00</)
    expect(lines[1]).toContain('<narrative>Money returned by the implementing partner: 420 JPY</narrative>')
  })

  it('of an opening total that a mirrored record states name no day of the source', () => {
    const text = mapped({
      months: [aMonth('2012-05', '90.00', { kind: 'opening', source: 'upstream', lastOn: day('2012-05-06') })],
    }).all('transaction')
    expect(text.join()).toContain('the source names no day, 2012-05-06 is the newest one known')
  })

  it('of a partner without a name name the project', () => {
    const graph = aGraph({ disbursements: [payout('P', '2026-10-01')] })
    const { organisation: _, ...bare } = graph
    const element = toActivity(bare, mappingConfig, today, 'US-EIN-123456789-2045').element
    const text = element.children.filter(({ name }) => name === 'transaction').map((one) => writeElement(one))
    expect(text.join()).toContain('<receiver-org><narrative>Partner of project 2045</narrative></receiver-org>')
  })
})

describe('planned disbursements', () => {
  const plan = (reference: string, on: string) => ({
    reference,
    plannedOn: day(on),
    amount: amount('5.00'),
    currency: usd,
  })

  it('are those of days to come that nothing has fulfilled until today', () => {
    const activity = mapped({
      payoutPlan: [
        plan('A', '2026-11-21'),
        plan('B', '2026-12-02'),
        plan('C', '2026-12-01'),
        plan('D', '2026-12-03'),
        plan('E', '2026-12-04'),
      ],
      disbursements: [payout('B', '2026-11-21'), payout('D', '2026-11-22')],
    })
    const starts = activity.all('planned-disbursement').map((text) => /start iso-date="([^"]+)"/.exec(text)?.[1])
    expect(starts).toEqual(['2026-12-01', '2026-12-03', '2026-12-04'])
    expect(activity.validUntil).toBe('2026-11-22')
    expect(mapped({ payoutPlan: [plan('A', '2026-11-21')] }).all('planned-disbursement')).toEqual([])
  })
})
