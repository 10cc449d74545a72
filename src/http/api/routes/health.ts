import type { FastifyInstance } from 'fastify'
import { toServiceError } from '../../../kernel/errors.js'
import { publicationHealth } from '../../../release/health.js'
import { objectOf, ref } from '../contract/openapi-schema.js'
import type { Operation } from '../contract/operation.js'
import type { ApiDeps } from '../deps.js'
import { retryAfterSeconds } from '../errors.js'

type HealthDeps = Pick<ApiDeps, 'store' | 'releases' | 'clock' | 'log' | 'stopping'>

const aliveOperation: Operation = {
  id: 'isAlive',
  summary: 'Whether the process answers',
  description: 'Asks nothing of the database. For example, a supervisor restarts a process that does not answer.',
  tag: 'Service',
  answer: {
    headers: ['Cache-Control'],
    content: { 'application/json': objectOf({ status: { type: 'string', const: 'alive' } }) },
  },
  failures: [400],
}

const readiness = ref('Readiness')
const readyOperation: Operation = {
  id: 'isReady',
  summary: 'Whether the process can work',
  description:
    '503 until there is a database and a live release. For example, a load balancer sends requests to what is ready.',
  tag: 'Service',
  answer: { headers: ['Cache-Control'], content: { 'application/json': readiness } },
  failures: [400],
  otherAnswers: {
    503: {
      description: 'Not ready, with what is missing.',
      headers: ['Cache-Control', 'Retry-After'],
      content: { 'application/json': readiness },
    },
  },
}

/**
 * `/healthz`: the process answers. `/readyz`: it can work, which needs the database and a live release; 503 until then,
 * and again once it is asked to stop, so that a proxy sends its requests elsewhere before it stops listening. A late, failed or held publication is reported (`needs`, the codes of `giving status`), but leaves the process in service:
 * it still serves the last good release.
 */
export function healthRoutes(app: FastifyInstance, deps: HealthDeps): void {
  app.get('/healthz', { config: { operations: [aliveOperation] } }, async (_request, reply) =>
    reply.header('cache-control', 'no-store').send({ status: 'alive' }),
  )

  // Concurrent requests share one check, since no limit counts them.
  let looking: Promise<State> | undefined
  const look = () => {
    looking ??= lookAt(deps).finally(() => {
      looking = undefined
    })
    return looking
  }

  app.get('/readyz', { config: { operations: [readyOperation] } }, async (_request, reply) => {
    if (deps.stopping.aborted) {
      reply.header('cache-control', 'no-store').header('retry-after', String(retryAfterSeconds)).code(503)
      return reply.send({ ready: false, stopping: true })
    }
    const state = await look()
    const ready = state.database === 'reachable' && state.release !== undefined
    reply.header('cache-control', 'no-store').code(ready ? 200 : 503)
    if (!ready) reply.header('retry-after', String(retryAfterSeconds))
    return reply.send({ ready, ...state })
  })
}

type State = {
  readonly database: 'reachable' | 'unreachable'
  readonly release?: string | undefined
  /** Age of the live release in seconds. */
  readonly releaseAge?: number
  readonly overdue?: boolean
  readonly needs?: readonly string[]
}

// A failure is an answer to this request, so it is returned and logged.
async function lookAt(deps: HealthDeps): Promise<State> {
  try {
    const { live, overdue, needs } = await publicationHealth(deps)
    const releaseAge = live && ageOf(live.manifest.generated, deps)
    return {
      database: 'reachable',
      release: live?.id,
      ...(releaseAge !== undefined && { releaseAge }),
      overdue,
      needs: needs.map(({ cause }) => cause),
    }
  } catch (err) {
    deps.log.warn({ err }, 'not ready: the database or the live release cannot be read')
    const database = toServiceError(err).code === 'database-unavailable' ? 'unreachable' : 'reachable'
    return { database, release: await liveRelease(deps) }
  }
}

async function liveRelease({ releases, log }: HealthDeps): Promise<string | undefined> {
  try {
    return (await releases.live())?.id
  } catch (err) {
    log.warn({ err }, 'not ready: the live release cannot be read')
    return undefined
  }
}

function ageOf(generated: string, { clock }: HealthDeps): number {
  return Math.max(0, Math.round((clock().getTime() - Date.parse(generated)) / 1000))
}
