import type { Db } from '../../platform/database/connection.js'

/** What is entered into the audit table; docs/reference/audit.md lists the same actions. */
export const auditActions = {
  'account-created': 'an account was made',
  'account-disabled': 'an account was disabled; its tokens ended',
  'account-enabled': 'a disabled account was enabled',
  'password-changed':
    'an account got a new password; its tokens ended, and its keys if asked for (`revokedKeys`: how many)',
  'reset-code-issued': 'the operator made a code for a new password',
  'invitation-issued': 'the operator invited somebody to make an account',
  'token-timeout-changed': 'new tokens of an account live longer or shorter',
  'sign-in': 'an account asked for a token with its password; `refused`: the credentials were wrong',
  'sign-out': 'a token was ended',
  'key-issued': 'an account got a key',
  'key-revoked': 'a key and its tokens were ended',
  'grant-given': 'an account may do more than read',
  'grant-withdrawn': 'a grant was taken back',
  'difference-accepted': 'a difference between a donation and its charge at the processor was taken as dealt with',
  'charge-compared': 'a donation was compared with its charge at the processor (`found`)',
  'donation-refunded': 'a donation was given back, whole or in part; `refused`: the processor gave nothing back',
  'donation-charged-back': 'a chargeback of the processor was booked',
  'differences-accepted': "an operator accepted that a day's payments at the processor differ from the books",
  'charges-adopted': 'charges that the processor knew and the books had lost were entered again',
  'plan-ended': 'a regular gift was ended by the operator',
  'receipt-requeued': 'the receipt of a donation is mailed, again if it was before',
  'donor-erased': 'a person was erased from donations',
  'donor-disclosed': 'what is known of a person was shown or exported',
  'statements-queued': 'statements of a year are mailed to donors (`year`, `statements`)',
  'donors-rekeyed': 'donors were encrypted with another key',
  'publication-requested': 'a publication was asked for by hand',
  'run-cancelled': 'a publication run was cancelled',
  'alarm-tested': 'a test alarm was asked for',
  'release-approved': 'a held release was made live',
  'release-rolled-back': 'an earlier release was put back',
  'folder-changed': 'the store was given another folder of published files (`from`, `to`)',
  'database-accepted': 'an older primary, or a database that was restored, is used from then on',
  'schedule-paused': 'the instants of a schedule are left out from then on',
  'schedule-resumed': 'a paused schedule was put in force again',
  'project-state-changed': 'an operator decided on the state of a project, or let its records decide again (`stated`)',
  'vetting-changed': 'an operator vouched for an organisation, or no longer',
  'publisher-changed':
    "the publisher's identifier, type or language was changed (`what`, `from`, `to`); its activities keep their identifiers",
  'facts-confirmed': 'a person confirmed what activities say although nobody states it (`edition`)',
  'datasets-registered': 'datasets were created or corrected at the IATI registry (`created`, `corrected`)',
  'datasets-unregistered': 'datasets were deleted at the IATI registry (`deleted`)',
  'store-exported': 'the store was written as files; `donors` and `accounts`: with these',
  'records-imported': 'files were imported (`created`, `changed`, `refused`); `giving imports show` has the rest',
  'organizations-merged': 'two organisations became one (`merged`: the one that went)',
  'file-sent': 'a file was sent to the console, to be looked at (`bytes`, `sha256`)',
  'upload-read': 'it was chosen how a file that was sent is read (`kind`)',
  'upload-removed': 'a file that was sent was removed without an import',
  'import-undone': 'an import was taken back',
  'recipe-saved': 'a recipe was saved under a name',
  'recipe-removed': 'a recipe was removed',
  'source-saved': 'a source was added, or got another definition (`kind`, `from`)',
  'source-removed': 'a source was removed; what it has brought stays',
  'source-asked': 'a source was asked to be read now',
  'source-decided': 'a file of a source that was held was approved or refused (`decision`)',
  'store-imported': 'an export was put into the store',
  'store-backed-up': 'the store was written to a file by giving backup',
  'store-restored': 'a backup was put into the store',
  'donations-exported': 'what donors of a project let its organisation know was written as CSV',
  'maintenance-started': 'the API was closed for a while',
  'maintenance-ended': 'the API was opened again',
} as const

export type AuditAction = keyof typeof auditActions

/** Who did what, from where. No field may hold a secret, an e-mail or another personal detail. */
export type AuditEvent = {
  readonly at: Date
  readonly action: AuditAction
  /** It was asked for and refused. */
  readonly refused?: boolean
  /** `account 12`, `operator root`, or `unknown`. */
  readonly actor: string
  /** The address of a request, or the machine of a command. */
  readonly origin: string
  /** What it was done to: `key 7`, `account 12`, `donation 33`, `project 12`, `release 20261121T020000Z-2`. */
  readonly subject?: string | undefined
  readonly details?: Readonly<Record<string, string | number | boolean>>
}

/** Who does something by hand, from where, and the reason where one was given. */
export type Operator = Pick<AuditEvent, 'actor' | 'origin'> & { readonly comment?: string }

/** Enters an event. Given a transaction, it is entered together with the change that it records. */
export async function recordAudit(db: Db, event: AuditEvent): Promise<void> {
  const { at, action, refused = false, actor, origin, subject = null, details = {} } = event
  await db.query(
    `insert into audit_event (at, action, refused, actor, origin, subject, details)
      values ($1, $2, $3, $4, $5, $6, $7)`,
    [at, action, refused, actor, origin, subject, JSON.stringify(details)],
    'record-audit',
  )
}

/** Which events: since an instant, of one action, with some words in actor, origin or subject. */
export type AuditFilter = {
  readonly since: Date
  readonly limit: number
  readonly action?: string | undefined
  readonly words?: string | undefined
  /** Before this instant. */
  readonly until?: Date | undefined
}

/** The newest `limit` events that a filter asks for, oldest first. */
export async function listAudit(db: Db, { since, limit, action, words, until }: AuditFilter): Promise<AuditEvent[]> {
  const { rows } = await db.query<Omit<AuditEvent, 'subject'> & { subject: string | undefined }>(
    `select at, action, refused, actor, origin, subject, details from (
        select * from audit_event where at >= $1 and ($3::text is null or action = $3)
          and ($4::text is null or strpos(lower(concat_ws(' ', actor, origin, subject)), lower($4)) > 0)
          and ($5::timestamptz is null or at < $5)
        order by id desc limit $2) newest
      order by id`,
    [since, limit, action ?? null, words ?? null, until ?? null],
  )
  return rows.map(({ subject, details, ...event }) => ({
    ...event,
    ...(subject !== undefined && { subject }),
    details: withoutQueries(details),
  }))
}

/** Earlier versions entered whole addresses, with the tokens in their queries; entries that are kept cannot be changed. */
function withoutQueries(details: AuditEvent['details']): NonNullable<AuditEvent['details']> {
  const entries = Object.entries(details ?? {}).map(([name, value]) => [
    name,
    typeof value === 'string' ? value.replace(/^(https?:[^?]*)\?.*$/s, '$1?…') : value,
  ])
  return Object.fromEntries(entries) as NonNullable<AuditEvent['details']>
}
