import { setTimeout as sleep } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'
import { findMaintenance } from '../../accounts/sql/maintenance.js'
import { isoInstantOf } from '../../kernel/dates.js'
import { ServiceError } from '../../kernel/errors.js'
import { isApiRequest } from './api-path.js'
import type { ApiDeps } from './deps.js'

// Processes poll this often, so that all of them see a change within 2 s.
const lookEveryMs = 1_000

/**
 * Answers API requests with `maintenance` while the operator has closed the API; published files, the index page and
 * health are not affected. While the database is unavailable, which maintenance may cause, the last known state counts.
 */
export function closeForMaintenance(app: FastifyInstance, { store, clock, log }: ApiDeps): void {
  let until: Date | undefined
  let looking: Promise<void> | undefined
  let reachable = true

  const look = async () => {
    try {
      until = await findMaintenance(store.db)
      reachable = true
    } catch (err) {
      if (reachable) log.warn({ err }, 'cannot read the maintenance state')
      reachable = false
    } finally {
      looking = undefined
    }
  }
  let timer: NodeJS.Timeout | undefined
  app.addHook('onReady', async () => {
    looking = look()
    // A process must start, and serve files, while the database is unavailable.
    await Promise.race([looking, sleep(lookEveryMs, undefined, { ref: false })])
    timer = setInterval(() => {
      looking ??= look()
    }, lookEveryMs).unref()
  })
  app.addHook('onClose', async () => {
    clearInterval(timer)
    await looking
  })

  app.addHook('onRequest', (request, _reply, done) => {
    const seconds = until && isApiRequest(request) ? Math.ceil((until.getTime() - clock().getTime()) / 1000) : 0
    if (until === undefined || seconds <= 0) {
      done()
      return
    }
    const message = `the API is closed for maintenance until ${isoInstantOf(until)}`
    done(new ServiceError('maintenance', message, { retryAfterSeconds: seconds }))
  })
}
