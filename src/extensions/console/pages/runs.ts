import { type Html, html } from '../../../http/pages/html.js'
import { isFinished, type RunTrigger } from '../../../work/run.js'
import type { RunLine } from '../../../work/sql/run-lines.js'
import type { RunDay, RunFilter, RunState, RunSummary } from '../../../work/sql/runs.js'
import {
  button,
  choiceField,
  dayFields,
  duration,
  facts,
  filterForm,
  listed,
  shownInstant,
  shownState,
  type Value,
  withIds,
} from './frame.js'

type Runs = {
  readonly runs: readonly RunSummary[]
  readonly days: readonly RunDay[]
  readonly filter: RunFilter
  readonly hasMore: boolean
  /** The first and the last day that a person asked for; '' is no limit. */
  readonly since: string
  readonly until: string
}

const states: readonly RunState[] = ['queued', 'running', 'published', 'unchanged', 'held', 'failed']
const triggers: readonly RunTrigger[] = ['schedule', 'start', 'manual', 'watchdog']

/** The runs of the ledger that a filter asks for, with their stages and durations. */
export function runsPage({ runs, days, filter, hasMore, since, until }: Runs): Html[] {
  const { state, trigger } = filter
  const sum = (pick: 'runs' | 'failed' | 'held') => days.reduce((total, day) => total + day[pick], 0)
  const longest = Math.max(0, ...days.map(({ seconds }) => seconds))
  const earlier = new URLSearchParams({
    ...(state !== undefined && { state }),
    ...(trigger !== undefined && { trigger }),
    ...(since !== '' && { since }),
    ...(until !== '' && { until }),
    before: String(runs.at(-1)?.id),
  })
  return [
    html`<p class="lead">${sum('runs')} runs have ended, ${sum('failed')} of them failed, ${sum('held')} held; the longest took ${duration(longest)}.</p>
<p>${button('/publish', 'Publish now')}</p>
${filterForm('/runs', [choiceField('state', 'State', states, state), choiceField('trigger', 'Asked for by', triggers, trigger), dayFields(since, until)])}
<form class="filters" action="/run"><div><label for="id">Number of a run</label><input id="id" name="id" inputmode="numeric" size="8"></div><div><button>Open</button></div></form>
${listed('Runs, newest first', heads, runs.map(row), 6)}
${hasMore ? html`<p><a href="/runs?${earlier.toString()}">Earlier runs</a></p>` : undefined}`,
  ]
}

const heads = ['Run', 'Asked for by', 'State', 'Started', 'Took', 'Stages', 'Mapped', 'Changed', 'Held']

function row(run: RunSummary): Value[] {
  const { id, trigger, attempt, startedAt, rendered, changed, held } = run
  const tries = attempt > 1 ? html`, attempt ${attempt}` : undefined
  const link = html`<a href="/runs/${String(id)}">${String(id)}</a>`
  const state = html`${stateOfRun(run)}${tries}`
  return [link, trigger, state, startedAt, tookOf(run), stagesOf(run), rendered, changed, held]
}

/** The state of a run with its reason; of a held one whether a person has decided since. */
export function stateOfRun(run: RunSummary): Html {
  return run.decided ? shownState('held', 'a person has decided since', 'plain') : shownState(run.state, whyOf(run))
}

function whyOf({ reason, error }: RunSummary): string | undefined {
  return reason ?? error?.message
}

function tookOf({ startedAt, finishedAt }: RunSummary): string {
  return duration(startedAt && finishedAt && (finishedAt.getTime() - startedAt.getTime()) / 1000)
}

const stageOrder = ['render', 'assemble', 'commit']

/** Stages as they follow each other, which the ledger does not keep. */
function stagesOf({ stageSeconds = {} }: RunSummary): string {
  return Object.entries(stageSeconds)
    .sort(([a], [b]) => stageOrder.indexOf(a) - stageOrder.indexOf(b))
    .map(([stage, seconds]) => `${stage} ${duration(seconds)}`)
    .join(', ')
}

/** One run: who asked for it, what became of it, and the lines of its log. */
export function runPage(run: RunSummary, lines: readonly RunLine[]): Html[] {
  const { id, state, decided, cancelAsked } = run
  const release = run.releaseId && encodeURIComponent(run.releaseId)
  const act = (what: string, text: string) => html`${button(`/runs/${id}/${what}`, text)} `
  return [
    html`${runFacts(run)}
<p>${state === 'held' && !decided && release ? html`${button(`/releases/${release}/approve`, `Approve ${run.releaseId}`)} ` : undefined}${isFinished(run) ? act('again', 'Run again') : cancelAsked ? html`It is being cancelled.` : act('cancel', 'Cancel it')}</p>
<h2>Its log</h2>
${listed('What happened, oldest first', ['At', 'Level', 'What', 'Details'], lines.map(lineRow))}
<p class="path">Every line of the workers about it: <code>journalctl -u giving -o cat | grep '"runId":${String(id)}[,}]'</code>.</p>`,
  ]
}

function lineRow({ at, level, message, details }: RunLine): Value[] {
  const more = Object.entries(details).map(
    ([name, value]) =>
      html`<code>${name}</code> ${withIds(typeof value === 'string' ? value : JSON.stringify(value))} `,
  )
  return [at, level, message, html`${more}`]
}

/** What is known of a run. */
export function runFacts(run: RunSummary): Html {
  const { trigger, due, force, attempt, owner, queuedAt, startedAt, finishedAt, progress, releaseId } = run
  const { rendered, changed, held, error } = run
  const asked = html`${trigger}${due && html`, due at ${shownInstant(due.at)}`}${force ? ', mapping every project again' : undefined}`
  return facts([
    ['State', stateOfRun(run)],
    ['Code of the error', error && html`<code>${error.code}</code>`],
    ['Asked for by', asked],
    ['Queued', queuedAt],
    ['Started', startedAt],
    ['Ended', finishedAt],
    ['Took', finishedAt && tookOf(run)],
    ['Stages', stagesOf(run) || undefined],
    ['Progress', progress && `${progress.stage}, ${progress.done} of ${progress.total}`],
    ['Attempts', `${attempt}${attempt > 1 ? ': a worker before was lost, stopped or failed' : ''}`],
    ['Worked on by', owner === undefined ? undefined : html`<code>${owner}</code>`],
    ['Projects', `${rendered} mapped, ${changed} changed, ${held} held`],
    [
      'Release',
      releaseId === undefined
        ? 'none'
        : html`<a class="id" href="/releases#${encodeURIComponent(releaseId)}">${releaseId}</a>`,
    ],
  ])
}
