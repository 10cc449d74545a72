import type { Command } from 'commander'
import { isoInstantOf } from '../../kernel/dates.js'
import { nextDue } from '../../work/schedule.js'
import { type AdoptedSchedule, listSchedules } from '../../work/sql/schedules.js'
import { addCommand, type CommandLine } from '../command-line.js'
import type { Output } from '../output.js'
import { switchSchedule } from '../wiring/operator-actions.js'
import type { Runtime } from '../wiring/runtime.js'

/** `giving schedules`. */
export function registerSchedules(program: Command, { storeAction }: CommandLine): void {
  const schedules = program
    .command('schedules')
    .description('show when publications and syncs are due; pause or resume a schedule')
  const add = (name: string, description: string) => addCommand(schedules, name, description)
  add('list', 'list the schedules and when each is due next; exit code 1 when one is paused').action(
    storeAction([], list),
  )
  const change = (to: 'paused' | 'resumed') =>
    storeAction(['publish', 'reportingOrg'], async (runtime, output, name: string) => {
      await switchSchedule(runtime, name, to)
      await list(runtime, output)
      return 0
    })
  add('pause', 'skip the instants of a schedule until it is resumed')
    .argument('<name>', 'as giving schedules list shows it')
    .action(change('paused'))
  add('resume', 'put a paused schedule in force; skipped instants are not made up for')
    .argument('<name>', 'as giving schedules list shows it')
    .action(change('resumed'))
}

/** Exit code 1 when a schedule is paused. */
async function list({ store, clock }: Runtime, output: Output): Promise<number> {
  const schedules = await listSchedules(store.db)
  const now = clock()
  const shown = schedules.map((one) => ({ ...one, ...(!one.pausedAt && { next: nextDue(one, now) }) }))
  return output.result(
    { schedules: shown },
    () => (shown.length > 0 ? shown.map(describe) : 'no worker has started yet'),
    { code: schedules.some(({ pausedAt }) => pausedAt) ? 1 : 0 },
  )
}

function describe({ name, expression, timezone, pausedAt, next }: AdoptedSchedule & { readonly next?: Date }): string {
  const when = pausedAt ? `paused since ${isoInstantOf(pausedAt)}` : `next ${next && isoInstantOf(next)}`
  return `${name.padEnd(10)} ${expression} (${timezone}), ${when}`
}
