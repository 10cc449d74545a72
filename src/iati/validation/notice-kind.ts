import type { Severity } from '../../kernel/notice.js'

/** How severe a kind of notice is. */
export type NoticeKind = {
  /** In our own output. */
  readonly severity: Severity
  /** In the files of other publishers, where it differs: what the official validator says, or milder where no rule is. */
  readonly severityElsewhere?: Severity
  /** The only attribute that `severityElsewhere` applies to. */
  readonly elsewhereOnlyOn?: string
}

/** A kind of notice as `docs/reference/notices.md` lists it. */
export type DocumentedNotice = NoticeKind & {
  /** One sentence for `docs/reference/notices.md`: what is wrong. */
  readonly sentence: string
  /** Ids of the official rules that find the same; empty where the official validator has no such rule. */
  readonly official: readonly string[]
  /** What demands it where the official validator has no rule and it is an error in the files of others all the same. */
  readonly standard?: string
}

/**
 * The severity of a notice about an attribute or, without one, about an element. What lies beyond the reach of the official
 * rule is no error in the files of others.
 */
export function severityOf(
  kind: NoticeKind,
  strict: boolean,
  attribute: string | undefined,
  isBeyond: boolean,
): Severity {
  const { severity, severityElsewhere = severity, elsewhereOnlyOn = attribute } = kind
  if (strict || elsewhereOnlyOn !== attribute) return severity
  return isBeyond && severityElsewhere === 'error' ? 'warning' : severityElsewhere
}
