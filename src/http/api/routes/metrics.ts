import type { FastifyInstance } from 'fastify'
import type { Metrics } from '../../../platform/observability/metrics.js'
import type { Operation } from '../contract/operation.js'
import { nothingHere } from '../errors.js'

const operation: Operation = {
  id: 'getMetrics',
  summary: 'Metrics for Prometheus; 404 where the operator has not switched them on',
  description:
    'Counts and times in the text format of Prometheus. For example, giving_release_age_seconds is the age of the live release.',
  tag: 'Service',
  answer: { headers: ['Cache-Control'], content: { 'text/plain': { type: 'string' } } },
  failures: [400, 404, 503],
}

/** Measures each request by its route; unknown addresses count as one route. */
export function measureRequests(app: FastifyInstance, metrics: Metrics): void {
  app.addHook('onResponse', (request, reply, done) => {
    const route = request.routeOptions.url ?? 'none'
    metrics.observeRequest({
      method: request.method,
      route,
      status: reply.statusCode,
      seconds: reply.elapsedTime / 1000,
    })
    done()
  })
}

/** Without metrics to show the address answers 404. */
export function metricsRoute(app: FastifyInstance, metrics: Metrics | undefined): void {
  app.get('/metrics', { config: { operations: [operation] } }, async (request, reply) => {
    if (!metrics) throw nothingHere(request)
    return reply
      .header('content-type', metrics.contentType)
      .header('cache-control', 'no-store')
      .send(await metrics.text())
  })
}
