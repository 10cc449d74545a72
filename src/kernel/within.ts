import { setTimeout as sleep } from 'node:timers/promises'

/**
 * What `work` resolves or rejects with; after `ms` throws what `late` makes, and once `ended` is aborted its reason. Nobody
 * hears what becomes of the work then.
 */
export async function within<T>(ms: number, work: Promise<T>, late: () => Error, ended?: AbortSignal): Promise<T> {
  const over = new AbortController()
  const signal = ended ? AbortSignal.any([over.signal, ended]) : over.signal
  const waited = sleep(ms, undefined, { signal }).then(
    () => Promise.reject(late()),
    () => Promise.reject(ended?.reason),
  )
  for (const one of [waited, work]) one.catch(() => undefined)
  try {
    return await Promise.race([work, waited])
  } finally {
    over.abort()
  }
}
