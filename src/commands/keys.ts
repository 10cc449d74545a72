import type { Command } from 'commander'
import type { Environment } from '../config/config.js'
import { isoInstantOf } from '../domain/dates.js'
import { getAccountId } from '../store/access/account-administration.js'
import { issueKey, secretHash } from '../store/access/accounts.js'
import { listKeys, revokeKey } from '../store/access/api-keys.js'
import { type CommandLine, jsonOption, wholeNumber } from './command-line.js'
import { describeEmail } from './e-mail.js'
import type { Output } from './output.js'
import { openRuntime } from './wiring/runtime.js'

/** `giving keys`. */
export function registerKeys(program: Command, { environment, action, readSecret }: CommandLine): void {
  const keys = program.command('keys').description('API keys')
  const add = (name: string, description: string) =>
    keys
      .command(name)
      .description(description)
      .option(...jsonOption)
  add('issue', 'issue one more key, which is shown once')
    .requiredOption('--email <email>', 'e-mail address')
    .action(action((output, { email }: { email: string }) => issueKeyCommand(environment, email, output)))
  add('list', 'the keys by number')
    .option('--email <email>', 'e-mail address')
    .action(action((output, options: { email?: string }) => listKeysCommand(environment, options, output)))
  add('revoke', 'end a key and its tokens; exit code 1 when there is no such key')
    .option('--id <number>', 'its number in the list', wholeNumber)
    .option('--key-stdin', 'read the key itself from standard input', false)
    .action(
      action(async (output, { id, keyStdin }: { id?: number; keyStdin: boolean }) => {
        if (keyStdin === (id !== undefined)) keys.error('error: give either --id or --key-stdin')
        const choice = id === undefined ? { text: await readSecret() } : { id }
        return await revokeKeyCommand(environment, choice, output)
      }),
    )
}

/** `giving keys issue`: one more key of an account, shown once. */
export async function issueKeyCommand(environment: Environment, email: string, output: Output): Promise<number> {
  await using runtime = await openRuntime(environment)
  const { store, clock } = runtime
  const apiKey = await issueKey(store.db, await getAccountId(store.db, email), clock())
  output.result({ apiKey }, () => `API key (shown only now): ${apiKey}`)
  return 0
}

/** `giving keys list`: the keys by number, of all accounts or of one; their texts are not stored. */
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
  output.result({ keys }, () =>
    keys.map(({ id, email, createdAt, revokedAt }) => {
      const revoked = revokedAt === undefined ? '' : `; revoked ${revokedAt}`
      return `${String(id).padStart(6)} ${describeEmail(email).padEnd(40)} since ${createdAt}${revoked}`
    }),
  )
  if (!output.json && keys.length === 0) output.note('there is no key')
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
  output.result({ revoked }, () => (revoked ? 'revoked; refused everywhere within 5 s' : 'there is no such key'))
  return revoked ? 0 : 1
}
