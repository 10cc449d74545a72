import type { Command } from 'commander'
import { importFiles } from '../../catalogue/import/import.js'
import { changeAsImport } from '../../catalogue/import/one-change.js'
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
import type { Runtime } from '../wiring/runtime.js'

/** `giving disbursements`. */
export function registerDisbursements(program: Command, { storeAction }: CommandLine): void {
  const disbursements = program.command('disbursements').description('payouts to partners')
  addCommand(disbursements, 'show', 'one payout of the books').argument('<reference>').action(storeAction([], show))
  addCommand(disbursements, 'correct', 'give a payout other values; giving imports undo takes it back')
    .argument('<reference>')
    .option('--amount <amount>', 'its amount', amountArgument)
    .option('--date <day>', 'its day', isoDay)
    .action(storeAction(['currency'], correct))
  addCommand(disbursements, 'remove', 'remove a payout; giving imports undo takes it back')
    .argument('<reference>')
    .action(storeAction([], remove))
  addCommand(
    disbursements,
    'import',
    'import payouts from CSV (project, date, amount, currency, reference); exit code 1 when lines were refused',
  )
    .argument('<file>', 'a CSV file with a header')
    .action(storeAction(['currency'], importPayouts))
}

async function show({ store }: Runtime, output: Output, reference: string): Promise<number> {
  return print(output, orNotFound(await findDisbursement(store.db, reference), unknown(reference)))
}

/** Changes a payout that an import brought, as an import of its own. */
async function correct(
  runtime: Runtime<'currency'>,
  output: Output,
  reference: string,
  { amount, date }: { readonly amount?: Decimal; readonly date?: IsoDate },
): Promise<number> {
  const { store, clock } = runtime
  const { source, ...stored } = orNotFound(await findDisbursement(store.db, reference), unknown(reference))
  const wanted = { ...stored, ...(amount !== undefined && { amount }), ...(date !== undefined && { on: date }) }
  refuseUnusable({ amount: wanted.amount, date: wanted.on }, runtime)
  const what = { name: 'giving disbursements correct', kind: 'disbursements' }
  await changeAsImport(store, { clock, operator: userOfProcess() }, what, async (db) => {
    await recordDisbursements(db, [wanted], source, true)
  })
  return print(output, { ...wanted, source })
}

async function remove({ store, clock }: Runtime, output: Output, reference: string): Promise<number> {
  const stored = orNotFound(await findDisbursement(store.db, reference), unknown(reference))
  const what = { name: 'giving disbursements remove', kind: 'disbursements' }
  const id = await changeAsImport(store, { clock, operator: userOfProcess() }, what, (db) =>
    removeDisbursement(db, reference),
  )
  return output.result(
    { removed: stored, import: id },
    () => `${describe(stored)} is removed: giving imports undo ${id}`,
  )
}

const unknown = (reference: string) => `there is no payout ${reference}`

function describe({
  reference,
  projectId,
  on,
  amount,
  currency,
  original,
  receiver,
  source,
}: StoredDisbursement): string {
  return `${reference}  project ${projectId}  ${on}  ${amount} ${currency}${original ? ` (${original.amount} ${original.currency})` : ''}${receiver === undefined ? '' : `  to ${receiver}`}  ${source}`
}

function print(output: Output, stored: StoredDisbursement): number {
  return output.result(stored, () => describe(stored))
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
