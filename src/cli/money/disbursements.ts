import type { Command } from 'commander'
import { importFiles } from '../../catalogue/import/import.js'
import { ServiceError } from '../../kernel/errors.js'
import { addCommand, type CommandLine } from '../command-line.js'
import type { Output } from '../output.js'
import type { Runtime } from '../wiring/runtime.js'

/** `giving disbursements`. */
export function registerDisbursements(program: Command, { storeAction }: CommandLine): void {
  addCommand(
    program.command('disbursements').description('payouts to partners'),
    'import',
    'import payouts from CSV (project, date, amount, currency, reference); exit code 1 when lines were refused',
  )
    .argument('<file>', 'a CSV file with a header')
    .action(storeAction(['currency'], importPayouts))
}

/** The same as `giving import --kind disbursements`, with the summary that this command has always printed. */
async function importPayouts(
  { config, clock, signal, store }: Runtime<'currency'>,
  output: Output,
  file: string,
): Promise<number> {
  const summary = await importFiles(store, [file], {
    source: 'import',
    kind: 'disbursements',
    clock,
    currency: config.currency,
    signal,
  })
  const { records: lines, created, unchanged: known, refused, brokenFiles } = summary
  const broken = summary.problems.find(({ field }) => field === 'file')
  if (brokenFiles > 0) throw new ServiceError('input-unusable', `${file} cannot be read: ${broken?.got ?? ''}`)
  const problems = summary.problems.map(({ line, field, expected, got }) => ({ line, field, expected, got }))
  if (!output.json) {
    for (const { line, field, expected, got } of problems) {
      output.note(`${file}, line ${line}, ${field}: expected ${expected}, got ${JSON.stringify(got ?? '')}`)
    }
  }
  const result = { lines, created, known, refused, problems }
  return output.result(result, () => `${lines} lines: ${created} new, ${known} already known, ${refused} refused`, {
    code: refused > 0 ? 1 : 0,
  })
}
