import type { Notice } from '../../kernel/notice.js'
import type { Element } from '../../kernel/xml/element.js'
import { type NoticeKind, severityOf } from './notice-kind.js'

/** Whether all elements, or this one, are judged as our own; else as those of another publisher. */
export type Strictness = boolean | ((element: Element) => boolean)

/** Takes findings about one record. */
export type Findings = {
  /** Adds one about an element or one of its attributes; `detail` says what was expected and what came. */
  add(
    kind: NoticeKind & { readonly code: string },
    element: Element,
    detail: string,
    attribute?: string,
    isBeyond?: boolean,
  ): void
}

/**
 * Findings about the record `root`, each passed to `sink` as a notice. Without `strict`, severities are those for the
 * files of other publishers. Paths and lines are computed only for a finding, so that valid data costs nothing.
 */
export function findingsAbout(root: Element, sink: (notice: Notice) => void, strict: Strictness = true): Findings {
  let paths: Map<Element, string> | undefined
  const subject = identifierOf(root)
  return {
    add(kind, element, detail, attribute, isBeyond = false) {
      if (element !== root) paths ??= pathsIn(root)
      const path = paths?.get(element) ?? `/${root.name}`
      const line = element.line ?? root.line
      sink({
        code: kind.code,
        severity: severityOf(kind, typeof strict === 'function' ? strict(element) : strict, attribute, isBeyond),
        subject,
        path: attribute === undefined ? path : `${path}/@${attribute}`,
        detail,
        ...(line !== undefined && { line }),
      })
    },
  }
}

/** The identifier of an activity or organisation, or its element name when it has none. */
export function identifierOf(root: Element): string {
  const own = root.children.find(({ name }) => name === 'iati-identifier' || name === 'organisation-identifier')
  return own?.text.trim() || `${root.name} without identifier`
}

/** The path of every element; the first path of an element that occurs in several places. */
function pathsIn(root: Element): Map<Element, string> {
  const paths = new Map([[root, `/${root.name}`]])
  const visit = (parent: Element, parentPath: string): void => {
    const totals = new Map<string, number>()
    for (const { name } of parent.children) totals.set(name, (totals.get(name) ?? 0) + 1)
    const seen = new Map<string, number>()
    for (const child of parent.children) {
      const nth = (seen.get(child.name) ?? 0) + 1
      seen.set(child.name, nth)
      const path = totals.get(child.name) === 1 ? `${parentPath}/${child.name}` : `${parentPath}/${child.name}[${nth}]`
      if (paths.has(child)) continue
      paths.set(child, path)
      visit(child, path)
    }
  }
  visit(root, `/${root.name}`)
  return paths
}

const longest = 120

/** A value for a message: quoted, and shortened when it is long. */
export function quoted(value: string): string {
  return `"${value.length > longest ? `${value.slice(0, longest)}…` : value}"`
}
