/** `error` holds the activity: its last valid text stays in the feed. `warning` and `info` do not. */
export type Severity = 'error' | 'warning' | 'info'

/** One finding about data: a value, never thrown. */
export type Notice = {
  /** A stable code of the notice catalogue. */
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

/** Exact counts by code with capped samples, so that a flood of findings cannot exhaust memory. */
export type NoticeSummary = {
  readonly errors: number
  readonly warnings: number
  readonly infos: number
  readonly byCode: Readonly<Record<string, number>>
}

/** True when any notice is of error severity. */
export function hasError(notices: readonly Notice[]): boolean {
  return notices.some((notice) => notice.severity === 'error')
}
