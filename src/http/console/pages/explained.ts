import { isoInstantOf } from '../../../kernel/dates.js'
import type { ExplainedProject, Origin } from '../../portal/explained.js'
import { type Html, html } from '../../portal/html.js'
import { listed } from './frame.js'

// A record may have thousands of values.
const mostShown = 20

/** Where each value of an activity comes from, as `giving explain`. */
export function explainedPage({ elements }: ExplainedProject): Html {
  const rows = elements.map(({ element, values, clauses, fields, origins, assumed }) => [
    html`<code>${element}</code>`,
    ...[lines(values), lines(fields), lines(origins.map(describeOrigin))],
    html`${assumed.map(({ reason, change }) => html`${reason} To change it: ${change}`)}`,
    lines(clauses),
  ])
  const heads = ['Element', 'Says', 'Fields', 'Came from', 'Assumed, since nobody states it', 'Clause']
  return html`<p class="lead">As it would be published now.</p>
${listed('Elements of the activity', heads, rows)}
<p><a href="/facts">All that is assumed</a></p>`
}

function lines(texts: readonly string[]): Html {
  const more = texts.length - mostShown
  return html`${texts.slice(0, mostShown).map((text) => html`${text}<br>`)}${more > 0 ? `and ${more} more` : undefined}`
}

/** Where a value came from, in a line. */
export function describeOrigin(origin: Origin): string {
  if ('source' in origin) return `${origin.record}: ${origin.source}`
  if ('month' in origin) {
    const from = origin.files.length === 0 ? '' : `, from ${origin.files.join(', ')}`
    return `${origin.month} ${origin.kind}: ${origin.amount} ${origin.currency} in the books${from}`
  }
  const by = origin.import === undefined ? '' : `, import ${origin.import} of ${isoInstantOf(origin.at)}`
  const set = origin.set === undefined ? '' : ` (${origin.set.join(', ')})`
  return `${origin.record}: ${origin.file}, line ${origin.line}${by}${set}`
}
