import { describe, expect, it } from 'vitest'
import { ServiceError } from '../../../../src/kernel/errors.js'
import { together } from '../../../../src/platform/database/together.js'

/** Doubles numbers; remembers which ones came together. */
function doubling(failsWith: (items: readonly number[]) => Error | undefined = () => undefined) {
  const batches: number[][] = []
  const double = together(async (items: readonly number[]) => {
    batches.push([...items])
    await Promise.resolve()
    const failure = failsWith(items)
    if (failure) throw failure
    return items.map((item) => item * 2)
  })
  return { double, batches }
}

describe('calls taken together', () => {
  it('are those of one turn, at most fifty, each with its own result', async () => {
    const { double, batches } = doubling()
    const numbers = Array.from({ length: 120 }, (_, n) => n)
    expect(await Promise.all(numbers.map(double))).toEqual(numbers.map((n) => n * 2))
    expect(batches.map((batch) => batch.length)).toEqual([50, 50, 20])
  })

  it('are the next ones of all whose last one ended together, not the first of them alone', async () => {
    const { double, batches } = doubling()
    await Promise.all([1, 2, 3].map(async (n) => await double(await double(n))))
    expect(batches).toEqual([
      [1, 2, 3],
      [2, 4, 6],
    ])
  })

  it('do not suffer from one among them that fails', async () => {
    const { double, batches } = doubling((items) => (items.includes(2) ? new Error('two') : undefined))
    const outcomes = await Promise.allSettled([1, 2, 3].map(double))
    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
    expect(batches).toEqual([[1, 2, 3], [1], [2], [3]])
  })

  it('all fail, and are not made again, when the database is gone', async () => {
    const gone = new ServiceError('database-unavailable', 'gone')
    const { double, batches } = doubling(() => gone)
    const outcomes = await Promise.allSettled([1, 2].map(double))
    expect(outcomes).toEqual([
      { status: 'rejected', reason: gone },
      { status: 'rejected', reason: gone },
    ])
    expect(batches).toEqual([[1, 2]])
  })

  it('go on after a failure', async () => {
    const { double } = doubling((items) => (items.includes(1) ? new Error('one') : undefined))
    await expect(double(1)).rejects.toThrow('one')
    expect(await double(4)).toBe(8)
  })
})
