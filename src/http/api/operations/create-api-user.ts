import { domainToASCII } from 'node:url'
import { passwordProblem } from '../../../accounts/password-strength.js'
import type { PasswordHashing } from '../../../accounts/passwords.js'
import { createAccount, issueKey } from '../../../accounts/sql/accounts.js'
import { type FieldProblem, invalidFields } from '../../../kernel/errors.js'
import type { AccessDeps } from '../deps.js'

export type NewApiUser = { readonly email: string; readonly password: string; readonly tokenTimeoutSeconds: number }

// A dot-string of RFC 5321 4.1.2 without what relays read as a route (% and !), and a domain that may have letters of any script.
const emailPattern = /^(?=.{1,64}@)[\w#$&'*+/=?^`{|}~-]+(?:\.[\w#$&'*+/=?^`{|}~-]+)*@([^\s@<>"()[\],:;\\%/?#\p{Cc}]+)$/u

// Names of hosts of two labels and more; the last one is not a number, so that no address of a machine passes.
const hostPattern = /^(?:[a-z\d](?:[a-z\d-]{0,61}[a-z\d])?\.)+(?!\d+$)[a-z\d](?:[a-z\d-]{0,61}[a-z\d])$/

/** Whether mail servers without extensions read a text as one mailbox of a domain. RFC 5321 allows 254 characters. */
export function isMailbox(text: string): boolean {
  const [, domain = ''] = (text.length <= 254 && emailPattern.exec(text)) || []
  return hostPattern.test(domainToASCII(domain))
}

/**
 * Creates an account with its first key and returns the key's text, which cannot be shown again. Throws
 * `request-invalid` naming every wrong field, or the e-mail when it is taken.
 */
export async function createApiUser(
  deps: AccessDeps,
  user: NewApiUser,
): Promise<{ accountId: number; keyId: number; apiKey: string }> {
  const { store, clock } = deps
  const account = await toNewAccount(deps.passwords, user)
  const at = clock()
  return await store.transaction(async (db) => {
    const accountId = await createAccount(db, { ...account, at })
    const key = await issueKey(db, accountId, at)
    return { accountId, keyId: key.id, apiKey: key.text }
  })
}

/** Checks and hashes a new password; throws `request-invalid` naming the field. */
export async function toPasswordHash(
  passwords: PasswordHashing,
  { email, password }: { readonly email: string; readonly password: string },
  field = 'password',
): Promise<string> {
  const problem = await passwordProblem(password, email)
  if (problem !== undefined) throw invalidFields([{ field, expected: problem }])
  return await passwords.hash(password)
}

/**
 * Checks a new account and hashes its password; throws `request-invalid` naming every wrong field, `prefix` before its name. The e-mail is not looked
 * up, so that a taken one takes the same time.
 */
export async function toNewAccount(
  passwords: PasswordHashing,
  { password, tokenTimeoutSeconds, ...user }: NewApiUser,
  prefix = '',
) {
  const email = user.email.trim()
  const problems: FieldProblem[] = []
  const refuse = (field: keyof NewApiUser, expected: string) => problems.push({ field: prefix + field, expected })
  if (!isMailbox(email)) refuse('email', 'an e-mail address')
  const passwordExpected = await passwordProblem(password, email)
  if (passwordExpected !== undefined) refuse('password', passwordExpected)
  if (!Number.isInteger(tokenTimeoutSeconds) || tokenTimeoutSeconds < 1 || tokenTimeoutSeconds > 2_147_483_647) {
    refuse('tokenTimeoutSeconds', 'a whole number of seconds from 1 to 2147483647')
  }
  if (problems.length > 0) throw invalidFields(problems)
  return { email, passwordHash: await passwords.hash(password), tokenTimeoutSeconds }
}
