import { type AuditEvent, auditActions } from '../../../accounts/sql/audit-events.js'
import { type Html, html } from '../../portal/html.js'
import { choiceField, filterForm, listed, shownInstant } from './frame.js'

type Audit = {
  /** Oldest first. */
  readonly events: readonly AuditEvent[]
  readonly action: string | undefined
  readonly words: string
  readonly days: number
  /** How many are shown at most. */
  readonly most: number
}

/** Who did what, from where, newest first. */
export function auditPage({ events, action, words, days, most }: Audit): Html[] {
  const search = html`<div><label for="words">Who, from where or what</label><input id="words" name="words" value="${words}" size="24"></div>\n`
  return [
    html`<p class="lead">What was done in the last ${String(days)} days${events.length === most ? `, the newest ${most}` : undefined}. <code>giving audit</code> has all of it.</p>
${filterForm('/audit', [choiceField('action', 'Action', Object.keys(auditActions), action), search])}
${listed('Events, newest first', ['At', 'Action', 'Who', 'From', 'What', 'Details'], events.toReversed().map(row))}`,
  ]
}

function row({ at, action, refused, actor, origin, subject, details = {} }: AuditEvent): Html {
  const more = Object.entries(details).map(([name, value]) => `${name} ${value}`)
  return html`<tr><td>${shownInstant(at)}</td><th scope="row">${action}${refused ? ', refused' : undefined}</th><td>${actor}</td><td>${origin}</td><td>${subject ?? '–'}</td><td>${more.join(', ')}</td></tr>
`
}
