import { beforeEach, describe, expect, it } from 'vitest'
import { NewestKept } from '../../../src/release/read/newest-kept.js'

describe('what is slow to make', () => {
  const made: string[] = []
  beforeEach(() => void made.splice(0))
  const make = (key: string) => async () => {
    made.push(key)
    return key.toUpperCase()
  }

  it('is made once for all who ask at the same time, and the newest few are kept', async () => {
    const kept = new NewestKept<string>(2)
    expect(await Promise.all([kept.get('a', make('a')), kept.get('a', make('a'))])).toEqual(['A', 'A'])
    await kept.get('b', make('b'))
    expect(['a', 'b'].map((key) => kept.has(key))).toEqual([true, true])
    await kept.get('c', make('c'))
    expect(['a', 'b', 'c'].map((key) => kept.has(key))).toEqual([false, true, true])
    expect(made).toEqual(['a', 'b', 'c'])
  })

  it('is asked for again after a failure, which drives nothing out', async () => {
    const kept = new NewestKept<string>(1)
    await kept.get('a', make('a'))
    const fail = async () => await Promise.reject(new Error('no file'))
    await expect(kept.get('b', fail)).rejects.toThrow('no file')
    expect([kept.has('a'), kept.has('b')]).toEqual([true, false])
    expect(await kept.get('b', make('b'))).toBe('B')
  })
})
