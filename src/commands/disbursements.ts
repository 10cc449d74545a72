import type { Command } from 'commander'
import { isoDateOf } from '../domain/dates.js'
import { importDisbursements } from '../payments/import-disbursements.js'
import { type CommandLine, jsonOption } from './command-line.js'
import type { Output } from './output.js'
import type { Runtime } from './wiring/runtime.js'

/** `giving disbursements`. */
export function registerDisbursements(program: Command, { storeAction }: CommandLine): void {
  program
    .command('disbursements')
    .description('payouts to partners')
    .command('import')
    .description(
      'import payouts from CSV (project, date, amount, currency, reference); exit code 1 when lines were refused',
    )
    .argument('<file>', 'a CSV file with a header')
    .option(...jsonOption)
    .action(storeAction(['currency'], importPayouts))
}

async function importPayouts(
  { config, clock, store }: Runtime<'currency'>,
  output: Output,
  file: string,
): Promise<number> {
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
