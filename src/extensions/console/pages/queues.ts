import type { QueueJobs } from '../../../cli/extension.js'
import type { QueueStatus } from '../../../cli/service-state.js'
import { type Html, html } from '../../../http/pages/html.js'
import { withoutMailAddresses } from '../without-mail-addresses.js'
import { listed } from './frame.js'

/** The state of every queue, the same on both engines. */
export function queuesPage(queue: QueueStatus, { failed, schedulers }: QueueJobs): Html[] {
  if (!queue.reachable)
    return [html`<p class="needs">The queue (${queue.engine}) cannot be reached: ${queue.error}</p>`]
  const states = [...new Set(Object.values(queue.jobs).flatMap((counts) => Object.keys(counts)))]
  const rows = Object.entries(queue.jobs).map(([name, counts]) => [name, ...states.map((state) => counts[state] ?? 0)])
  return [
    html`<p class="lead">The queue is in ${queue.engine}; workers that are connected: ${queue.workers}.</p>
${listed('Jobs by state', ['Queue', ...states], rows, 1)}
<h2>Schedulers</h2>
${listed(
  'When each scheduler adds its next job',
  ['Scheduler', 'Queue', 'Next'],
  schedulers.map(({ queue: place, name, next }) => [name, place, next]),
)}
<h2>Failed jobs</h2>
${listed(
  'The newest failed jobs of each queue',
  ['Job', 'Queue', 'Failed', 'Tries', 'Why'],
  failed.map(({ queue: place, name, failedAt, tries, reason }) => [
    ...[name, place, failedAt, tries],
    withoutMailAddresses(reason),
  ]),
)}`,
  ]
}
