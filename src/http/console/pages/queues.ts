import { type Html, html } from '../../portal/html.js'
import type { GivenUpJob, NextJob, QueueState } from '../console-deps.js'
import { withoutMailAddresses } from '../without-mail-addresses.js'
import { listed, shownInstant } from './frame.js'

/** The state of every queue, the same on both engines. */
export function queuesPage(
  queue: QueueState,
  { failed, schedulers }: { readonly failed: readonly GivenUpJob[]; readonly schedulers: readonly NextJob[] },
): Html[] {
  if (!queue.reachable)
    return [html`<p class="needs">The queue (${queue.engine}) cannot be reached: ${queue.error}</p>`]
  const states = [...new Set(Object.values(queue.jobs).flatMap((counts) => Object.keys(counts)))]
  const rows = Object.entries(queue.jobs).map(
    ([name, counts]) =>
      html`<tr><th scope="row">${name}</th>${states.map((state) => html`<td class="number">${counts[state] ?? 0}</td>`)}</tr>\n`,
  )
  return [
    html`<p class="lead">The queue is in ${queue.engine}; workers that are connected: ${queue.workers}.</p>
${listed('Jobs by state', ['Queue', ...states], rows, 1)}
<h2>Schedulers</h2>
${listed(
  'When each scheduler adds its next job',
  ['Scheduler', 'Queue', 'Next'],
  schedulers.map(
    ({ queue: place, name, next }) =>
      html`<tr><th scope="row">${name}</th><td>${place}</td><td>${shownInstant(next)}</td></tr>\n`,
  ),
)}
<h2>Failed jobs</h2>
${listed(
  'The newest failed jobs of each queue',
  ['Job', 'Queue', 'Failed', 'Tries', 'Why'],
  failed.map(
    ({ queue: place, name, failedAt, tries, reason }) =>
      html`<tr><th scope="row">${name}</th><td>${place}</td><td>${shownInstant(failedAt)}</td><td>${tries}</td><td>${withoutMailAddresses(reason)}</td></tr>\n`,
  ),
)}`,
  ]
}
