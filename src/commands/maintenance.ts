import type { Environment } from '../config/config.js'
import { isoInstantOf } from '../domain/dates.js'
import { endMaintenance, findMaintenance, recordMaintenance } from '../store/access/maintenance.js'
import type { Output } from './output.js'
import { openRuntime, type Runtime } from './runtime.js'

/** `giving maintenance on|off|status`: every API process follows within 2 s. */
export async function maintenanceCommand(
  environment: Environment,
  change: { readonly to: 'on'; readonly minutes: number } | { readonly to: 'off' | 'status' },
  output: Output,
): Promise<number> {
  await using runtime = await openRuntime(environment)
  const { store, clock } = runtime
  if (change.to === 'on') {
    const at = clock()
    await recordMaintenance(store.db, { until: new Date(at.getTime() + change.minutes * 60_000), at })
  } else if (change.to === 'off') await endMaintenance(store.db)
  return tell(runtime, await findMaintenance(store.db), output)
}

function tell({ clock }: Pick<Runtime, 'clock'>, until: Date | undefined, output: Output): number {
  const closed = until !== undefined && until > clock()
  if (output.json) output.line(JSON.stringify({ maintenance: closed, ...(closed && { until: isoInstantOf(until) }) }))
  else if (closed) output.line(`the API answers 503 until ${isoInstantOf(until)}; published files stay readable`)
  else output.line('the API is open')
  return 0
}
