import { isFinished, type RunTrigger } from '../../../work/run.js'
import type { RunLine } from '../../../work/sql/run-lines.js'
import type { RunDay, RunFilter, RunState, RunSummary } from '../../../work/sql/runs.js'
import { type Html, html } from '../../portal/html.js'
import { inOrder } from '../../portal/pages/status.js'
import { button, choiceField, duration, filterForm, listed, shownInstant } from './frame.js'

type Runs = {
  readonly runs: readonly RunSummary[]
  readonly days: readonly RunDay[]
  readonly filter: RunFilter
  readonly hasMore: boolean
}

const states: readonly RunState[] = ['queued', 'running', 'published', 'unchanged', 'held', 'failed']
const triggers: readonly RunTrigger[] = ['schedule', 'start', 'manual', 'watchdog']

/** The runs of the ledger that a filter asks for, with their stages and durations. */
export function runsPage({ runs, days, filter, hasMore }: Runs): Html[] {
  const { state, trigger } = filter
  const sum = (pick: 'runs' | 'failed' | 'held') => days.reduce((total, day) => total + day[pick], 0)
  const longest = Math.max(0, ...days.map(({ seconds }) => seconds))
  const earlier = new URLSearchParams({
    ...(state !== undefined && { state }),
    ...(trigger !== undefined && { trigger }),
    before: String(runs.at(-1)?.id),
  })
  return [
    html`<p class="lead">${sum('runs')} runs have ended, ${sum('failed')} of them failed, ${sum('held')} held; the longest took ${duration(longest)}.</p>
<p>${button('/publish', 'Publish now')}</p>
${filterForm('/runs', [choiceField('state', 'State', states, state), choiceField('trigger', 'Asked for by', triggers, trigger)])}
<form class="filters" action="/run"><div><label for="id">Number of a run</label><input id="id" name="id" inputmode="numeric" size="8"></div><div><button>Open</button></div></form>
${listed('Runs, newest first', heads, runs.map(row), 6)}
${hasMore ? html`<p><a href="/runs?${earlier.toString()}">Earlier runs</a></p>` : undefined}`,
  ]
}

const heads = ['Run', 'Asked for by', 'State', 'Started', 'Took', 'Stages', 'Mapped', 'Changed', 'Held']

function row(run: RunSummary): Html {
  const { id, trigger, state, attempt, startedAt, rendered, changed, held } = run
  const why = whyOf(run)
  return html`<tr><th scope="row"><a href="/runs/${String(id)}">${id}</a></th><td>${trigger}</td><td>${state}${attempt > 1 ? ` by attempt ${attempt}` : undefined}${why && `: ${why}`}</td><td>${shownInstant(startedAt)}</td><td>${tookOf(run)}</td><td>${stagesOf(run)}</td><td class="number">${rendered}</td><td class="number">${changed}</td><td class="number">${held}</td></tr>
`
}

function whyOf({ reason, error }: RunSummary): string | undefined {
  return reason ?? error?.message
}

function tookOf({ startedAt, finishedAt }: RunSummary): string {
  return duration(startedAt && finishedAt && (finishedAt.getTime() - startedAt.getTime()) / 1000)
}

function stagesOf({ stageSeconds = {} }: RunSummary): string {
  return inOrder(stageSeconds)
    .map(([stage, seconds]) => `${stage} ${duration(seconds)}`)
    .join(', ')
}

/** One run: who asked for it, what became of it, and the lines of its log. */
export function runPage(run: RunSummary, lines: readonly RunLine[]): Html[] {
  const { id, state, cancelAsked } = run
  const release = run.releaseId && encodeURIComponent(run.releaseId)
  const act = (what: string, text: string) => html`${button(`/runs/${id}/${what}`, text)} `
  return [
    html`${runFacts(run)}
<p>${state === 'held' && release ? html`${button(`/releases/${release}/approve`, `Approve ${run.releaseId}`)} ` : undefined}${isFinished(run) ? act('again', 'Run again') : cancelAsked ? html`It is being cancelled.` : act('cancel', 'Cancel it')}</p>
<h2>Its log</h2>
${listed('What happened, oldest first', ['At', 'Level', 'What', 'Details'], lines.map(lineRow))}
<p class="path">Every line of the workers about it: <code>journalctl -u giving -o cat | grep '"runId":${String(id)}[,}]'</code>.</p>`,
  ]
}

function lineRow({ at, level, message, details }: RunLine): Html {
  const more = Object.entries(details).map(
    ([name, value]) => html`<code>${name}</code> ${typeof value === 'string' ? value : JSON.stringify(value)} `,
  )
  return html`<tr><td>${shownInstant(at)}</td><td>${level}</td><th scope="row">${message}</th><td>${more}</td></tr>
`
}

/** What is known of a run. */
export function runFacts(run: RunSummary): Html {
  const { trigger, due, force, state, attempt, owner, queuedAt, startedAt, finishedAt, progress, releaseId } = run
  const { rendered, changed, held, error } = run
  const why = whyOf(run)
  const fact = (name: string, value: Html) => html`<dt>${name}</dt><dd>${value}</dd>\n`
  const release = releaseId && encodeURIComponent(releaseId)
  return html`<dl class="facts">
${fact('State', html`${state}${why && `: ${why}`}`)}${error && fact('Code of the error', html`<code>${error.code}</code>`)}${fact('Asked for by', html`${trigger}${due && html`, due at ${shownInstant(due.at)}`}${force ? ', mapping every project again' : undefined}`)}${fact('Queued', shownInstant(queuedAt))}${fact('Started', shownInstant(startedAt))}${fact('Ended', shownInstant(finishedAt))}${fact('Took', html`${tookOf(run)}`)}${fact('Stages', html`${stagesOf(run) || '–'}`)}${progress && fact('Progress', html`${progress.stage}, ${String(progress.done)} of ${String(progress.total)}`)}${fact('Attempts', html`${String(attempt)}${attempt > 1 ? ': a worker before was lost, stopped or failed' : undefined}`)}${owner && fact('Worked on by', html`<code>${owner}</code>`)}${fact('Projects', html`${String(rendered)} mapped, ${String(changed)} changed, ${String(held)} held`)}${fact('Release', release ? html`<a href="/releases#${release}">${releaseId}</a>` : html`none`)}</dl>
`
}
