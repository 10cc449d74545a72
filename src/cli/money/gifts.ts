import type { Command } from 'commander'
import { type GiftRow, sha256, toGift } from '../../catalogue/import/kinds/gifts.js'
import { changeAsImport } from '../../catalogue/import/one-change.js'
import type { IsoDate } from '../../kernel/dates.js'
import { ServiceError } from '../../kernel/errors.js'
import { type Decimal, signOf } from '../../kernel/money.js'
import { findGift, removeGift, type StoredGift, saveGifts } from '../../money/sql/imported-gifts.js'
import { addCommand, type CommandLine, isoDay, orNotFound } from '../command-line.js'
import { labelled, type Output } from '../output.js'
import { userOfProcess } from '../wiring/audit.js'
import { amountArgument, refuseUnusable } from '../wiring/corrected-money.js'
import type { Runtime } from '../wiring/runtime.js'

/** `giving gifts`. */
export function registerGifts(program: Command, { storeAction }: CommandLine): void {
  const gifts = program.command('gifts').description('single gifts that were imported, by their references')
  addCommand(gifts, 'show', 'what is known of a gift').argument('<reference>').action(storeAction([], show))
  addCommand(gifts, 'correct', 'give a gift other values; giving imports undo takes it back')
    .argument('<reference>')
    .option('--amount <amount>', 'its amount', amountArgument)
    .option('--date <day>', 'its day', isoDay)
    .action(storeAction(['currency'], correct))
  addCommand(gifts, 'remove', 'remove a gift; giving imports undo takes it back')
    .argument('<reference>')
    .action(storeAction(['currency'], remove))
}

async function show({ store }: Runtime, output: Output, reference: string): Promise<number> {
  return print(output, reference, orNotFound(await findGift(store.db, sha256(reference)), unknown(reference)))
}

const unknown = (reference: string) => `no gift was imported with the reference ${reference}`

type Corrections = { readonly amount?: Decimal; readonly date?: IsoDate }

/** Gives an imported gift other values: both its months are summed again. */
async function correct(
  runtime: Runtime<'currency'>,
  output: Output,
  reference: string,
  corrections: Corrections,
): Promise<number> {
  const stored = await knownGift(runtime, reference)
  const row: GiftRow = { ...stored, ...corrections, currency: runtime.config.currency, reference }
  refuseUnusable(row, runtime)
  if (signOf(row.amount) !== signOf(stored.amount)) {
    const expected = signOf(stored.amount) > 0 ? 'an amount above 0' : 'an amount below 0'
    throw new ServiceError('input-unusable', `--amount: expected ${expected}, got ${row.amount}`)
  }
  await change(runtime, 'giving gifts correct', async (db, saving) => {
    const [outcome] = await saveGifts(db, [toGift(row, runtime.config.currency)], { ...saving, correct: true })
    if (typeof outcome === 'object' && 'field' in outcome) {
      throw new ServiceError('input-unusable', `${outcome.field}: expected ${outcome.expected}, got ${outcome.got}`)
    }
  })
  return print(output, reference, await knownGift(runtime, reference))
}

async function remove(runtime: Runtime<'currency'>, output: Output, reference: string): Promise<number> {
  const stored = await knownGift(runtime, reference)
  const id = await change(runtime, 'giving gifts remove', (db, saving) => removeGift(db, sha256(reference), saving))
  return output.result({ removed: stored, import: id }, () => `gift ${reference} is removed: giving imports undo ${id}`)
}

type Work = (db: Parameters<typeof saveGifts>[0], saving: Parameters<typeof saveGifts>[2]) => Promise<void>

async function change({ store, clock, config }: Runtime<'currency'>, name: string, work: Work): Promise<number> {
  const saving = { source: 'import', currency: config.currency, importId: name }
  return await changeAsImport(store, { clock, operator: userOfProcess() }, { name, kind: 'gifts' }, (db) =>
    work(db, saving),
  )
}

type KnownGift = Required<Omit<StoredGift, 'funder'>> & Pick<StoredGift, 'funder'>

async function knownGift({ store }: Runtime, reference: string): Promise<KnownGift> {
  const { date, kind, amount, count, ...stored } = orNotFound(
    await findGift(store.db, sha256(reference)),
    unknown(reference),
  )
  if (date === undefined || kind === undefined || amount === undefined || count === undefined) {
    const message = `the values of gift ${reference} are not known: import the file that brought it with --repair`
    throw new ServiceError('input-unusable', message)
  }
  return { ...stored, date, kind, amount, count }
}

function print(output: Output, reference: string, stored: StoredGift): number {
  const { project, date, kind = 'gift', amount, count, funder } = stored
  const facts = [
    ['project', String(project)],
    ['day', date ?? 'not known'],
    [kind, amount ?? 'not known'],
    ['gifts', count === undefined ? undefined : String(count)],
    ['funder', funder === undefined ? undefined : String(funder)],
  ] as const
  return output.result({ reference, ...stored }, () => labelled(facts, 10))
}
