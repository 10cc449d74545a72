import { readFile, writeFile } from 'node:fs/promises'
import type { Command } from 'commander'
import { getAccountId } from '../../accounts/sql/account-administration.js'
import { issueKey, noLimits, secretHash } from '../../accounts/sql/accounts.js'
import { type KeyChoice, listKeys, revokeKey } from '../../accounts/sql/api-keys.js'
import { toKeyLimits } from '../../http/api/operations/key-limits.js'
import { instantsInText } from '../../kernel/dates.js'
import { ServiceError } from '../../kernel/errors.js'
import { createSigningKey, parseSigningKey, type SigningKey } from '../../kernel/release-chain.js'
import { addCommand, type CommandLine, durationSeconds, wholeNumber } from '../command-line.js'
import type { Output } from '../output.js'
import { auditOperator } from '../wiring/audit.js'
import type { Runtime } from '../wiring/runtime.js'
import { describeEmail } from './e-mail.js'

/** `giving keys`. */
export function registerKeys(program: Command, { action, storeAction, readSecret }: CommandLine): void {
  const keys = program.command('keys').description('API keys')
  const add = (name: string, description: string) => addCommand(keys, name, description)
  add('issue', 'issue one more key, which is shown once')
    .requiredOption('--email <email>', 'e-mail address')
    .option('--scope <scope>', 'what the key may be used for: read or donate; default: both')
    .option(
      '--origin <origin...>',
      'only pages of these web origins, such as https://www.example.org, may use the key; default: any',
    )
    .option('--expires <duration>', 'how long the key is valid, such as 90d; default: for ever', durationSeconds)
    .action(storeAction([], issue))
  add('list', 'list keys, by number').option('--email <email>', 'only keys of this user').action(storeAction([], list))
  const signing = keys.command('signing').description('the key that releases are signed with')
  addCommand(
    signing,
    'create',
    'make a key for SIGNING_KEY_FILE; prints the public key that giving verify --key asks for',
  )
    .requiredOption('--file <file>', 'file to write the private key to; it must not exist')
    .option('--replace <file>', 'the current private key, which signs the new one')
    .action(
      action((output, { file, replace }: { file: string; replace?: string }) => createSigning(file, replace, output)),
    )
  add('revoke', 'revoke a key and its tokens; exit code 1 when there is no such key')
    .option('--id <number>', 'number of the key, as giving keys list shows it', wholeNumber)
    .option('--key-stdin', 'read the key itself from standard input', false)
    .hook('preAction', (command) => {
      const { id, keyStdin } = command.opts<{ id?: number; keyStdin: boolean }>()
      if (keyStdin === (id !== undefined)) command.error('error: give either --id or --key-stdin')
    })
    .action(
      storeAction([], async (runtime, output, { id }: { id?: number }) =>
        revoke(runtime, output, id === undefined ? { hash: secretHash(await readSecret()) } : { id }),
      ),
    )
}

type NewKey = {
  readonly email: string
  readonly scope?: string
  readonly origin?: readonly string[]
  readonly expires?: number
}

/** `giving keys signing create`. */
async function createSigning(file: string, replace: string | undefined, output: Output): Promise<number> {
  const replaced = replace === undefined ? undefined : await readSigningKey(replace)
  const text = createSigningKey(replaced)
  try {
    await writeFile(file, text, { mode: 0o600, flag: 'wx' })
  } catch (error) {
    throw new ServiceError('input-unusable', `the key file ${file} cannot be written, or is there already`, {
      cause: error,
    })
  }
  const { id, publicKey } = signingKeyOf(text, file)
  return output.result({ id, publicKey, file }, () => [
    `key ${id} is in ${file}; its public key:`,
    ...publicKey.trimEnd().split('\n'),
  ])
}

async function readSigningKey(file: string): Promise<SigningKey> {
  try {
    return signingKeyOf(await readFile(file, 'utf8'), file)
  } catch (error) {
    if (error instanceof ServiceError) throw error
    throw new ServiceError('input-unusable', `the key file ${file} cannot be read`, { cause: error })
  }
}

function signingKeyOf(text: string, file: string): SigningKey {
  const read = parseSigningKey(text)
  if ('value' in read) return read.value
  throw new ServiceError('input-unusable', `expected ${read.expected} in ${file}, got something else`)
}

async function issue(runtime: Runtime, output: Output, { email, scope, origin, expires }: NewKey): Promise<number> {
  const now = runtime.clock()
  const limits = {
    ...toKeyLimits({ scope, origins: origin?.join(' ') }, now),
    expiresAt: expires === undefined ? undefined : new Date(now.getTime() + expires * 1000),
  }
  const { text: apiKey } = await runtime.store.transaction(async (db) => {
    const account = await getAccountId(db, email)
    const key = await issueKey(db, account, now, limits)
    await auditOperator(runtime, db, { action: 'key-issued', subject: `key ${key.id}`, details: { account } })
    return key
  })
  return output.result({ apiKey }, () => `API key (shown only now): ${apiKey}`)
}

/** The keys of all accounts or of one, by number; their texts are not stored. */
async function list({ store }: Runtime, output: Output, { email }: { email?: string }): Promise<number> {
  const keys = (await listKeys(store.db, email)).map(instantsInText)
  return output.result(
    { keys },
    () =>
      keys.map(({ id, email, scope, origins, createdAt, expiresAt, lastUsedAt, revokedAt }) => {
        const facts = [
          `since ${createdAt}`,
          lastUsedAt === undefined ? 'never used' : `used ${lastUsedAt}`,
          ...(scope === noLimits.scope ? [] : [`for ${scope} only`]),
          ...(origins === undefined ? [] : [`for pages of ${origins}`]),
          ...(expiresAt === undefined ? [] : [`ends ${expiresAt}`]),
          ...(revokedAt === undefined ? [] : [`revoked ${revokedAt}`]),
        ]
        return `${String(id).padStart(6)} ${describeEmail(email).padEnd(40)} ${facts.join('; ')}`
      }),
    { note: keys.length === 0 && 'there is no key' },
  )
}

async function revoke(runtime: Runtime, output: Output, key: KeyChoice): Promise<number> {
  const revoked = await runtime.store.transaction(async (db) => {
    const id = await revokeKey(db, key, runtime.clock())
    if (id !== undefined) await auditOperator(runtime, db, { action: 'key-revoked', subject: `key ${id}` })
    return id !== undefined
  })
  return output.result(
    { revoked },
    () => (revoked ? 'revoked; refused everywhere within 5 s' : 'there is no such key'),
    { code: revoked ? 0 : 1 },
  )
}
