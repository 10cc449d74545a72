import { type KeyLimits, noLimits, type Scope } from '../../../accounts/sql/accounts.js'
import { parseWireDateTime } from '../../../kernel/dates.js'
import { type FieldProblem, invalidFields } from '../../../kernel/errors.js'

/** The limits of a new key as they are asked for, each a text. */
export type AskedLimits = {
  readonly scope?: string | undefined
  /** Web origins, separated by blanks. */
  readonly origins?: string | undefined
  /** An instant of RFC 3339. */
  readonly expires_at?: string | undefined
}

const scopes = new Map<string, Scope>([
  ['read', 'read'],
  ['donate', 'donate'],
  ['read donate', 'read donate'],
  ['donate read', 'read donate'],
])

/**
 * The limits of a new key; a key for web pages is for reads. Throws `request-invalid` naming each field, `prefix` before
 * its name, that cannot be used.
 */
export function toKeyLimits(asked: AskedLimits, now: Date, prefix = ''): KeyLimits {
  const problems: FieldProblem[] = []
  const refuse = (field: keyof AskedLimits, expected: string) => problems.push({ field: prefix + field, expected })
  const origins = asked.origins?.trim().split(/\s+/)
  const scope = asked.scope === undefined ? undefined : scopes.get(asked.scope.trim().replace(/\s+/g, ' '))
  if (asked.scope !== undefined && scope === undefined) refuse('scope', 'read, donate, or both separated by a blank')
  if (origins && scope !== undefined && scope !== 'read') refuse('scope', 'read, since the key has origins')
  if (origins && !origins.every(isWebOrigin)) {
    refuse('origins', 'web origins such as https://www.example.org, separated by blanks')
  }
  const expiresAt = asked.expires_at === undefined ? undefined : parseWireDateTime(asked.expires_at.trim())
  if (asked.expires_at !== undefined && !(expiresAt && expiresAt > now)) {
    refuse('expires_at', 'an instant in the future such as 2027-06-30T00:00:00Z')
  }
  if (problems.length > 0) throw invalidFields(problems)
  return { scope: scope ?? (origins ? 'read' : noLimits.scope), origins: origins?.join(' '), expiresAt }
}

/** Whether a browser writes an origin like this into the header `Origin`. */
function isWebOrigin(text: string): boolean {
  return /^https?:/.test(text) && URL.canParse(text) && new URL(text).origin === text
}
