import type { FastifyInstance } from 'fastify'
import type { ApiDeps } from '../deps.js'
import { retryAfterSeconds } from '../errors.js'

/**
 * `/healthz`: the process answers. `/readyz`: it can do its work, which needs the database and a live release; 503 until
 * then.
 */
export function healthRoutes(app: FastifyInstance, deps: Pick<ApiDeps, 'store' | 'releases' | 'log'>): void {
  app.get('/healthz', async (_request, reply) => reply.header('cache-control', 'no-store').send({ status: 'alive' }))

  app.get('/readyz', async (_request, reply) => {
    const [database, release] = await Promise.all([isDatabaseReachable(deps), liveRelease(deps)])
    const ready = database && release !== undefined
    reply.header('cache-control', 'no-store').code(ready ? 200 : 503)
    if (!ready) reply.header('retry-after', String(retryAfterSeconds))
    return reply.send({ ready, database: database ? 'reachable' : 'unreachable', release })
  })
}

// The answer to this request is whether these work, so a failure is a value here, and logged.
async function isDatabaseReachable({ store, log }: Pick<ApiDeps, 'store' | 'log'>): Promise<boolean> {
  try {
    await store.db.query('select 1')
    return true
  } catch (err) {
    log.warn({ err }, 'not ready: the database cannot be reached')
    return false
  }
}

async function liveRelease({ releases, log }: Pick<ApiDeps, 'releases' | 'log'>): Promise<string | undefined> {
  try {
    return (await releases.live())?.id
  } catch (err) {
    log.warn({ err }, 'not ready: the live release cannot be read')
    return undefined
  }
}
