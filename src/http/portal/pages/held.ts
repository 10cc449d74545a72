import { type Html, html } from '../html.js'
import { countText, dayText, table, to, type View } from '../view.js'

/** A project that is not published as it is, with the errors that hold it. */
export type HeldProject = {
  readonly projectId: number
  readonly identifier: string
  /** Whether an earlier valid text stays published. */
  readonly stillPublished: boolean
  /** Unknown where it was held before the service noted it. */
  readonly since?: Date
  readonly notices: readonly {
    readonly code: string
    /** The rule that is broken, in plain English. */
    readonly rule: string
    readonly path: string
    /** What was expected and what came. */
    readonly detail: string
    /** Imported fields that the place is written from; [] when it comes from none. */
    readonly fields: readonly string[]
  }[]
}

type Reader = Pick<View, 'language' | 'words' | 'prefix'>

/**
 * The content of `/held`: which projects are not published as they are. It shows data that is not published, so only
 * operators may see it: the public pages do not have it.
 */
export function heldList(
  view: Reader,
  { count, projects }: { readonly count: number; readonly projects: readonly HeldProject[] },
): Html {
  const { held, none, changes } = view.words
  const rows = projects.map(
    (project) =>
      html`<tr><th scope="row"><a href="${to(view, 'held', String(project.projectId))}"><code>${project.identifier}</code></a></th><td>${stateOf(view, project)}</td><td>${sinceOf(view, project)}</td><td>${project.notices.map(({ code }) => html`<code>${code}</code> `)}</td></tr>\n`,
  )
  return html`<p class="lead">${held.intro}</p>
${rows.length === 0 ? html`<p>${none}</p>` : table(held.title, [held.project, held.state, held.since, held.reasons], rows, 4)}
${count > projects.length ? html`<p>${changes.shown(countText(view, projects.length))}</p>` : undefined}`
}

/** The content of `/held/{id}`: why a project is not published as it is, and how to fix it. For operators too. */
export function heldReasons(view: Reader, project: HeldProject): Html {
  const { held } = view.words
  const reasons = project.notices.map(
    ({ code, rule, path, detail, fields }) => html`<section class="panel"><h2 lang="en">${rule}</h2>
<dl class="facts"><dt>${held.place}</dt><dd><code>${path}</code></dd><dt>${held.value}</dt><dd lang="en">${detail}</dd>
<dt>${held.fix}</dt><dd>${fields.length === 0 ? held.fixElse : held.fixFields(fields.join(', '))}</dd><dt>${held.code}</dt><dd><code>${code}</code></dd></dl></section>
`,
  )
  return html`<p class="lead">${stateOf(view, project)} ${held.since}: ${sinceOf(view, project)}</p>
${reasons}`
}

function stateOf({ words }: Reader, { stillPublished }: HeldProject): string {
  return stillPublished ? words.held.stillPublished : words.held.neverPublished
}

function sinceOf(view: Reader, { since }: HeldProject): Html {
  return since ? dayText(view, since.toISOString()) : html`${view.words.unknown}`
}
