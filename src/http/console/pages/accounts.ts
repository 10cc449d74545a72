import type { AccountSummary } from '../../../accounts/sql/account-administration.js'
import type { KeySummary } from '../../../accounts/sql/api-keys.js'
import { type Html, html } from '../../portal/html.js'
import { duration, listed, shownInstant } from './frame.js'

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

function accountRow({ id, email, createdAt, grants, disabled, tokenTimeoutSeconds, keys }: AccountSummary): Html {
  return html`<tr><th scope="row">${String(id)}</th><td>${email}</td><td>${shownInstant(createdAt)}</td><td>${grants.join(', ') || 'none'}</td><td>${disabled ? 'disabled' : 'enabled'}</td><td class="number">${duration(tokenTimeoutSeconds)}</td><td class="number">${keys}</td></tr>
`
}

function keyRow(key: KeySummary, now: Date): Html {
  const { id, email, createdAt, scope, origins, expiresAt, lastUsedAt, revokedAt } = key
  const isOver = expiresAt !== undefined && expiresAt <= now
  return html`<tr><th scope="row">${String(id)}</th><td>${email}</td><td>${shownInstant(createdAt)}</td><td>${scope}</td><td>${origins ?? 'any'}</td><td>${expiresAt ? shownInstant(expiresAt) : 'never'}</td><td>${shownInstant(lastUsedAt)}</td><td>${revokedAt ? html`revoked ${shownInstant(revokedAt)}` : isOver ? 'expired' : 'valid'}</td></tr>
`
}
