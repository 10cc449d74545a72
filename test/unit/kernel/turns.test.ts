import { setImmediate as nextTurn } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { Turns } from '../../../src/kernel/turns.js'

describe('turns of clients', () => {
  it('gives one of each client its turn before the second of any', async () => {
    const turns = new Turns(1)
    const done: string[] = []
    const ask = (client: string, work: string) => turns.take(client, () => void done.push(work))
    await Promise.all([ask('busy', 'b1'), ask('busy', 'b2'), ask('busy', 'b3'), ask('other', 'o1'), ask('third', 't1')])
    expect(done).toEqual(['b1', 'o1', 't1', 'b2', 'b3'])
  })

  it('starts one job in a turn of the event loop, and as many together as it is told', async () => {
    const turns = new Turns(2)
    let started = 0
    let end = (): void => undefined
    const held = new Promise<void>((resolve) => {
      end = resolve
    })
    const jobs = ['a', 'b', 'c'].map((client) =>
      turns.take(client, async () => {
        started++
        await held
      }),
    )
    const counts: number[] = []
    for (let turn = 0; turn < 4; turn++) {
      counts.push(started)
      await nextTurn()
    }
    expect(counts.every((count, at) => at === 0 || count - (counts[at - 1] ?? 0) <= 1)).toBe(true)
    expect(started).toBe(2)
    end()
    await Promise.all(jobs)
    expect(started).toBe(3)
  })

  it('goes on after work that fails', async () => {
    const turns = new Turns(1)
    const failed = turns.take('a', () => Promise.reject(new Error('no')))
    const worked = turns.take('a', () => 7)
    await expect(failed).rejects.toThrow('no')
    expect(await worked).toBe(7)
  })
})
