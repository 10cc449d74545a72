import type { FastifyInstance } from 'fastify'
import { statusPath } from '../../../iati/addresses.js'
import { isoInstantOf } from '../../../kernel/dates.js'
import type { RunSummary } from '../../../work/sql/runs.js'
import { ref } from '../contract/openapi-schema.js'
import { alwaysPossible, type Operation } from '../contract/operation.js'
import type { ApiDeps } from '../deps.js'
import { manifestLink } from './feeds.js'

/** Number of runs in `/feeds/status.json`. */
const shownRuns = 20

const operation: Operation = {
  id: 'getStatus',
  summary: 'The live release and the last publication runs',
  description: 'Also there before the first release. For example, a reader sees whether tonight has been published.',
  tag: 'Service',
  answer: { headers: ['Cache-Control', 'Link'], content: { 'application/json': ref('Status') } },
  failures: alwaysPossible,
}

/** `/feeds/status.json`: the live release and the last runs; answered before the first release too. */
export function statusRoute(app: FastifyInstance, { releases, listRuns }: ApiDeps): void {
  app.get(statusPath, { config: { operations: [operation] } }, async (_request, reply) => {
    const [release, runs] = await Promise.all([releases.live(), listRuns(shownRuns)])
    return reply
      .header('content-type', 'application/json; charset=utf-8')
      .header('cache-control', 'no-cache')
      .header('link', manifestLink)
      .send(
        `${JSON.stringify(
          {
            release: release?.id,
            generated: release?.manifest.generated,
            activities: release?.manifest.totals.activities,
            held: release?.manifest.held.count,
            runs: runs.map(toStatusRun),
          },
          null,
          2,
        )}\n`,
      )
  })
}

// Lease owners and messages of errors are for the operator only.
function toStatusRun(run: RunSummary) {
  return {
    id: run.id,
    trigger: run.trigger,
    state: run.state,
    attempt: run.attempt,
    queuedAt: isoInstantOf(run.queuedAt),
    startedAt: run.startedAt && isoInstantOf(run.startedAt),
    finishedAt: run.finishedAt && isoInstantOf(run.finishedAt),
    rendered: run.rendered,
    changed: run.changed,
    held: run.held,
    release: run.releaseId,
    reason: run.reason,
    error: run.error?.code,
  }
}
