import type { Command } from 'commander'
import { endMaintenance, findMaintenance, recordMaintenance } from '../../accounts/sql/maintenance.js'
import { isoInstantOf } from '../../kernel/dates.js'
import { addCommand, type CommandLine, wholeNumber } from '../command-line.js'
import type { Output } from '../output.js'
import { audited } from '../wiring/audit.js'
import type { Runtime } from '../wiring/runtime.js'

/** `giving maintenance`. */
export function registerMaintenance(program: Command, { storeAction }: CommandLine): void {
  const maintenance = program.command('maintenance').description('close the API for a while')
  const add = (name: string, description: string) => addCommand(maintenance, name, description)
  add('on', 'answer API requests with 503; published files stay readable')
    .requiredOption('--minutes <number>', 'minutes until the API opens again by itself', wholeNumber)
    .action(storeAction([], close))
  add('off', 'open the API again').action(storeAction([], open))
  add('status', 'show whether the API is open').action(storeAction([], report))
}

async function close(runtime: Runtime, output: Output, { minutes }: { minutes: number }): Promise<number> {
  const at = runtime.clock()
  const until = new Date(at.getTime() + minutes * 60_000)
  const event = { action: 'maintenance-started', details: { minutes } } as const
  await audited(runtime, event, (db) => recordMaintenance(db, { until, at }))
  return await report(runtime, output)
}

async function open(runtime: Runtime, output: Output): Promise<number> {
  await audited(runtime, { action: 'maintenance-ended' }, endMaintenance)
  return await report(runtime, output)
}

/** Every API process follows within 2 s. */
async function report({ store, clock }: Runtime, output: Output): Promise<number> {
  const until = await findMaintenance(store.db)
  const closedUntil = until !== undefined && until > clock() ? isoInstantOf(until) : undefined
  return output.result({ maintenance: closedUntil !== undefined, until: closedUntil }, () =>
    closedUntil === undefined
      ? 'the API is open'
      : `the API answers 503 until ${closedUntil}; published files stay readable`,
  )
}
