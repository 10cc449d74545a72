import { describe, expect, it } from 'vitest'
import { holdReason } from '../../../src/publishing/release/operate/guards.js'

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

  it('is held when it would lose more money of any currency', () => {
    expect(holdReason(live, { ...live, money: { USD: '5000.00' } }, options)).toContain('KES 100 to 0')
    expect(holdReason(live, { ...live, money: { ...live.money, USD: '4749.99' } }, options)).toContain('4749.99')
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
})
