import type { Notice, Severity } from '../../kernel/notice.js'
import type { Element } from '../../kernel/xml/element.js'
import { detached } from './detached.js'
import { findingsAbout, quoted } from './findings.js'

/** Collects the activities that records refer to; the end of the file shows which of them it lacks. */
export type LinkedActivities = {
  /** Notes what an activity refers to; `isKnown` tells what the file has held so far. */
  note(activity: Element): void
  /** Hands a notice to the sink for every activity that was referred to but is not in the file. */
  finish(): void
}

// Different identifiers that are kept until the end; whoever refers to more gets one notice for the rest.
const mostKept = 10_000

/**
 * The official advisories 1000.0.1 to 1000.0.6 about `participating-org/@activity-id`, `provider-activity-id` and
 * `receiver-activity-id` of transactions and planned disbursements, and `related-activity/@ref`. Each missing activity
 * is reported once, where it is first named. The official tool also asks the Datastore; this one does not.
 */
export function collectLinkedActivities(
  entry: { readonly code: string; readonly severity: Severity },
  isKnown: (identifier: string) => boolean,
  sink: (notice: Notice) => void,
): LinkedActivities {
  const waiting = new Map<string, Notice>()
  let tooMany: Notice | undefined

  function refer(activity: Element, element: Element, attribute: string): void {
    const identifier = element.attributes[attribute]
    if (!identifier || waiting.has(identifier) || isKnown(identifier)) return
    if (waiting.size >= mostKept && tooMany) return
    const detail = `expected an activity of this file, or one published elsewhere, got ${quoted(identifier)}`
    findingsAbout(activity, (notice) => {
      const kept = {
        ...notice,
        subject: detached(notice.subject),
        path: detached(notice.path),
        detail: detached(detail),
      }
      if (waiting.size < mostKept) waiting.set(detached(identifier), kept)
      else
        tooMany = { ...kept, detail: `more than ${mostKept} linked activities: from here on they were not looked up` }
    }).add(entry, element, detail, attribute)
  }

  return {
    note(activity) {
      for (const child of activity.children) {
        if (child.name === 'participating-org') refer(activity, child, 'activity-id')
        else if (child.name === 'related-activity') refer(activity, child, 'ref')
        else if (child.name === 'transaction' || child.name === 'planned-disbursement') {
          for (const party of child.children) {
            if (party.name === 'provider-org') refer(activity, party, 'provider-activity-id')
            else if (party.name === 'receiver-org') refer(activity, party, 'receiver-activity-id')
          }
        }
      }
    },
    finish() {
      for (const [identifier, notice] of waiting) if (!isKnown(identifier)) sink(notice)
      if (tooMany) sink(tooMany)
    },
  }
}
