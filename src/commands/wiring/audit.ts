import { hostname, userInfo } from 'node:os'
import { type AuditEvent, recordAudit } from '../../store/audit/audit-events.js'
import type { Db } from '../../store/database/connection.js'
import type { Runtime } from './runtime.js'

/** Enters what the operator did with a command into the audit table, in the transaction that did it where there is one. */
export async function auditOperator(
  { clock }: Pick<Runtime, 'clock'>,
  db: Db,
  event: Pick<AuditEvent, 'action' | 'subject' | 'details'>,
): Promise<void> {
  await recordAudit(db, { ...event, at: clock(), actor: `operator ${userName()}`, origin: hostname() })
}

/** Containers may run as a user without a name. */
function userName(): string {
  try {
    return userInfo().username
  } catch {
    return String(process.getuid?.() ?? 'unknown')
  }
}
