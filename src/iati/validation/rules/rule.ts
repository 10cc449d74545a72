import type { Element } from '../../../kernel/xml/element.js'
import type { DocumentedNotice } from '../notice-kind.js'
import type { RecordView } from '../view.js'

/**
 * Reports a violation at an element or one of its attributes; `detail` says what was expected and what came. One beyond what
 * the paths of the official rule reach is advice in the files of others.
 */
export type Report = (element: Element, detail: string, attribute?: string, isBeyond?: boolean) => void

/** One rule beyond the schema: its notice and the function that looks for violations. */
export type Rule = DocumentedNotice & {
  /** Stable; `docs/reference/notices.md` lists it. */
  readonly code: string
  readonly check: (record: RecordView, report: Report) => void
}
