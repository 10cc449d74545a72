import { setImmediate as turnEnds } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { createReadTogether } from '../../../../src/http/api/operations/read-together.js'

/** Reads that note which keys they were given; the value of a key is its double, and 13 has none. */
function watched(most = 10) {
  const statements: number[][] = []
  const readTogether = createReadTogether<number, number>(most)
  const select = async (keys: readonly number[]) => {
    statements.push([...keys])
    return new Map(keys.filter((key) => key !== 13).map((key) => [key, key * 2]))
  }
  return { statements, read: (key: number, what = 'list') => readTogether(what, key, select), readTogether }
}

describe('reads of one turn', () => {
  it('share a statement, which has each key once', async () => {
    const { statements, read } = watched()
    expect(await Promise.all([read(3), read(1), read(3), read(13)])).toEqual([6, 2, 6, undefined])
    expect(statements).toEqual([[3, 1, 13]])
  })

  it('share it only with reads of the same kind', async () => {
    const { statements, read } = watched()
    await Promise.all([read(1, 'xml'), read(2, 'json'), read(3, 'xml')])
    expect(statements).toEqual([[1, 3], [2]])
  })

  it('take further statements when there are too many', async () => {
    const { statements, read } = watched(2)
    expect(await Promise.all([1, 2, 3, 4, 5].map((key) => read(key)))).toEqual([2, 4, 6, 8, 10])
    expect(statements).toEqual([[1, 2], [3, 4], [5]])
  })

  it('fail together, and the next ones do not', async () => {
    const { read, readTogether } = watched()
    const lost = new Error('the connection is lost')
    const failing = () => readTogether('list', 1, () => Promise.reject(lost))
    const outcomes = await Promise.allSettled([failing(), read(2), failing()])
    expect(outcomes).toEqual(Array.from({ length: 3 }, () => ({ status: 'rejected', reason: lost })))
    expect(await read(2)).toBe(4)
  })
})

describe('a read that comes later', () => {
  it('never joins a statement that has been sent', async () => {
    const { statements, readTogether } = watched()
    let answer: (rows: ReadonlyMap<number, number>) => void = () => undefined
    const select = (keys: readonly number[]) => {
      statements.push([...keys])
      return new Promise<ReadonlyMap<number, number>>((resolve) => {
        answer = resolve
      })
    }
    const first = readTogether('list', 1, select)
    await turnEnds()
    const second = readTogether('list', 1, async (keys) => new Map(keys.map((key) => [key, -key])))
    expect(statements).toEqual([[1]])
    expect(await second).toBe(-1)
    answer(new Map([[1, 1]]))
    expect(await first).toBe(1)
  })
})
