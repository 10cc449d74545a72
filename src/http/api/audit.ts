import { type AuditEvent, recordAudit } from '../../accounts/sql/audit-events.js'
import type { Db } from '../../platform/database/connection.js'
import type { ApiDeps } from './deps.js'

/** Enters what a client did into the audit table and the log. */
export async function audit(
  { clock, log }: Pick<ApiDeps, 'clock' | 'log'>,
  db: Db,
  event: Omit<AuditEvent, 'at'>,
): Promise<void> {
  await recordAudit(db, { ...event, at: clock() })
  log.info(event, 'audit')
}
