import { type FieldProblem, ServiceError } from '../../domain/errors.js'
import { createAccount, issueKey } from '../../store/accounts.js'
import type { ApiDeps } from '../deps.js'

export type NewApiUser = { readonly email: string; readonly password: string; readonly tokenTimeoutSeconds: number }

export const minimumPasswordLength = 12

// One mailbox in the shape that everybody means: something, an at sign, a domain with a dot; 254 is the limit of RFC 5321.
const emailPattern = /^[^\s@<>"\p{Cc}]{1,64}@[^\s@<>"\p{Cc}.]+(\.[^\s@<>"\p{Cc}.]+)+$/u

/**
 * Creates an account with its first key and returns the key's text, which cannot be shown again. Throws
 * `request-invalid` naming every wrong field, or the e-mail when it is taken.
 */
export async function createApiUser(
  { store, passwords, clock }: Pick<ApiDeps, 'store' | 'passwords' | 'clock'>,
  { email, password, tokenTimeoutSeconds }: NewApiUser,
): Promise<{ apiKey: string }> {
  const address = email.trim()
  const problems = problemsOf({ email: address, password, tokenTimeoutSeconds })
  if (problems.length > 0) {
    const message = problems.map(({ field, expected }) => `${field}: expected ${expected}`).join('; ')
    throw new ServiceError('request-invalid', message, { problems })
  }
  const passwordHash = await passwords.hash(password)
  const at = clock()
  const apiKey = await store.transaction(async (db) =>
    issueKey(db, await createAccount(db, { email: address, passwordHash, tokenTimeoutSeconds, at }), at),
  )
  return { apiKey }
}

function problemsOf({ email, password, tokenTimeoutSeconds }: NewApiUser): FieldProblem[] {
  const problems: FieldProblem[] = []
  if (email.length > 254 || !emailPattern.test(email)) problems.push({ field: 'email', expected: 'an e-mail address' })
  if ([...password].length < minimumPasswordLength) {
    problems.push({ field: 'password', expected: `at least ${minimumPasswordLength} characters` })
  }
  if (!Number.isInteger(tokenTimeoutSeconds) || tokenTimeoutSeconds < 1 || tokenTimeoutSeconds > 2_147_483_647) {
    problems.push({ field: 'tokenTimeoutSeconds', expected: 'a whole number of seconds, at least 1' })
  }
  return problems
}
