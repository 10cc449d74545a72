import { ServiceError } from '../src/domain/errors.js'

/** `superseded`: the attempt was taken over or has ended; whatever was done for it is void. */
export type LeasedWork<T> = { readonly kind: 'done'; readonly value: T } | { readonly kind: 'superseded' }

type LeasedOptions = {
  /** Extends the lease; false when it is lost. */
  readonly renew: () => Promise<boolean>
  readonly seconds: number
  readonly signal: AbortSignal
}

/**
 * Does `work` while keeping its lease up, every second or third of it. The work is aborted when the lease is lost,
 * when the ledger could not be reached for the lease's length (`database-unavailable`), or when `signal` is (`aborted`).
 */
export async function underLease<T>(
  { renew, seconds, signal }: LeasedOptions,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<LeasedWork<T>> {
  const lost = new AbortController()
  let superseded = false
  let renewing = false
  let renewedAt = performance.now()
  const beat = async () => {
    if (lost.signal.aborted) return
    if (performance.now() - renewedAt > seconds * 1000) {
      lost.abort(new ServiceError('database-unavailable', `the lease of ${seconds} s could not be renewed in time`))
      return
    }
    if (renewing) return
    renewing = true
    const began = performance.now()
    try {
      if (await renew()) renewedAt = began
      else {
        superseded = true
        lost.abort(new ServiceError('run-superseded', 'another worker has taken this run over'))
      }
    } catch {
      // Unreachable for the moment; the lease's length decides when that is too long.
    } finally {
      renewing = false
    }
  }
  const timer = setInterval(() => void beat(), Math.min(1000, (seconds * 1000) / 3))
  try {
    const value = await work(AbortSignal.any([signal, lost.signal]))
    return superseded ? { kind: 'superseded' } : { kind: 'done', value }
  } catch (error) {
    if (superseded) return { kind: 'superseded' }
    if (signal.aborted) throw new ServiceError('aborted', 'the work was interrupted by a shutdown', { cause: error })
    throw lost.signal.aborted ? lost.signal.reason : error
  } finally {
    clearInterval(timer)
  }
}
