import type { AccountSummary } from '../../../accounts/sql/account-administration.js'
import type { KeySummary } from '../../../accounts/sql/api-keys.js'
import { type Html, html } from '../../../http/pages/html.js'
import { duration, listed, shownInstant, shownState, type Value } from './frame.js'

/** The accounts of the API with what they may do, and their keys. */
export function accountsPage(accounts: readonly AccountSummary[], keys: readonly KeySummary[], now: Date): Html[] {
  return [
    html`<p class="lead">Accounts are changed by <code>giving users</code> and <code>giving keys</code>, which ask for passwords and show keys where nobody else reads them.</p>
${listed('Accounts', ['Account', 'E-mail', 'Made', 'Grants', 'State', 'Tokens live', 'Valid keys'], accounts.map(accountRow), 5)}
${listed(
  'Keys',
  ['Key', 'E-mail', 'Issued', 'Scope', 'Web origins', 'Expires', 'Last used', 'State'],
  keys.map((key) => keyRow(key, now)),
)}`,
  ]
}

function accountRow({ id, email, createdAt, grants, disabled, tokenTimeoutSeconds, keys }: AccountSummary): Value[] {
  const state = shownState(disabled ? 'disabled' : 'enabled')
  return [String(id), email, createdAt, grants.join(', ') || 'none', state, duration(tokenTimeoutSeconds), keys]
}

function keyRow(key: KeySummary, now: Date): Value[] {
  const { id, email, createdAt, scope, origins, expiresAt, lastUsedAt, revokedAt } = key
  const isOver = expiresAt !== undefined && expiresAt <= now
  const state = revokedAt
    ? html`${shownState('revoked')} ${shownInstant(revokedAt)}`
    : shownState(isOver ? 'expired' : 'valid')
  return [String(id), email, createdAt, scope, origins ?? 'any', expiresAt ?? 'never', lastUsedAt, state]
}
