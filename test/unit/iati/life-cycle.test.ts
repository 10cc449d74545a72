import { describe, expect, it } from 'vitest'
import type { Project } from '../../../src/kernel/project.js'
import { activityDatesOf, type Changes, mapped, payout, today } from '../../support/iati/mapped.js'
import { aMonth, aReport, day } from '../../support/values/builders.js'

/** A project of which only the id, the title and what is given are known. */
function withoutApproval(project: Partial<Project>): Partial<Project> {
  return { approvedDate: undefined, ...project } as Partial<Project>
}

describe('a planned start that is derived', () => {
  const first = { firstSeenOn: day('2025-06-06') }

  it.each<[string, Changes, string]>([
    ['the day of the record', { project: first }, '2025-06-06'],
    ['its last change', { project: { ...first, modifiedDate: new Date('2025-05-05T23:00:00Z') } }, '2025-05-05'],
    [
      'its last change, and not the day of an opening total',
      {
        project: { ...first, modifiedDate: new Date('2025-05-05T23:00:00Z') },
        months: [aMonth('2025-01', '5.00', { kind: 'opening' })],
      },
      '2025-05-05',
    ],
    [
      'a report, even where the record says an earlier change',
      { project: { modifiedDate: new Date('2025-05-05T23:00:00Z') }, reports: [aReport(1, '2025-07-07')] },
      '2025-07-07',
    ],
    [
      'its newest report',
      { project: { ...first, dateOfMostRecentReport: new Date('2025-04-04T00:00:00Z') } },
      '2025-04-04',
    ],
    [
      'any of its reports',
      { project: first, reports: [aReport(2, '2025-05-01'), aReport(1, '2025-03-03')] },
      '2025-03-03',
    ],
    ['its first month of money', { project: first, months: [aMonth('2025-02', '5.00')] }, '2025-02-01'],
    ['its first payout', { project: first, disbursements: [payout('P', '2025-01-01')] }, '2025-01-01'],
  ])('is the earliest day known: %s', (_what, changes, expected) => {
    const given = { ...changes, project: withoutApproval(changes.project ?? {}) }
    expect(activityDatesOf(given)['1']).toBe(expected)
    expect(mapped(given).notices('start-date-derived')).toEqual([
      `approvedDate: expected a date, got none; ${expected} is reported`,
    ])
  })
})

describe('an actual start', () => {
  it.each<[string, Changes, string | undefined]>([
    ['is the day of the first payout', { disbursements: [payout('P', '2026-03-01')] }, '2026-03-01'],
    ['is a payout of today', { disbursements: [payout('P', '2026-11-21')] }, '2026-11-21'],
    ['is not a payout of tomorrow', { disbursements: [payout('P', '2026-11-22')] }, undefined],
    ['is none while an active project has gifts only', { months: [aMonth('2026-03', '5.00')] }, undefined],
    [
      'is none while a project is paused',
      { project: { paused: true }, months: [aMonth('2026-03', '5.00')] },
      undefined,
    ],
    [
      'is the first month of gifts once funded',
      {
        project: { status: 'funded' },
        months: [aMonth('2025-03', '1.00', { kind: 'fee' }), aMonth('2025-04', '5.00')],
      },
      '2025-04-01',
    ],
    [
      'is a payout before any month',
      {
        project: { status: 'funded' },
        months: [aMonth('2025-04', '5.00')],
        disbursements: [payout('P', '2026-03-01')],
      },
      '2026-03-01',
    ],
    [
      'is never before the planned start',
      { project: { status: 'funded' }, months: [aMonth('2025-01', '5.00')] },
      '2025-02-11',
    ],
    [
      'needs a gift until today',
      { project: { status: 'retired' }, months: [aMonth('2026-11', '5.00', { lastOn: day('2026-11-22') })] },
      undefined,
    ],
    [
      'counts a gift of today',
      { project: { status: 'retired' }, months: [aMonth('2026-11', '5.00', { lastOn: today })] },
      '2026-11-01',
    ],
    ['is none without gifts', { project: { status: 'retired' } }, undefined],
    [
      'is none where an opening total has the gifts before the first month',
      {
        project: { status: 'funded' },
        months: [aMonth('2025-03', '1.00', { kind: 'opening' }), aMonth('2025-04', '5.00')],
      },
      undefined,
    ],
    [
      'is not in the future',
      {
        project: { status: 'funded', approvedDate: new Date('2026-11-22T00:00:00Z') },
        months: [aMonth('2026-10', '5.00')],
      },
      undefined,
    ],
  ])('%s', (_what, changes, expected) => {
    expect(activityDatesOf(changes)['2']).toBe(expected)
  })
})

describe('an actual end', () => {
  it('is never reported, since no record states one', () => {
    const modifiedDate = new Date('2026-05-05T00:00:00Z')
    for (const status of ['active', 'funded', 'retired'] as const) {
      const changes = { project: { status, modifiedDate }, reports: [aReport(1, '2026-03-03')] }
      expect(Object.keys(activityDatesOf(changes))).toEqual(['1'])
    }
  })
})

describe('a planned end', () => {
  it('may be the day of the start, and not earlier', () => {
    expect(activityDatesOf({ project: { deadline: day('2025-02-11') } })['3']).toBe('2025-02-11')
    const early = { project: { deadline: day('2025-02-10') } }
    expect(activityDatesOf(early)['3']).toBeUndefined()
    expect(mapped(early).notices('deadline-unusable')).toEqual([
      'deadline: expected a day from 2025-02-11, got 2025-02-10',
    ])
  })
})

describe('a project that is approved for a day to come', () => {
  const approvedDate = new Date('2026-12-01T12:00:00Z')

  it('is in the pipeline until then', () => {
    const pipeline = mapped({ project: { approvedDate } })
    expect(pipeline.all('activity-status')).toEqual(['<activity-status code="1"/>'])
    expect(pipeline.validUntil).toBe('2026-12-01')
    expect(mapped({ project: { approvedDate } }, day('2026-12-01')).all('activity-status')).toEqual([
      '<activity-status code="2"/>',
    ])
  })

  it('runs once it has money', () => {
    expect(mapped({ project: { approvedDate }, months: [aMonth('2026-10', '5.00')] }).all('activity-status')).toEqual([
      '<activity-status code="2"/>',
    ])
  })
})
