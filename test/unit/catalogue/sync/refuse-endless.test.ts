import { describe, expect, it } from 'vitest'
import { refuseEndless } from '../../../../src/catalogue/sync/refuse-endless.js'

const at = { phase: 'projects', full: true, cursor: 1, walked: 0 } as const
const page = (walked: number) => ({ page: { records: [{ id: String(walked) }], next: walked + 1 }, walked: walked - 1 })

function refused(walkedSoFar: number, found: number | undefined, known: number): boolean {
  const { page: one, walked } = page(walkedSoFar)
  try {
    refuseEndless(one, { ...at, walked }, 'project', found, known)
    return false
  } catch (error) {
    expect(error).toMatchObject({ code: 'upstream-unusable' })
    return true
  }
}

describe('a walk ends', () => {
  it.each([
    ['at twice the projects that the upstream states, and a thousand', 50, 0, 1100],
    ['without a number, at twice those of the last run and a hundred thousand', undefined, 10_000, 120_000],
    ['without a number and a run before, at a hundred thousand', undefined, 0, 100_000],
    ['at two million, whatever is stated', 9_000_000_000, 0, 2_000_000],
    ['at two million, whatever there was', undefined, 3_000_000, 2_000_000],
  ])('%s', (_what, found, known, most) => {
    expect(refused(most, found, known)).toBe(false)
    expect(refused(most + 1, found, known)).toBe(true)
  })

  it('at a page of more than a thousand records', () => {
    const records = Array.from({ length: 1001 }, (_, index) => ({ id: String(index + 1) }))
    expect(() => refuseEndless({ records }, at, 'organisation', 5, 5)).toThrow('a page of 1001 records')
    expect(() => refuseEndless({ records: records.slice(1) }, at, 'organisation', 5, 5)).not.toThrow()
  })
})
