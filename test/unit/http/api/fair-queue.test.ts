import { setImmediate as turn } from 'node:timers/promises'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { createFairQueue } from '../../../../src/http/api/operations/fair-queue.js'

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
  it('leave room for others, and let accounts take turns', async () => {
    const fairly = createFairQueue({ most: 3, each: 2, waiting: 10, waitMs: 60_000 })
    const { started, work, end } = works()
    for (const name of ['a1', 'a2', 'a3', 'a4', 'b1', 'b2', 'c1']) void fairly(name.charCodeAt(0), work(name))
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
    const fairly = createFairQueue({ most: 1, each: 1, waiting: 10, waitMs: 60_000 })
    const { started, work, end } = works()
    const failed = fairly(1, work('a1'))
    const next = fairly(1, work('a2'))
    await turn()
    await Promise.all([expect(failed).rejects.toThrow('lost'), end('a1', new Error('lost'))])
    expect(started).toEqual(['a1', 'a2'])
    await end('a2')
    expect(await next).toBe('a2')
    void fairly(2, work('b1'))
    await turn()
    expect(started).toEqual(['a1', 'a2', 'b1'])
  })

  it('refuse an account more than it may wait with, and no other', async () => {
    const fairly = createFairQueue({ most: 2, each: 1, waiting: 1, waitMs: 60_000 })
    const { started, work } = works()
    void fairly(1, work('a1'))
    void fairly(1, work('a2'))
    await expect(fairly(1, work('a3'))).rejects.toMatchObject({ code: 'server-busy' })
    void fairly(2, work('b1'))
    await turn()
    expect(started).toEqual(['a1', 'b1'])
  })

  it('refuse what has waited too long when its turn comes, and continue', async () => {
    vi.useFakeTimers({ toFake: ['performance'] })
    onTestFinished(() => void vi.useRealTimers())
    const fairly = createFairQueue({ most: 1, each: 1, waiting: 10, waitMs: 500 })
    const { started, work, end } = works()
    void fairly(1, work('a1'))
    const late = fairly(1, work('a2'))
    await turn()
    vi.advanceTimersByTime(501)
    const soon = fairly(2, work('b1'))
    await Promise.all([expect(late).rejects.toMatchObject({ code: 'server-busy' }), end('a1')])
    await end('b1')
    expect(await soon).toBe('b1')
    expect(started).toEqual(['a1', 'b1'])
  })
})
