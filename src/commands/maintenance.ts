import type { Command } from 'commander'
import type { Environment } from '../config/config.js'
import { isoInstantOf } from '../domain/dates.js'
import { endMaintenance, findMaintenance, recordMaintenance } from '../store/access/maintenance.js'
import { type CommandLine, jsonOption, wholeNumber } from './command-line.js'
import type { Output } from './output.js'
import { openRuntime } from './wiring/runtime.js'

/** `giving maintenance`. */
export function registerMaintenance(program: Command, { environment, action }: CommandLine): void {
  const maintenance = program.command('maintenance').description('close the API for a while')
  const add = (name: string, description: string) =>
    maintenance
      .command(name)
      .description(description)
      .option(...jsonOption)
  add('on', 'answer API requests with 503; published files stay readable')
    .requiredOption('--minutes <number>', 'when the API opens again by itself', wholeNumber)
    .action(
      action((output, { minutes }: { minutes: number }) =>
        maintenanceCommand(environment, { to: 'on', minutes }, output),
      ),
    )
  add('off', 'open the API again').action(action((output) => maintenanceCommand(environment, { to: 'off' }, output)))
  add('status', 'tell whether the API is open').action(
    action((output) => maintenanceCommand(environment, { to: 'status' }, output)),
  )
}

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
  const until = await findMaintenance(store.db)
  const closedUntil = until !== undefined && until > clock() ? isoInstantOf(until) : undefined
  output.result({ maintenance: closedUntil !== undefined, until: closedUntil }, () =>
    closedUntil === undefined
      ? 'the API is open'
      : `the API answers 503 until ${closedUntil}; published files stay readable`,
  )
  return 0
}
