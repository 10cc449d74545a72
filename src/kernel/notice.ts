/** `error` holds the activity: its last valid text stays in the feed. `warning` and `info` do not. */
export type Severity = 'error' | 'warning' | 'info'

/** One finding about data: a value, never thrown. */
export type Notice = {
  /** A stable code, listed in `docs/reference/notices.md`. */
  readonly code: string
  readonly severity: Severity
  /** What it is about: an iati-identifier, a record's id, a file. */
  readonly subject: string
  /** Where: a path such as `/iati-activity/sector[2]/@code`, or a source field. */
  readonly path: string
  /** What was expected and what came, in one sentence. */
  readonly detail: string
  /** Line of the document, where there is one. */
  readonly line?: number
}

/** Exact counts of notices by severity and by code. */
export type NoticeSummary = {
  readonly errors: number
  readonly warnings: number
  readonly infos: number
  readonly byCode: Readonly<Record<string, number>>
}

export const noNotices: NoticeSummary = { errors: 0, warnings: 0, infos: 0, byCode: {} }

/** Counts notices. */
export function summarizeNotices(notices: readonly Notice[]): NoticeSummary {
  const byCode: Record<string, number> = {}
  const count = { error: 0, warning: 0, info: 0 }
  for (const { code, severity } of notices) {
    byCode[code] = (byCode[code] ?? 0) + 1
    count[severity] += 1
  }
  return { errors: count.error, warnings: count.warning, infos: count.info, byCode }
}

/** The sum of two summaries. */
export function addSummaries(a: NoticeSummary, b: NoticeSummary): NoticeSummary {
  const byCode: Record<string, number> = { ...a.byCode }
  for (const [code, count] of Object.entries(b.byCode)) byCode[code] = (byCode[code] ?? 0) + count
  return { errors: a.errors + b.errors, warnings: a.warnings + b.warnings, infos: a.infos + b.infos, byCode }
}

/** True when any notice is of error severity. */
export function hasError(notices: readonly Notice[]): boolean {
  return notices.some((notice) => notice.severity === 'error')
}
