import type { Command } from 'commander'
import { importFiles } from '../../catalogue/import/import.js'
import type { IsoDate } from '../../kernel/dates.js'
import { ServiceError } from '../../kernel/errors.js'
import type { Decimal } from '../../kernel/money.js'
import {
  findDisbursement,
  recordDisbursements,
  removeDisbursement,
  type StoredDisbursement,
} from '../../money/sql/disbursements.js'
import { addCommand, type CommandLine, isoDay, orNotFound } from '../command-line.js'
import type { Output } from '../output.js'
import { userOfProcess } from '../wiring/audit.js'
import { amountArgument, refuseUnusable } from '../wiring/corrected-money.js'
import { type Correctable, registerCorrections } from '../wiring/corrections.js'
import type { Runtime } from '../wiring/runtime.js'

/** `giving disbursements`. */
export function registerDisbursements(program: Command, commandLine: CommandLine): void {
  const disbursements = program.command('disbursements').description('payouts to partners')
  registerCorrections(disbursements, commandLine, payouts)
  addCommand(
    disbursements,
    'import',
    'import payouts from CSV (project, date, amount, currency, reference); exit code 1 when lines were refused',
  )
    .argument('<file>', 'a CSV file with a header')
    .action(commandLine.storeAction(['currency'], importPayouts))
}

const payouts: Correctable<StoredDisbursement, { readonly amount?: Decimal; readonly date?: IsoDate }> = {
  ...{ kind: 'disbursements', one: 'payout', argument: ['<reference>', 'reference of the payout'] },
  options: (command) =>
    command.option('--amount <amount>', 'its amount', amountArgument).option('--date <day>', 'its day', isoDay),
  find: async (db, reference) => orNotFound(await findDisbursement(db, reference), `there is no payout ${reference}`),
  describe: ({ reference, projectId, on, amount, currency, original, receiver, source }) =>
    `${reference}  project ${projectId}  ${on}  ${amount} ${currency}${original ? ` (${original.amount} ${original.currency})` : ''}${receiver === undefined ? '' : `  to ${receiver}`}  ${source}`,
  correct: async ({ db, runtime }, { source, ...stored }, { amount = stored.amount, date = stored.on }) => {
    refuseUnusable({ amount, date }, runtime)
    await recordDisbursements(db, [{ ...stored, amount, on: date }], source, true)
  },
  remove: async ({ db }, { reference }) => await removeDisbursement(db, reference),
}

/** The same as `giving import --kind disbursements`, with the summary that this command has always printed. */
async function importPayouts({ config, clock, signal, store }: Runtime, output: Output, file: string): Promise<number> {
  const summary = await importFiles(store, [file], {
    source: 'import',
    kind: 'disbursements',
    operator: userOfProcess(),
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
