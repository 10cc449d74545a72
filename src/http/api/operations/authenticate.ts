import type { Grant } from '../../../accounts/sql/account-administration.js'
import { type ApiKey, findKey, recordKeyUse, secretDigest } from '../../../accounts/sql/accounts.js'
import { type Caller, findCaller, recordTokenUse } from '../../../accounts/sql/callers.js'
import { ServiceError } from '../../../kernel/errors.js'
import type { AccessDeps, ApiConfig } from '../deps.js'

/** Finds the key of a request; throws `key-missing` or `key-unknown`. */
export type Authenticate = (key: string | undefined) => Promise<ApiKey>

const rememberedMs = 5_000
const rememberedMax = 10_000

/**
 * Checks keys, and remembers found ones by their hash for at most 5 s (architecture.md 2.8). Unknown keys are not
 * remembered, so that a new key works at once and a flood of invented ones fills nothing.
 */
export function createAuthentication(
  { store, clock }: Pick<AccessDeps, 'store' | 'clock'>,
  monotonicMs: () => number = () => performance.now(),
): Authenticate {
  const remembered = new Map<string, { key: ApiKey; until: number }>()
  return async (text) => {
    if (isAbsent(text)) throw missingSecret('key-missing', 'api_key', 'X-Api-Key')
    const name = secretDigest(text)
    const known = remembered.get(name)
    if (known && known.until > monotonicMs()) return known.key
    const key = await findKey(store.db, Buffer.from(name, 'base64'), clock())
    if (!key) {
      remembered.delete(name)
      throw unknownKey(text)
    }
    await recordKeyUse(store.db, key, clock())
    if (remembered.size >= rememberedMax) remembered.clear()
    remembered.set(name, { key, until: monotonicMs() + rememberedMs })
    return key
  }
}

/** The error of a key that is not registered, named as the client sent it, cut at 64 characters (wire.md 2.2). */
export function unknownKey(text: string): ServiceError {
  return new ServiceError('key-unknown', `api_key ${text.trim().slice(0, 64)} is not registered`)
}

/** Throws `key-restricted` unless the key may be used for this. */
export function requireScope({ scope }: Pick<ApiKey, 'scope'>, needed: 'read' | 'donate'): void {
  if (scope.includes(needed)) return
  const what = needed === 'read' ? 'reads' : 'tokens and secure operations'
  throw new ServiceError('key-restricted', `this api_key is not for ${what}`)
}

/**
 * Who makes a secure request (wire.md 1.3). Never remembered, so that a token that was signed out or a grant that was
 * withdrawn ends at once. `identified` gets the caller before token and grant are checked. Throws `key-missing`,
 * `token-missing`, `key-unknown`, `key-restricted`, `token-unknown` or `grant-missing`.
 */
export async function authenticateSecure(
  { store, clock, config }: AccessDeps & { readonly config: Pick<ApiConfig, 'tokenIdleSeconds'> },
  { apiKey, token }: { readonly apiKey: string | undefined; readonly token: string | undefined },
  grant: Grant,
  identified: (caller: Caller) => void,
): Promise<Caller> {
  if (isAbsent(apiKey)) throw missingSecret('key-missing', 'api_key', 'X-Api-Key')
  if (isAbsent(token)) throw missingSecret('token-missing', 'api_token', 'Authorization: Bearer')
  const idleMs = config.tokenIdleSeconds && config.tokenIdleSeconds * 1000
  const found = await findCaller(store.db, { apiKey, token, at: clock(), idleMs })
  if (!found) throw unknownKey(apiKey)
  identified(found.caller)
  requireScope(found.caller, 'donate')
  await recordKeyUse(store.db, { ...found.caller, id: found.caller.keyId }, clock())
  if (!found.tokenValid) {
    throw new ServiceError('token-unknown', 'the api_token is not valid for this api_key: get a new one')
  }
  if (idleMs !== undefined) await recordTokenUse(store.db, token, clock())
  if (!found.caller.grants.includes(grant)) {
    const message = `this account has not been granted ${grant}: ask the operator, who gives it with giving users grant (docs/tutorial/donate.md)`
    throw new ServiceError('grant-missing', message)
  }
  return found.caller
}

function missingSecret(code: 'key-missing' | 'token-missing', field: string, header: string): ServiceError {
  const problems = [{ field, expected: 'a text', missing: true }]
  return new ServiceError(code, `the query parameter ${field} or the header ${header} is missing`, { problems })
}

function isAbsent(text: string | undefined): text is undefined | '' {
  return text === undefined || text.trim() === ''
}
