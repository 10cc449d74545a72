import { ofExtensions } from '../src/extensions.js'
import { alarms } from './alarms.js'
import { backups } from './backups.js'
import { donors } from './donors.js'
import { accountMail, receipts } from './mails.js'
import { pruning } from './pruning.js'
import { publication } from './publication.js'
import { reconciliation } from './reconciliation.js'
import { settlement } from './settlement.js'
import { sync } from './sync.js'
import { webhooks } from './webhooks.js'
import type { Work } from './work-row.js'

/** All scheduled work, that of extensions too. Queues, their counts, schedulers, the watchdog and shutdown follow from this table. */
export const work: readonly Work[] = [
  // In this order they are started and shown.
  publication,
  sync,
  settlement,
  webhooks,
  donors,
  receipts,
  accountMail,
  reconciliation,
  alarms,
  backups,
  ...ofExtensions('work'),
  pruning,
]

/** The queues of these rows, each once. */
export function queueNames(rows: readonly { readonly queues: object }[]): string[] {
  return [...new Set(rows.flatMap(({ queues }) => Object.keys(queues)))]
}
