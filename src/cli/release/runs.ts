import type { Command } from 'commander'
import { isoInstantOf } from '../../kernel/dates.js'
import { listRunLines, type RunLine } from '../../work/sql/run-lines.js'
import { getRun, listRuns } from '../../work/sql/runs.js'
import { addCommand, type CommandLine, wholeNumber } from '../command-line.js'
import type { Output } from '../output.js'
import { cancelPublication } from '../wiring/operator-actions.js'
import { describeRun } from '../wiring/runs.js'
import type { Runtime } from '../wiring/runtime.js'

const mostLines = 1_000

/** `giving runs`. */
export function registerRuns(program: Command, { storeAction }: CommandLine): void {
  const runs = program.command('runs').description('show publication runs, and cancel one')
  addCommand(runs, 'list', 'list publication runs, newest first')
    .option('--limit <number>', 'how many at most', wholeNumber, 20)
    .action(storeAction([], list))
  addCommand(runs, 'show', 'show a run and the lines of its log')
    .argument('<number>', 'number of the run', wholeNumber)
    .action(storeAction([], show))
  addCommand(runs, 'cancel', 'end a run that waits or is worked on; the live release stays')
    .argument('<number>', 'number of the run', wholeNumber)
    .action(
      storeAction(['publish', 'reportingOrg'], async (runtime, output, id: number) => {
        await cancelPublication(runtime, id)
        return await show(runtime, output, id)
      }),
    )
}

async function list({ store }: Runtime, output: Output, { limit }: { readonly limit: number }): Promise<number> {
  const runs = await listRuns(store.db, limit)
  return output.result({ runs }, () => runs.map(describeRun), {
    note: runs.length === 0 && 'there has been no run yet',
  })
}

async function show({ store }: Runtime, output: Output, id: number): Promise<number> {
  const run = await getRun(store.db, id)
  const lines = await listRunLines(store.db, id, mostLines)
  return output.result({ ...run, lines }, () => [describeRun(run), ...lines.map(describeLine)])
}

function describeLine({ at, level, message, details }: RunLine): string {
  return `${isoInstantOf(at)} ${level.padEnd(5)} ${message} ${JSON.stringify(details)}`
}
