import { describe, expect, test } from 'vitest'
import { Pace } from '../../../../src/catalogue/sync/pace.js'

const signal = new AbortController().signal

describe('the pace of requests', () => {
  test('keeps to so many at a time', async () => {
    const pace = new Pace({ concurrency: 3, perSecond: 10_000 })
    let [now, most] = [0, 0]
    const work = async () => {
      most = Math.max(most, ++now)
      await new Promise((resolve) => setTimeout(resolve, 5))
      now--
    }
    await Promise.all(Array.from({ length: 20 }, () => pace.run(work, signal)))
    expect(most).toBe(3)
  })

  // Timers may fire a millisecond early each; a pace that is not kept is off by far more.
  test('keeps to so many a second', async () => {
    const pace = new Pace({ concurrency: 10, perSecond: 100 })
    const began = performance.now()
    await Promise.all(Array.from({ length: 11 }, () => pace.run(async () => undefined, signal)))
    expect(performance.now() - began).toBeGreaterThanOrEqual(90)
  })

  test('lets nobody begin during a pause', async () => {
    const pace = new Pace({ concurrency: 10, perSecond: 10_000 })
    const began = performance.now()
    pace.pause(50)
    await pace.run(async () => undefined, signal)
    expect(performance.now() - began).toBeGreaterThanOrEqual(45)
  })

  test('goes on after a failure, and gives up waiting when aborted', async () => {
    const pace = new Pace({ concurrency: 1, perSecond: 10_000 })
    await expect(pace.run(() => Promise.reject(new Error('no')), signal)).rejects.toThrow('no')
    pace.pause(60_000)
    const stop = new AbortController()
    const waiting = pace.run(async () => 'done', stop.signal)
    stop.abort(new Error('stopped'))
    await expect(waiting).rejects.toThrow()
  })
})
