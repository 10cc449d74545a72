import type { Severity } from '../../domain/notice.js'
import type { Element } from '../../xml/element.js'
import type { RecordView } from '../view.js'

/** Reports a violation at an element or one of its attributes; `detail` says what was expected and what came. */
export type Report = (element: Element, detail: string, attribute?: string) => void

/** One rule beyond the schema: its catalogue entry and the function that looks for violations. */
export type Rule = {
  /** Stable; `docs/notices.md` lists it. */
  readonly code: string
  readonly severity: Severity
  /** Ids in the official ruleset; empty where the official validator does not look. */
  readonly official: readonly string[]
  readonly sentence: string
  readonly check: (record: RecordView, report: Report) => void
}
