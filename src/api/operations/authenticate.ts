import { ServiceError } from '../../domain/errors.js'
import { type ApiKey, findKey, secretHash } from '../../store/accounts.js'
import type { Store } from '../../store/store.js'

/** Finds the key of a request; throws `key-missing` or `key-unknown`. */
export type Authenticate = (key: string | undefined) => Promise<ApiKey>

const rememberedMs = 5_000
const rememberedMax = 10_000

/**
 * Key checks remembered for at most 5 s (architecture 2.8), by hash and never by text. Only found keys are remembered,
 * so a new key works at once and a flood of invented ones fills nothing.
 */
export function createAuthentication(store: Store, monotonicMs: () => number = () => performance.now()): Authenticate {
  const remembered = new Map<string, { key: ApiKey; until: number }>()
  return async (text) => {
    if (text === undefined || text.trim() === '') {
      throw new ServiceError('key-missing', 'the query parameter api_key is missing')
    }
    const hash = secretHash(text)
    const name = hash.toString('base64')
    const known = remembered.get(name)
    if (known && known.until > monotonicMs()) return known.key
    const key = await findKey(store.db, hash)
    if (!key) {
      remembered.delete(name)
      throw unknownKey(text)
    }
    if (remembered.size >= rememberedMax) remembered.clear()
    remembered.set(name, { key, until: monotonicMs() + rememberedMs })
    return key
  }
}

/** The error of a key that is not registered; it shows no more of what the client sent than a key's length and a bit. */
export function unknownKey(text: string): ServiceError {
  return new ServiceError('key-unknown', `api_key ${text.trim().slice(0, 64)} is not registered`)
}
