import { hostname, userInfo } from 'node:os'
import { type AuditEvent, type Operator, recordAudit } from '../../accounts/sql/audit-events.js'
import type { Db } from '../../platform/database/connection.js'
import type { Runtime } from './runtime.js'

type Entered = Pick<AuditEvent, 'action' | 'subject' | 'details' | 'refused'>

/** Does something, and enters it, in one transaction. */
export async function audited<T>(
  runtime: Pick<Runtime, 'store' | 'clock'>,
  event: Entered,
  work: (db: Db) => Promise<T>,
  operator?: Operator,
): Promise<T> {
  return await runtime.store.transaction(async (db) => {
    const done = await work(db)
    await auditOperator(runtime, db, event, operator)
    return done
  })
}

/** Enters what an operator did into the audit table, in the transaction that did it where there is one. */
export async function auditOperator(
  { clock }: Pick<Runtime, 'clock'>,
  db: Db,
  event: Entered,
  { comment, ...operator }: Operator = userOfProcess(),
): Promise<void> {
  const details = { ...event.details, ...(comment !== undefined && { comment }) }
  await recordAudit(db, { ...event, ...operator, details, at: clock() })
}

/** Who runs a command. */
export function userOfProcess(): Operator {
  return { actor: `operator ${userName()}`, origin: hostname() }
}

/** Containers may run as a user without a name. */
function userName(): string {
  try {
    return userInfo().username
  } catch {
    return String(process.getuid?.() ?? 'unknown')
  }
}
