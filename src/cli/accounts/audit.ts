import type { Command } from 'commander'
import { type AuditEvent, listAudit } from '../../accounts/sql/audit-events.js'
import { instantsInText, isoInstantOf, parseWireDateTime } from '../../kernel/dates.js'
import { addCommand, argument, type CommandLine, parseDuration } from '../command-line.js'
import type { Output } from '../output.js'
import type { Runtime } from '../wiring/runtime.js'

/** `giving audit`. */
export function registerAudit(program: Command, { storeAction }: CommandLine): void {
  addCommand(program, 'audit', 'show who did what, from where: sign-ins, keys, grants, refunds, approvals')
    .option('--since <when>', 'an instant, or a duration back from now such as 12h; default: 30d', parseSince)
    .action(storeAction([], list))
}

const lastMonth = { seconds: 30 * 86_400 }

type Since = { readonly at: Date } | { readonly seconds: number }

const parseSince = argument<Since>(
  'an instant such as 2026-11-21T09:00:00Z, or a duration such as 12h or 7d',
  (raw) => {
    const [at, seconds] = [parseWireDateTime(raw), parseDuration(raw)]
    if (at) return { at }
    return seconds === undefined ? undefined : { seconds }
  },
)

const mostEvents = 10_000

/** The events since then, oldest first; at most the newest 10,000. */
async function list(
  { store, clock }: Runtime,
  output: Output,
  { since = lastMonth }: { since?: Since },
): Promise<number> {
  const from = 'at' in since ? since.at : new Date(clock().getTime() - since.seconds * 1000)
  const events = await listAudit(store.db, { since: from, limit: mostEvents })
  output.result({ events: events.map(instantsInText) }, () => events.map(describe))
  if (!output.json && events.length === 0) output.note(`nothing has happened since ${isoInstantOf(from)}`)
  if (events.length === mostEvents) output.note(`only the newest ${mostEvents} events are shown`)
  return 0
}

function describe({ at, action, refused, actor, origin, subject, details = {} }: AuditEvent): string {
  const extra = Object.entries(details).map(([name, value]) => `, ${name} ${value}`)
  const what = `${action}${refused ? ' refused' : ''}`
  return `${isoInstantOf(at)} ${what.padEnd(22)} ${actor} from ${origin}${subject ? `: ${subject}` : ''}${extra.join('')}`
}
