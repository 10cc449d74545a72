import { describeOrigin, type ExplainedProject } from '../../../http/pages/explained.js'
import { type Html, html } from '../../../http/pages/html.js'
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
