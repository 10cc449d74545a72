import { randomUUID } from 'node:crypto'
import { openAlarmWays } from '../../../jobs/alarms.js'
import { raiseAlarms, type Unrecorded } from '../../platform/alarms.js'
import { keepLock } from '../../platform/database/locks.js'
import { needsOfApi } from './conditions.js'
import type { Runtime } from './runtime.js'

const everyMs = 60_000
// One process goes on telling, since another may have another certificate.
const tellsForSeconds = 180

/**
 * Sends the alarms that no worker sends: that a run waits while none lives or the queue is away, and that the certificate ends soon. Looked at
 * every minute; of several API processes one tells.
 */
export function watchFromApi(runtime: Runtime): void {
  const { store, clock, log, signal } = runtime
  const tell = openAlarmWays(runtime)
  if (!tell) return
  const owner = randomUUID()
  const unrecorded: Unrecorded = {}
  const look = async () => {
    if (!(await keepLock(store.db, 'alarms', owner, tellsForSeconds))) return
    const causes = await needsOfApi(runtime)
    const kept = 'open-api-alarms'
    await raiseAlarms(store, clock(), causes, (changes) => tell(changes, signal), { unrecorded, kept })
  }
  let isLooking = false
  const timer = setInterval(async () => {
    if (isLooking || signal.aborted) return
    isLooking = true
    await look().catch((err: unknown) => log.error({ err }, 'alarms of this API process cannot be looked for'))
    isLooking = false
  }, everyMs)
  runtime.defer(async () => clearInterval(timer))
}
