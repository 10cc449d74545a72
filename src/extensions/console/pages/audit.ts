import { type AuditEvent, auditActions } from '../../../accounts/sql/audit-events.js'
import { type Html, html } from '../../../http/pages/html.js'
import { choiceField, dayFields, filterForm, listed, shownState, type Value } from './frame.js'

type Audit = {
  /** Oldest first. */
  readonly events: readonly AuditEvent[]
  readonly action: string | undefined
  readonly words: string
  readonly days: number
  /** The first and the last day that a person asked for; '' is no limit. */
  readonly since: string
  readonly until: string
  /** How many are shown at most. */
  readonly most: number
}

/** Who did what, from where, newest first. */
export function auditPage({ events, action, words, days, since, until, most }: Audit): Html[] {
  const search = html`<div><label for="words">Who, from where or what</label><input id="words" name="words" value="${words}" size="24"></div>\n`
  return [
    html`<p class="lead">What was done${since === '' ? ` in the last ${days} days` : ''}${events.length === most ? `, the newest ${most}` : undefined}. <code>giving audit</code> has all of it.</p>
${filterForm('/audit', [choiceField('action', 'Action', Object.keys(auditActions), action), search, dayFields(since, until)])}
${listed('Events, newest first', ['At', 'Action', 'Who', 'From', 'What', 'Details'], events.toReversed().map(row))}`,
  ]
}

function row({ at, action, refused, actor, origin, subject, details = {} }: AuditEvent): Value[] {
  const more = Object.entries(details).map(([name, value]) => `${name} ${value}`)
  const what = refused ? html`${action}, ${shownState('refused')}` : action
  return [at, what, actor, origin, subject, more.join(', ')]
}
