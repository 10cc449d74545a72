import type { Source } from '../../../catalogue/sql/import-sources.js'
import type { SyncSummary } from '../../../catalogue/sql/sync-runs.js'
import type { QueueJobs } from '../../../cli/extension.js'
import type { QueueStatus, ServiceState } from '../../../cli/service-state.js'
import type { lookAtMirror } from '../../../cli/wiring/runs.js'
import { type Html, html } from '../../../http/pages/html.js'
import { type Cause, type ConditionKind, conditions } from '../../../kernel/conditions.js'
import { grouped } from '../../../kernel/money.js'
import type { TestAlarm } from '../../../platform/alarms.js'
import { isFinished } from '../../../work/run.js'
import { nextDue } from '../../../work/schedule.js'
import type { RunSummary } from '../../../work/sql/runs.js'
import type { AdoptedSchedule } from '../../../work/sql/schedules.js'
import { withoutMailAddresses } from '../without-mail-addresses.js'
import { button, duration, facts, filterForm, listed, shownInstant, shownState, type Value } from './frame.js'
import { stateOfRun } from './runs.js'

/** Work that runs, waits or has failed. */
export type Doing = {
  readonly what: Value
  readonly state: Html
  readonly since: Date | undefined
  readonly how: string | undefined
}

type Mirror = Awaited<ReturnType<typeof lookAtMirror>>

type Overview = {
  readonly state: ServiceState
  /** Undefined: nothing is mirrored. */
  readonly mirror: Mirror | undefined
  readonly schedules: readonly AdoptedSchedule[]
  /** The newest test alarm. */
  readonly test: TestAlarm | undefined
  readonly now: Date
  readonly doing: readonly Doing[]
  readonly failed: readonly Doing[]
  /** How many days of failures are shown. */
  readonly days: number
}

/** What needs a person, what runs, waits and failed, and the state of the service, as `giving status` tells it. */
export function overviewPage({ state, mirror, schedules, test, now, doing, failed, days }: Overview): Html[] {
  const { live, lastRun, lastGoodRun, nextRun, held, queue, causes, warnings } = state
  const verdict =
    causes.length === 0
      ? shownState('All is well', undefined, 'good')
      : shownState(causes.length === 1 ? 'One thing needs you' : `${causes.length} things need you`, undefined, 'bad')
  return [
    html`<p class="lead">${verdict}</p>
${causes.length > 0 ? html`<ul class="todo">${causes.map(todo)}</ul>` : undefined}
<h2>Now</h2>
${listed('Runs and waits', ['What', 'State', 'Since', 'How far'], doing.map(doingRow))}
<h2 id="failed">Failed</h2>
${listed(`Failed in ${days === 1 ? 'the last day' : `${days} days`}`, ['What', 'State', 'When', 'Why'], failed.map(doingRow))}
${filterForm('/#failed', [dayChoice(days)])}
<h2>State</h2>
${facts([
  [
    'Live release',
    live && `${live.release}, ${grouped(String(live.activities))} activities, ${age(live.generated, now)} old`,
  ],
  ['Next run', nextRun ?? shownState('paused')],
  [
    'Last run',
    lastRun &&
      html`<a href="/runs/${String(lastRun.id)}">run ${String(lastRun.id)}</a>, ${shownInstant(lastRun.finishedAt)}, ${stateOfRun(lastRun)}`,
  ],
  ['Last good run', lastGoodRun?.finishedAt],
  ['Held projects', html`<a href="/held">${grouped(String(held.count))}</a>`],
  [
    'Sync lag',
    mirror && (mirror.lagSeconds === undefined ? 'never synced' : `${duration(mirror.lagSeconds)}, ${mirror.upstream}`),
  ],
  ['Queue', html`<a href="/queues">${queue.reachable ? queue.engine : 'unreachable'}</a>, ${queueNote(queue)}`],
])}
<p>${button('/publish', 'Publish now')}</p>
`,
    html`${warnings.length > 0 ? html`<h2>To know</h2>\n<ul>${warnings.map((one) => html`<li>${one}</li>`)}</ul>\n` : undefined}`,
    html`<h2 id="schedules">Schedules</h2>
${listed(
  'Schedules in force',
  ['Schedule', 'When', 'Next', 'Change'],
  schedules.map((one) => scheduleRow(one, now)),
)}
<h2>Alarms</h2>
<p>${button('/test-alarm', 'Send a test alarm')}</p>
${test && testState(test)}
`,
    html`${mirror && syncs(mirror)}`,
  ]
}

/** What needs a person, with where it is done, or the command. */
function todo({ cause, message, about }: Cause): Html {
  const { title, next, waits, pages }: ConditionKind = conditions[cause]
  const links = pages.flatMap(([address, text]) => {
    if (about === undefined && address.includes(':about')) return []
    return [html`${button(address.replace(':about', encodeURIComponent(about ?? '')), text)} `]
  })
  const state = waits ? shownState('Waits for you', title, 'wait') : shownState('Broken', title, 'bad')
  return html`<li><h2>${state}</h2>
<p>${message}</p>
<p>${links}${links.length > 0 ? 'or' : 'Do this:'} <code>${next}</code></p></li>
`
}

function doingRow({ what, state, since, how }: Doing): Value[] {
  return [what, state, since, how]
}

/** A publication among what runs, waits or has failed. */
export function doingOfRun(run: RunSummary): Doing {
  const { id, progress, startedAt, queuedAt, finishedAt, error } = run
  return {
    what: html`<a href="/runs/${String(id)}">Publication, run ${String(id)}</a>`,
    state: shownState(run.state),
    since: finishedAt ?? startedAt ?? queuedAt,
    how: progress ? `${progress.stage}, ${progress.done} of ${progress.total}` : error?.message,
  }
}

export function doingOfSync({
  id,
  kind,
  state,
  reason,
  error,
  phase,
  startedAt,
  finishedAt,
  queuedAt,
}: SyncSummary): Doing {
  const since = finishedAt ?? startedAt ?? queuedAt
  return { what: `Sync ${id} (${kind})`, state: shownState(state), since, how: reason ?? error?.message ?? phase }
}

export function doingOfSource({ name, isRunning, outcome, triedAt, message }: Source): Doing {
  const state = shownState(isRunning ? 'running' : (outcome ?? 'queued'))
  return {
    what: html`<a href="/sources">Source ${name}</a>`,
    state,
    since: triedAt,
    how: isRunning ? undefined : message,
  }
}

export function doingOfJob({ queue, name, failedAt, tries, reason }: QueueJobs['failed'][number]): Doing {
  const what = html`<a href="/queues">Job ${name} of ${queue}</a>`
  return { what, state: shownState('failed', `${tries} tries`), since: failedAt, how: withoutMailAddresses(reason) }
}

/** Choices of how many days are looked back. */
export const dayChoices = [1, 7, 30, 90]

function dayChoice(days: number): Html {
  const options = dayChoices.map(
    (one) => html`<option value="${one}"${one === days ? html` selected` : undefined}>${one}</option>`,
  )
  return html`<div><label for="days">Days</label><select id="days" name="days">${options}</select></div>\n`
}

function scheduleRow(one: AdoptedSchedule, now: Date): Value[] {
  const { name, expression, timezone, pausedAt } = one
  const next = pausedAt ? html`${shownState('paused')} since ${shownInstant(pausedAt)}` : nextDue(one, now)
  const [address, text] = pausedAt ? ['resume', 'Resume'] : ['pause', 'Pause']
  const change = button(`/schedules/${encodeURIComponent(name)}/${address}`, `${text} ${name}`)
  return [name, `${expression} (${timezone})`, next, change]
}

function testState({ askedAt, by, toldAt, failure }: TestAlarm): Html {
  const end = toldAt
    ? html`it was sent ${shownInstant(new Date(toldAt))}`
    : failure === undefined
      ? html`no worker has sent it yet`
      : html`no way took it: ${failure}`
  return html`<p>The last test was asked for ${shownInstant(new Date(askedAt))} by ${by}; ${end}.</p>`
}

function age(generated: string, now: Date): string {
  return duration((now.getTime() - Date.parse(generated)) / 1000)
}

function queueNote(queue: QueueStatus): string {
  if (!queue.reachable) return queue.error
  const failed = Object.values(queue.jobs).reduce((sum, states) => sum + (states.failed ?? 0), 0)
  return `workers: ${queue.workers}, failed jobs: ${failed}`
}

function syncs({ runs }: Mirror): Html {
  const rows = runs.map((run): Value[] => {
    const { id, kind, startedAt, finishedAt, created, changed, refused } = run
    const seconds = isFinished(run) && startedAt && finishedAt && (finishedAt.getTime() - startedAt.getTime()) / 1000
    const state = shownState(run.state, run.reason ?? run.error?.message)
    return [String(id), kind, state, startedAt, seconds ? duration(seconds) : undefined, created, changed, refused]
  })
  return html`<h2 id="syncs">Syncs</h2>
${listed('The last syncs', ['Sync', 'Kind', 'State', 'Started', 'Took', 'Created', 'Changed', 'Refused'], rows, 4)}
`
}
