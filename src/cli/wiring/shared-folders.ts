import { setTimeout as sleep } from 'node:timers/promises'
import { ofExtensions } from '../../extensions.js'
import { ServiceError } from '../../kernel/errors.js'
import { messageOf } from '../../kernel/system-errors.js'
import { forgetBucketState } from '../../release/bucket-state.js'
import type { Delivery } from '../extension.js'
import type { Runtime } from './runtime.js'

// A machine serves within this time what another one has published.
const followMs = 2_000

/** How files get to the bucket that is configured, and from it; undefined where none is. */
export async function deliveryOf(runtime: Runtime, waiting?: 'person'): Promise<Delivery | undefined> {
  if (runtime.config.bucket === undefined) return undefined
  const [open] = ofExtensions('openDelivery')
  if (open) return await open(runtime, waiting)
  throw new ServiceError('configuration-invalid', 'FEEDS_S3_BUCKET: this service is without buckets')
}

/** Brings what the bucket says once, for a command. */
export async function followOnce(runtime: Runtime): Promise<void> {
  await (await deliveryOf(runtime, 'person'))?.shared?.releases.follow()
}

/**
 * Shares what was seen of the database with the other machines, for a command; returns why that cannot be done, undefined where it was
 * or where machines have nothing but their folder.
 */
export async function shareSeenOnce(runtime: Runtime): Promise<string | undefined> {
  try {
    await (await deliveryOf(runtime, 'person'))?.shared?.shareSeen()
    return undefined
  } catch (error) {
    return `what other machines have seen of the database is not known: ${messageOf(error)}`
  }
}

/**
 * Keeps the folder of this process as the state in the bucket says, and shares what was seen of the database, until the runtime is
 * closed; `first` resolves after the first try. While the bucket is away the folder stays as it is.
 */
export async function keepFollowing(runtime: Runtime): Promise<{ readonly first: Promise<void> }> {
  const shared = (await deliveryOf(runtime))?.shared
  if (!shared) return { first: Promise.resolve() }
  const folders = [shared.releases, ...ofExtensions('beside').map(({ name }) => shared.beside(name))]
  const { log } = runtime
  const stop = new AbortController()
  const signal = AbortSignal.any([runtime.signal, stop.signal])
  let failure: string | undefined
  const follow = async () => {
    try {
      await shared.shareSeen()
      for (const folder of folders) await folder.follow()
      if (failure !== undefined) log.info('the folder follows the bucket again')
      failure = undefined
    } catch (err) {
      if (signal.aborted || messageOf(err) === failure) return
      failure = messageOf(err)
      log.warn({ err }, 'the folder does not follow the bucket: it stays as it is, and this is tried again')
    }
  }
  const first = follow()
  const ended = first.then(async () => {
    while (!signal.aborted) {
      await sleep(followMs, undefined, { signal }).catch(() => undefined)
      if (!signal.aborted) await follow()
    }
  })
  runtime.defer(async () => {
    stop.abort()
    await ended
  })
  return { first }
}

/** How the live release is delivered to the bucket; undefined when none is configured: then no earlier failure is reported. */
export async function openDelivery(runtime: Runtime): Promise<Delivery['deliver'] | undefined> {
  const delivery = await deliveryOf(runtime)
  if (!delivery) await forgetBucketState(runtime.store.db)
  return delivery?.deliver
}
