import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { underLease } from '../../../src/work/attempt.js'

const lease = { seconds: 1 }
const { signal } = new AbortController()
/** Stands for a process that is stopped, or that the machine gives no time. */
const stopFor = (ms: number) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)

describe('work under a lease', () => {
  test('goes on after a pause longer than the lease when nobody else took it', async () => {
    let renewals = 0
    const renew = async () => ++renewals > 0
    const work = async (leased: AbortSignal) => {
      stopFor(3_000)
      const before = renewals
      while (renewals < before + 2) await sleep(10, undefined, { signal: leased })
      return 'done'
    }
    expect(await underLease({ lease, renew, signal }, work)).toBe('done')
  })

  test('ends after a pause when another process took it, and its result does not count', async () => {
    const renew = async () => false
    const work = async (leased: AbortSignal) => {
      stopFor(3_000)
      await sleep(60_000, undefined, { signal: leased })
      return 'done'
    }
    expect(await underLease({ lease, renew, signal }, work)).toBeUndefined()
  })

  test('ends when the ledger stays out of reach, or silent, for as long as the lease', async () => {
    const renewals = [() => Promise.reject(new Error('down')), () => new Promise<boolean>(() => undefined)]
    for (const renew of renewals) {
      const work = underLease({ lease, renew, signal }, async (leased) => {
        await sleep(60_000, undefined, { signal: leased })
        return 'done'
      })
      await expect(work).rejects.toMatchObject({
        code: 'database-unavailable',
        message: 'the lease of 1 s could not be renewed in time',
      })
    }
  })
})
