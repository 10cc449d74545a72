import { describe, expect, it } from 'vitest'
import { Downloads } from '../../../../src/http/api/downloads.js'
import { MinuteCounter } from '../../../../src/http/api/minute-counter.js'
import { testConfig } from '../../../support/api/api-config.js'

describe('a counter of minutes', () => {
  it('lets so many of each name through in a minute, and says how long the next must wait', () => {
    const counter = new MinuteCounter(2)
    expect([0, 0, 0].map(() => counter.add('a', 1_000))).toEqual([0, 0, 60])
    expect(counter.add('b', 1_000)).toBe(0)
    expect(counter.add('a', 60_500)).toBe(1)
    expect(counter.add('a', 61_000)).toBe(0)
  })

  it('lets everything through without a limit', () => {
    const counter = new MinuteCounter(0)
    expect([0, 0, 0].map(() => counter.add('a', 0))).toEqual([0, 0, 0])
  })
})

describe('the rate of downloads', () => {
  const downloads = (downloadBytesPerSecond: number) =>
    new Downloads({ ...testConfig, limits: { ...testConfig.limits, downloadBytesPerSecond } })

  it('delays a client that has taken more than its rate, until it may have it', () => {
    const download = downloads(1_000).begin('192.0.2.1', 0)
    expect(download.delayMs(1_000, 0)).toBe(0)
    expect(download.delayMs(500, 0)).toBe(500)
    expect(download.delayMs(500, 500)).toBe(500)
    expect(download.delayMs(500, 2_000)).toBe(0)
  })

  it('is shared by all downloads of a client, also one after the other, and by nobody else', () => {
    const all = downloads(1_000)
    const [first, second] = [all.begin('2001:db8::1', 0), all.begin('2001:db8::2', 0)]
    expect(first.delayMs(1_000, 0)).toBe(0)
    expect(second.delayMs(1_000, 0)).toBe(1_000)
    first.end()
    second.end()
    expect(all.begin('2001:db8::3', 0).delayMs(1, 0)).toBe(1_001)
    expect(all.begin('192.0.2.2', 0).delayMs(1_000, 0)).toBe(0)
  })

  it('is remembered while a download runs, however many others come and go', () => {
    const all = downloads(1_000)
    expect(all.begin('192.0.2.1', 0).delayMs(1_000, 0)).toBe(0)
    for (let other = 0; other < 1_001; other++) all.begin(`10.0.${other >> 8}.${other % 256}`, 0).end()
    expect(all.begin('192.0.2.1', 0).delayMs(500, 0)).toBe(500)
  })

  it('has no limit unless there is one', () => {
    expect(downloads(0).begin('192.0.2.1', 0).delayMs(1e12, 0)).toBe(0)
  })
})
