import { setImmediate as turn } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { createFairTurns } from '../../../src/api/operations/fair-turns.js'

/** Works that run until they are ended, in the order in which they started. */
function works() {
  const started: string[] = []
  const ends = new Map<string, (failure?: Error) => void>()
  const work = (name: string) => () =>
    new Promise<string>((resolve, reject) => {
      started.push(name)
      ends.set(name, (failure) => (failure ? reject(failure) : resolve(name)))
    })
  const end = async (name: string, failure?: Error) => {
    ends.get(name)?.(failure)
    await turn()
  }
  return { started, work, end }
}

describe('fair turns', () => {
  it('leave room for others, and let clients take turns', async () => {
    const inTurn = createFairTurns({ most: 3, each: 2, waiting: 10 })
    const { started, work, end } = works()
    for (const name of ['a1', 'a2', 'a3', 'a4', 'b1', 'b2', 'c1']) void inTurn(name[0] ?? '', work(name))
    await turn()
    expect(started).toEqual(['a1', 'a2', 'b1'])
    await end('a1')
    await end('a2')
    await end('b1')
    expect(started.slice(3)).toEqual(['a3', 'b2', 'c1'])
    await end('b2')
    expect(started.slice(6)).toEqual(['a4'])
  })

  it('continue after a failure, with all places', async () => {
    const inTurn = createFairTurns({ most: 1, each: 1, waiting: 10 })
    const { started, work, end } = works()
    const failed = inTurn('a', work('a1'))
    const next = inTurn('a', work('a2'))
    await turn()
    await Promise.all([expect(failed).rejects.toThrow('lost'), end('a1', new Error('lost'))])
    expect(started).toEqual(['a1', 'a2'])
    await end('a2')
    expect(await next).toBe('a2')
    void inTurn('b', work('b1'))
    await turn()
    expect(started).toEqual(['a1', 'a2', 'b1'])
  })

  it('refuse a client more than it may wait with, and no other', async () => {
    const inTurn = createFairTurns({ most: 2, each: 1, waiting: 1 })
    const { started, work } = works()
    void inTurn('a', work('a1'))
    void inTurn('a', work('a2'))
    await expect(inTurn('a', work('a3'))).rejects.toMatchObject({ code: 'server-busy' })
    void inTurn('b', work('b1'))
    await turn()
    expect(started).toEqual(['a1', 'b1'])
  })
})
