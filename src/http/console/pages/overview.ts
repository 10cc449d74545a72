import type { TestAlarm } from '../../../outbound/alarms.js'
import { isFinished } from '../../../work/run.js'
import { nextDue } from '../../../work/schedule.js'
import type { AdoptedSchedule } from '../../../work/sql/schedules.js'
import { type Html, html } from '../../portal/html.js'
import type { Mirror, QueueState, ServiceState } from '../console-deps.js'
import { button, duration, listed, shownInstant } from './frame.js'

type Overview = {
  readonly state: ServiceState
  readonly mirror: Mirror | undefined
  readonly schedules: readonly AdoptedSchedule[]
  /** The newest test alarm. */
  readonly test: TestAlarm | undefined
  readonly now: Date
}

// Causes of `giving status` that are about money.
const ofPayments = new Set(['payments', 'books', 'donors'])

/** The state of the service at a glance, as `giving status` tells it. */
export function overviewPage({ state, mirror, schedules, test, now }: Overview): Html[] {
  const { live, lastRun, lastGoodRun, nextRun, held, queue, causes, warnings } = state
  const isLate = { cause: 'queue', message: queue.reachable ? '' : `the queue cannot be reached: ${queue.error}` }
  const all = queue.reachable ? causes : [isLate, ...causes]
  const [payments, others] = [all.filter(isOfPayments), all.filter((one) => !isOfPayments(one))]
  return [
    html`<dl class="tiles">
${tile('Live release', live ? html`${live.release}` : html`none`, live && html`${String(live.activities)} activities, ${age(live.generated, now)} old`)}
${tile('Next run', nextRun ? shownInstant(nextRun) : html`paused`)}
${tile('Last run', lastRun ? html`${lastRun.state}` : html`none`, lastRun && html`<a href="/runs/${String(lastRun.id)}">run ${String(lastRun.id)}</a>, ${shownInstant(lastRun.finishedAt)}`)}
${tile('Last good run', shownInstant(lastGoodRun?.finishedAt))}
${tile('Held projects', html`<a href="/held">${String(held.count)}</a>`)}
${mirror && tile('Sync lag', html`${mirror.lagSeconds === undefined ? 'never synced' : duration(mirror.lagSeconds)}`, html`${mirror.upstream}`)}
${tile('Queue', html`<a href="/queues">${queue.reachable ? queue.engine : 'unreachable'}</a>`, html`${queueNote(queue)}`)}
</dl>
<p>${button('/publish', 'Publish now')}</p>
<h2>Needs a person</h2>
${causeList(others, lastRun, 'Nothing does.')}
<h2>Payments that need a person</h2>
${causeList(payments, lastRun, 'None.')}
`,
    html`${warnings.length > 0 ? html`<h2>To know</h2>\n<ul>${warnings.map((one) => html`<li>${one}</li>`)}</ul>\n` : undefined}`,
    html`<h2 id="schedules">Schedules</h2>
${listed(
  'Schedules in force',
  ['Schedule', 'When', 'Next', 'Change'],
  schedules.map(
    (one) =>
      html`<tr><th scope="row">${one.name}</th><td>${one.expression} (${one.timezone})</td><td>${one.pausedAt ? html`paused since ${shownInstant(one.pausedAt)}` : shownInstant(nextDue(one, now))}</td><td>${button(`/schedules/${encodeURIComponent(one.name)}/${one.pausedAt ? 'resume' : 'pause'}`, `${one.pausedAt ? 'Resume' : 'Pause'} ${one.name}`)}</td></tr>\n`,
  ),
)}
`,
    html`<h2>Alarms</h2>
<p>${button('/test-alarm', 'Send a test alarm')}</p>
${test && testState(test)}
`,
    html`${mirror && syncs(mirror)}`,
  ]
}

function testState({ askedAt, by, toldAt, failure }: TestAlarm): Html {
  const end = toldAt
    ? html`it was sent ${shownInstant(new Date(toldAt))}`
    : failure === undefined
      ? html`no worker has sent it yet`
      : html`no way took it: ${failure}`
  return html`<p>The last test was asked for ${shownInstant(new Date(askedAt))} by ${by}; ${end}.</p>`
}

function isOfPayments({ cause }: { readonly cause: string }): boolean {
  return ofPayments.has(cause)
}

function tile(name: string, value: Html, note?: Html): Html {
  return html`<div class="tile"><dt>${name}</dt><dd>${value}</dd>${note && html`<dd class="note">${note}</dd>`}</div>`
}

function age(generated: string, now: Date): string {
  return duration((now.getTime() - Date.parse(generated)) / 1000)
}

function queueNote(queue: QueueState): string {
  if (!queue.reachable) return queue.error
  const failed = Object.values(queue.jobs).reduce((sum, states) => sum + (states.failed ?? 0), 0)
  return `workers: ${queue.workers}, failed jobs: ${failed}`
}

function causeList(causes: ServiceState['causes'], lastRun: ServiceState['lastRun'], none: string): Html {
  if (causes.length === 0) return html`<p>${none}</p>`
  const items = causes.map(({ cause, message }) => {
    const address = placeOf(cause, lastRun)
    return html`<li><strong>${address === undefined ? cause : html`<a href="${address}">${cause}</a>`}</strong>: ${message}</li>`
  })
  return html`<ul class="needs">${items}</ul>`
}

const places: Readonly<Record<string, string>> = {
  'nothing-published': '/publish',
  'publication-overdue': '/publish',
  'activities-held': '/held',
  'organisations-held': '/held',
  facts: '/facts',
  'rolled-back': '/releases',
  'schedule-paused': '#schedules',
  queue: '/queues',
  sources: '/sources',
  sync: '#syncs',
}

/** Where a person acts on a cause, or sees more of it; undefined: the message names a command or a variable. */
function placeOf(cause: string, lastRun: ServiceState['lastRun']): string | undefined {
  if (cause === 'run-failed') return `/runs/${String(lastRun?.id)}`
  if (cause !== 'release-held') return Object.hasOwn(places, cause) ? places[cause] : undefined
  return lastRun?.releaseId === undefined
    ? `/runs/${String(lastRun?.id)}`
    : `/releases/${encodeURIComponent(lastRun.releaseId)}/approve`
}

function syncs({ runs }: Mirror): Html {
  return html`<h2 id="syncs">Syncs</h2>
${listed(
  'The last syncs',
  ['Sync', 'Kind', 'State', 'Started', 'Took', 'Created', 'Changed', 'Refused'],
  runs.map(
    (run) =>
      html`<tr><th scope="row">${String(run.id)}</th><td>${run.kind}</td><td>${(run.reason ?? run.error?.message) ? html`${run.state}: ${run.reason ?? run.error?.message}` : run.state}</td><td>${shownInstant(run.startedAt)}</td><td class="number">${isFinished(run) && run.startedAt && run.finishedAt ? duration((run.finishedAt.getTime() - run.startedAt.getTime()) / 1000) : '–'}</td><td class="number">${run.created}</td><td class="number">${run.changed}</td><td class="number">${run.refused}</td></tr>\n`,
  ),
  4,
)}
`
}
