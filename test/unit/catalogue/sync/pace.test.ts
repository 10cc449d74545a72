import { describe, expect, test } from 'vitest'
import { Pace } from '../../../../src/catalogue/sync/pace.js'
import { passingTime } from '../../../support/values/passing-time.js'

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

  test('keeps to so many a second', async () => {
    const time = passingTime()
    const pace = new Pace({ concurrency: 1, perSecond: 100 }, time)
    const started: number[] = []
    await Promise.all(Array.from({ length: 5 }, () => pace.run(async () => started.push(time.now()), signal)))
    expect(started).toEqual([0, 10, 20, 30, 40])
  })

  test('lets nobody begin during a pause, which a shorter one does not end', async () => {
    const time = passingTime()
    const pace = new Pace({ concurrency: 10, perSecond: 10_000 }, time)
    pace.pause(50)
    pace.pause(20)
    await pace.run(async () => undefined, signal)
    expect(time.now()).toBe(50)
  })

  test('lets nobody begin during a pause that was asked for while it waited for its slot', async () => {
    const time = passingTime()
    const pace = new Pace({ concurrency: 1, perSecond: 100 }, time)
    await pace.run(async () => pace.pause(3000), signal)
    await pace.run(async () => undefined, signal)
    expect(time.now()).toBe(3000)
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
