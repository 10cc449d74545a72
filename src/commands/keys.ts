import type { Environment } from '../config/config.js'
import { isoInstantOf } from '../domain/dates.js'
import { getAccountId } from '../store/access/account-administration.js'
import { issueKey, secretHash } from '../store/access/accounts.js'
import { listKeys, revokeKey } from '../store/access/api-keys.js'
import type { Output } from './output.js'
import { openRuntime } from './runtime.js'

/** `giving keys issue`: one more key of an account, shown once. */
export async function issueKeyCommand(environment: Environment, email: string, output: Output): Promise<number> {
  await using runtime = await openRuntime(environment)
  const { store, clock } = runtime
  const apiKey = await issueKey(store.db, await getAccountId(store.db, email), clock())
  output.line(output.json ? JSON.stringify({ apiKey }) : `API key (shown only now): ${apiKey}`)
  return 0
}

/** `giving keys list`: the keys by number, of all accounts or of one; their texts are nowhere stored. */
export async function listKeysCommand(
  environment: Environment,
  { email }: { readonly email?: string },
  output: Output,
): Promise<number> {
  await using runtime = await openRuntime(environment)
  const keys = (await listKeys(runtime.store.db, email)).map(({ createdAt, revokedAt, ...key }) => ({
    ...key,
    createdAt: isoInstantOf(createdAt),
    ...(revokedAt && { revokedAt: isoInstantOf(revokedAt) }),
  }))
  if (output.json) output.line(JSON.stringify({ keys }))
  else {
    for (const key of keys) {
      const revoked = key.revokedAt === undefined ? '' : `; revoked ${key.revokedAt}`
      output.line(`${String(key.id).padStart(6)} ${key.email.padEnd(40)} since ${key.createdAt}${revoked}`)
    }
    if (keys.length === 0) output.note('there is no key')
  }
  return 0
}

/** `giving keys revoke`: by its number or its text; exit code 1 when there is no such key. */
export async function revokeKeyCommand(
  environment: Environment,
  choice: { readonly id: number } | { readonly text: string },
  output: Output,
): Promise<number> {
  await using runtime = await openRuntime(environment)
  const chosen = 'id' in choice ? choice : { hash: secretHash(choice.text) }
  const revoked = await revokeKey(runtime.store.db, chosen, runtime.clock())
  if (output.json) output.line(JSON.stringify({ revoked }))
  else output.line(revoked ? 'revoked; refused everywhere within 5 s' : 'there is no such key')
  return revoked ? 0 : 1
}
