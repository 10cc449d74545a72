import { type Html, html } from '../../../http/pages/html.js'
import type { Framed } from '../../../http/pages/page.js'
import { countText, type PageBody, row, table, tile, timeText, unitText } from '../../../http/pages/page.js'

/** A publication run as the status page shows it. */
type ShownRun = {
  readonly id: number
  readonly state: string
  readonly queuedAt: Date
  readonly startedAt?: Date
  readonly finishedAt?: Date
  readonly changed: number
  readonly held: number
  readonly error?: { readonly code: string }
}

/** What the ledger says; the database may be away. */
type ShownLedger = { readonly runs: readonly ShownRun[]; readonly nextRun: Date | undefined } | undefined

/** `/status`: the last publication runs and the next one. Of failures it names the code only: the rest is the operator's. */
export function statusPage(view: Framed, ledger: ShownLedger): PageBody {
  const { status, home, project, nav, changes, none } = view.words
  const live = view.release?.manifest
  const head = [status.run, project.status, project.start, status.duration, changes.changed, changes.held]
  const rows = ledger?.runs.map((run) => runRow(view, run)) ?? []
  return {
    title: nav.status,
    description: status.intro,
    section: 'status',
    main: html`<h1>${nav.status}</h1>
<dl class="tiles">${live && html`${tile(status.live, html`<code>${live.release}</code>`)}${tile(home.published, timeText(view, live.generated))}${tile(changes.held, countText(view, live.held.count))}`}
${ledger && tile(status.next, ledger.nextRun ? timeText(view, ledger.nextRun.toISOString()) : none)}</dl>
<h2>${status.intro}</h2>
${rows.length === 0 ? html`<p>${ledger ? none : status.unreadable}</p>` : table({ shown: status.intro }, head, rows)}
<p><a href="/feeds/status.json">JSON</a></p>`,
  }
}

function runRow(view: Framed, run: ShownRun): Html {
  const { status } = view.words
  const seconds = run.startedAt && run.finishedAt && (run.finishedAt.getTime() - run.startedAt.getTime()) / 1000
  const state = html`${status.states[run.state] ?? run.state}${run.error && html` <code>${run.error.code}</code>`}`
  const cells = [
    state,
    timeText(view, (run.startedAt ?? run.queuedAt).toISOString()),
    seconds === undefined ? '' : unitText(view, seconds, 'second', 1),
    ...[run.changed, run.held].map((count) => countText(view, count)),
  ]
  return row(String(run.id), cells)
}
