import { fixOf, type HeldProject } from '../../../cli/wiring/held-projects.js'
import { type Html, html } from '../../../http/pages/html.js'
import { dayText } from '../../../http/pages/page.js'
import { en } from '../../../http/pages/words/words.js'
import { facts, listed } from './frame.js'

/** A rule that holds projects: its code, its sentence, how many it holds. */
type HeldRule = { readonly code: string; readonly rule: string; readonly count: number }

type Held = {
  readonly count: number
  readonly projects: readonly HeldProject[]
  readonly rules: readonly HeldRule[]
  /** The rule that the list is limited to. */
  readonly rule: string | undefined
  readonly hasMore: boolean
}

/** Which projects are not published as they are, by the rules that hold them, with data that is not published. */
export function heldList({ count, projects, rules, rule, hasMore }: Held): Html {
  const rows = projects.map((project) => [
    html`<a href="/held/${String(project.projectId)}"><code>${project.identifier}</code></a>`,
    stateOf(project),
    sinceOf(project),
    html`${project.notices.map(({ code }) => html`<code>${code}</code> `)}`,
  ])
  const last = projects.at(-1)
  const next = new URLSearchParams({ ...(rule !== undefined && { rule }), after: String(last?.projectId) })
  return html`<p class="lead">Projects that are not published as they are, because their record would break a rule of IATI.</p>
${count === 0 ? html`<p>none</p>` : grouped(count, rules)}
${rule === undefined ? undefined : html`<p>Only those that break <code>${rule}</code>. <a href="/held">All held projects</a></p>`}
${count === 0 ? undefined : listed('Held projects', ['Project', 'State', 'Since', 'Reasons'], rows)}
${hasMore ? html`<p><a href="/held?${next.toString()}">Next projects</a></p>` : undefined}`
}

function grouped(count: number, rules: readonly HeldRule[]): Html {
  const rows = rules.map(({ code, rule, count: projects }) => [
    html`<a href="/held?rule=${encodeURIComponent(code)}"><code>${code}</code></a>`,
    rule,
    projects,
  ])
  return listed(`What holds the ${count} held projects`, ['Code', 'Rule', 'Projects'], rows, 2)
}

/** Why a project is not published as it is, and how to fix it. */
export function heldReasons(project: HeldProject): Html {
  const reasons = project.notices.map(
    ({ code, rule, path, detail, fields, from }) => html`<section class="panel"><h2>${rule}</h2>
${facts([
  ['Place in the record', html`<code>${path}</code>`],
  ['What was expected, and what came', detail],
  ['How to fix it', fixOf({ fields, from })],
  [en.quality.code, html`<code>${code}</code>`],
])}</section>
`,
  )
  return html`<p class="lead">${stateOf(project)} Since: ${sinceOf(project)}</p>
<p><a href="/explain/${String(project.projectId)}">${en.project.why}</a></p>
${reasons}`
}

function stateOf({ stillPublished }: HeldProject): string {
  return stillPublished ? 'Its last valid text stays published.' : 'It was never published.'
}

function sinceOf({ since }: HeldProject): Html {
  return since ? dayText({ language: 'en' }, since.toISOString()) : html`${en.money.none}`
}
