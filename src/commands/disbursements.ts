import type { Command } from 'commander'
import type { Environment } from '../config/config.js'
import { isoDateOf } from '../domain/dates.js'
import { importDisbursements } from '../payments/import-disbursements.js'
import { type CommandLine, jsonOption } from './command-line.js'
import type { Output } from './output.js'
import { openRuntime } from './wiring/runtime.js'

/** `giving disbursements`. */
export function registerDisbursements(program: Command, { environment, action }: CommandLine): void {
  program
    .command('disbursements')
    .description('payouts to partners')
    .command('import')
    .description(
      'import payouts from CSV (project, date, amount, currency, reference); exit code 1 when lines were refused',
    )
    .argument('<file>', 'a CSV file with a header')
    .option(...jsonOption)
    .action(action((output, file: string) => importDisbursementsCommand(environment, file, output)))
}

/** `giving disbursements import FILE.csv`: exit code 1 when lines were refused. */
export async function importDisbursementsCommand(
  environment: Environment,
  file: string,
  output: Output,
): Promise<number> {
  await using runtime = await openRuntime(environment, ['currency'])
  const { config, clock, store } = runtime
  const summary = await importDisbursements(store, file, { today: isoDateOf(clock()), currency: config.currency })
  const { lines, created, known, refused, problems } = summary
  if (!output.json) {
    for (const { line, field, expected, got } of problems) {
      output.note(`${file}, line ${line}, ${field}: expected ${expected}, got ${JSON.stringify(got)}`)
    }
  }
  output.result(summary, () => `${lines} lines: ${created} new, ${known} already known, ${refused} refused`)
  return refused > 0 ? 1 : 0
}
