import { describe, expect, it } from 'vitest'
import { holdReason, largeFileWarnings } from '../../../src/release/operate/guards.js'
import type { Manifest } from '../../../src/release/read/manifest.js'

const none = { count: 0, sample: [] }
const live = { activities: 1000, money: { USD: '5000.00', KES: '100' } }
const options = { maxLossPercent: 5, vanished: none, files: [] }

describe('a release', () => {
  it('goes live when nothing is lost', () => {
    expect(holdReason(live, live, options)).toBeUndefined()
  })

  it('goes live as the first one, whatever it holds', () => {
    expect(holdReason(undefined, { activities: 1, money: {} }, options)).toBeUndefined()
  })

  it('may lose exactly the percentage allowed', () => {
    expect(holdReason(live, { ...live, activities: 950 }, options)).toBeUndefined()
  })

  it('is held when it would lose more activities', () => {
    expect(holdReason(live, { ...live, activities: 949 }, options)).toBe(
      'activities would fall from 1000 to 949, by more than 5%',
    )
  })

  it.each([
    ['partners', 'money paid to partners'],
    ['expenditure', 'expenditure'],
    ['budget', 'budgets'],
    ['in', 'incoming funds'],
  ])('is held when it would lose more of its %s, where both releases tell it', (kind, named) => {
    const of = (amount: string) => ({ ...live, flows: { [kind]: { USD: amount } } })
    const reason = `${named} would fall from USD 100.00 to 94.99, by more than 5%`
    expect(holdReason(of('100.00'), of('94.99'), options)).toBe(reason)
    expect(holdReason(of('100.00'), of('95.00'), options)).toBeUndefined()
    expect(holdReason(live, of('1.00'), options)).toBeUndefined()
  })

  it('is held when it would lose more money of any currency', () => {
    const flows = {}
    const next = { ...live, flows, money: { USD: '5000.00' } }
    expect(holdReason({ ...live, flows }, next, options)).toContain('KES 100 to 0')
    expect(holdReason(live, { ...live, money: { ...live.money, USD: '4749.99' } }, options)).toContain(
      'from USD 5,000.00 to 4,749.99',
    )
  })

  it('is held when a published identifier would vanish', () => {
    const vanished = { count: 2, sample: ['A-1', 'A-2'] }
    expect(holdReason(live, live, { ...options, vanished })).toBe('2 published identifiers would vanish: A-1, A-2')
  })

  it('is held when a file would not reach every consumer', () => {
    const files = [{ path: '/iati/activities.xml', bytes: 40_000_001 }]
    expect(holdReason(live, live, { ...options, files })).toContain('/iati/activities.xml would have 40000001 bytes')
    const unregistered = ['/iati/bulk/activities.xml', '/iati/index.json', '/data/transactions.csv']
    expect(
      holdReason(live, live, { ...options, files: unregistered.map((path) => ({ path, bytes: 90_000_000 })) }),
    ).toBeUndefined()
  })

  it.each([
    [['/iati/activities.xml', 40_000_000], undefined],
    [['/old/iati/activities.xml', 90_000_000], undefined],
    [['/iati/activities.xml.sig', 90_000_000], undefined],
    [['/iati/organisations.xml', 40_000_001], '/iati/organisations.xml would have 40000001 bytes, more than 40000000'],
  ] as const)('is held for a registered file that is too large: %o', ([path, bytes], reason) => {
    expect(holdReason(live, live, { ...options, files: [{ path, bytes }] })).toBe(reason)
  })

  it('is held for one identifier that would vanish', () => {
    const vanished = { count: 1, sample: ['A-1'] }
    expect(holdReason(live, live, { ...options, vanished })).toBe('1 published identifier would vanish: A-1')
  })

  it.each([
    [{ count: 0, sample: [] }, undefined],
    [{ count: 1, sample: ['A-1'] }, 'the transactions of 1 activity do not add up to the books: A-1'],
    [{ count: 3, sample: ['A-1', 'A-2'] }, 'the transactions of 3 activities do not add up to the books: A-1; A-2'],
  ])('is held when transactions do not add up to the books, also as the first one: %o', (unbalanced, reason) => {
    expect(holdReason(undefined, live, { ...options, unbalanced })).toBe(reason)
  })

  it.each([
    [{ live: 0, next: 10 }, 12, false],
    [{ live: 0, next: 11 }, 22, false],
    [{ live: 11, next: 11 }, 12, false],
    [{ live: 10, next: 11 }, 21, true],
  ])('is held when most activities become invalid: %o of %i, %s', (invalid, activities, isHeld) => {
    const reason = holdReason({ ...live, activities }, { ...live, activities }, { ...options, invalid })
    expect(reason).toBe(
      isHeld
        ? '11 of 21 activities would be invalid (10 so far): the mapping or its configuration is wrong'
        : undefined,
    )
  })

  it('loses nothing where there was nothing, or less than nothing', () => {
    const none = { activities: 0, money: { USD: '-5.00' } }
    expect(holdReason(none, { activities: 0, money: { USD: '-9.00' } }, options)).toBeUndefined()
  })
})

describe('a file that consumers find large', () => {
  it('is named in one sentence', () => {
    const file = (path: string, bytes: number) => ({ path, bytes }) as Manifest['files'][number]
    const files = [
      file('/iati/activities.xml', 20_000_001),
      file('/iati/organisations.xml', 20_000_000),
      file('/data/transactions.csv', 90_000_000),
    ]
    expect(largeFileWarnings({ files } as unknown as Manifest)).toEqual([
      '/iati/activities.xml has 20000001 bytes: consumers ask for at most 20000000, and a release with more than 40000000 is held',
    ])
  })
})
