import { type Html, html } from '../../portal/html.js'
import type { HeldProject } from '../../portal/pages/held.js'
import { listed, shownInstant } from './frame.js'

/** What `giving held` prints: why projects are not published as they are. */
export function heldPage({
  count,
  projects,
}: {
  readonly count: number
  readonly projects: readonly HeldProject[]
}): Html {
  const rows = projects.map(
    ({ projectId, identifier, stillPublished, since, notices }) =>
      html`<tr><th scope="row">${projectId}</th><td>${identifier}</td><td>${stillPublished ? 'its last valid text stays published' : 'it was never published'}</td><td>${shownInstant(since)}</td><td><ul>${notices.map(({ code, rule, path, detail }) => html`<li><strong>${code}</strong> ${rule} <code>${path}</code>: ${detail}</li>`)}</ul></td></tr>\n`,
  )
  const more = count > projects.length ? html`<p>The first ${projects.length} of ${count} are shown.</p>` : undefined
  return html`<p class="lead">A project is held while its newest text breaks a rule.</p>
${listed('Held projects', ['Project', 'Identifier', 'Meanwhile', 'Held since', 'Why'], rows)}
${more}`
}
