import type { Facts } from '../../../cli/wiring/assumed-facts.js'
import { type Html, html } from '../../../http/pages/html.js'
import type { CountedChange } from '../../../release/look-ahead.js'
import { button, listed, withoutMarkup } from './frame.js'

/** What activities say although nobody states it, and what would change in them, as `giving facts` and `publish --dry-run`. */
export function factsPage({ activities, facts, edition, newest, changes, next, confirmed, isOpen }: Facts): Html[] {
  const rows = facts.map(({ name, element, states, count, examples, reason, clause, change }) => [
    name,
    html`<code>${element}</code> ${states}`,
    html`${reason} <code>${clause}</code>`,
    change,
    html`${examples.map(explained)}`,
    count,
  ])
  const state = confirmed
    ? html`<p>Edition ${edition} is confirmed since ${confirmed.at}, by ${confirmed.by}.</p>`
    : html`<p>Nothing needs to be confirmed.</p>`
  return [
    html`<p class="lead">What ${activities} activities say although no record and no person states it.</p>
${isOpen ? html`<p class="needs">Not confirmed.</p>\n<p>${button(confirmAddress, confirmTitle)}</p>` : state}
${listed('Assumptions', ['Assumption', 'It says', 'Why', 'To change it', 'Examples', 'Activities'], rows, 5)}
`,
    edition === newest
      ? html``
      : html`<h2>What edition ${newest} changes</h2>
<p>The store publishes by edition ${edition} of these rules. Who confirms goes over to edition ${newest}.</p>
${changesOf('Changed by the newest edition', changes)}
`,
    html`<h2>What the next publication changes</h2>
<p>Live is ${next.release ?? 'no release'}: ${next.changed} activities would change, ${next.added} would be new.</p>
${changesOf('Changed elements', next.elements)}
`,
  ]
}

export const confirmAddress = '/facts/confirm'
export const confirmTitle = 'Confirm the list'

/** The page while the projects are being looked at. */
export function countingPage(done: number): Html {
  return html`<p class="lead">Every project is being looked at: ${done} so far. This page is read again by itself.</p>
<p><a href="">Read again</a></p>`
}

function changesOf(caption: string, changes: readonly CountedChange[]): Html {
  const rows = changes.flatMap(({ element, count, examples }) =>
    examples.map(({ identifier, before, after }) => [
      html`<code>${element}</code> in ${count}`,
      html`<code>${identifier}</code>`,
      withoutMarkup(before),
      withoutMarkup(after),
    ]),
  )
  return listed(caption, ['Element', 'Example', 'Now', 'Then'], rows)
}

function explained(identifier: string): Html {
  return html`<code>${identifier}</code> `
}
