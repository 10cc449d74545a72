import { html } from '../html.js'
import { countText, type PageBody, table, tile, type View } from '../view.js'
import type { Framed } from './frame.js'

/** A publication run as the status page shows it. */
export type ShownRun = {
  readonly id: number
  readonly trigger: string
  readonly state: string
  readonly queuedAt: Date
  readonly startedAt?: Date
  readonly finishedAt?: Date
  readonly rendered: number
  readonly changed: number
  readonly held: number
  readonly reason?: string
  readonly error?: { readonly code: string }
}

/** `/status`: the last publication runs. */
export function statusPage(view: Framed, runs: readonly ShownRun[]): PageBody {
  const { words } = view
  const rows = runs.map((run) => {
    const seconds = run.startedAt && run.finishedAt && (run.finishedAt.getTime() - run.startedAt.getTime()) / 1000
    const note = run.error?.code ?? run.reason
    return html`<tr><th scope="row">${run.id}</th><td class="number">${words.status.states[run.state] ?? run.state}${note && html` <code>${note}</code>`}</td><td class="number">${time(run.startedAt ?? run.queuedAt)}</td><td class="number">${seconds === undefined ? undefined : words.status.seconds(seconds.toFixed(1))}</td><td class="number">${countText(view as View, run.rendered)}</td><td class="number">${countText(view as View, run.changed)}</td><td class="number">${countText(view as View, run.held)}</td></tr>
`
  })
  const { status } = words
  const head = [status.run, status.state, status.started, status.duration, status.rendered, status.changed, status.held]
  const live = view.release?.manifest
  return {
    title: status.title,
    description: status.intro,
    section: 'status',
    main: html`<h1>${status.title}</h1>
${live && html`<dl class="tiles">${tile(status.live, html`<code>${live.release}</code>`)}${tile(words.home.published, time(new Date(live.generated)))}${tile(status.held, countText(view as View, live.held.count))}</dl>`}
<h2>${status.intro}</h2>
${rows.length === 0 ? html`<p>${status.noRuns}</p>` : table(status.intro, head, rows)}
<p><a href="/feeds/status.json">JSON</a></p>`,
  }
}

function time(at: Date) {
  const text = at.toISOString()
  return html`<time datetime="${text}">${`${text.slice(0, 10)} ${text.slice(11, 16)} UTC`}</time>`
}
