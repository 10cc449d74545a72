import type { Command } from 'commander'
import { type GiftRow, sha256, toGift } from '../../catalogue/import/kinds/gifts.js'
import type { IsoDate } from '../../kernel/dates.js'
import { ServiceError } from '../../kernel/errors.js'
import { type Decimal, roundToCurrency, signOf } from '../../kernel/money.js'
import { findGift, removeGift, type StoredGift, saveGifts } from '../../money/sql/imported-gifts.js'
import { type CommandLine, isoDay, orNotFound } from '../command-line.js'
import { labelled } from '../output.js'
import { amountArgument, refuseUnusable } from '../wiring/corrected-money.js'
import { type Change, type Correctable, registerCorrections } from '../wiring/corrections.js'

/** `giving gifts`. */
export function registerGifts(program: Command, commandLine: CommandLine): void {
  const gifts = program.command('gifts').description('single gifts that were imported')
  registerCorrections(gifts, commandLine, importedGifts)
}

type NamedGift = StoredGift & { readonly reference: string }

const importedGifts: Correctable<NamedGift, { readonly amount?: Decimal; readonly date?: IsoDate }> = {
  ...{ kind: 'gifts', one: 'gift', argument: ['<reference>', 'reference of the gift'] },
  options: (command) =>
    command.option('--amount <amount>', 'its amount', amountArgument).option('--date <day>', 'its day', isoDay),
  find: async (db, reference) => {
    const unknown = `no gift was imported with the reference ${reference}`
    return { reference, ...orNotFound(await findGift(db, sha256(reference)), unknown) }
  },
  describe: ({ project, date, kind = 'gift', amount, count, funder }, currency) => {
    const facts = [
      ['project', String(project)],
      ['day', date ?? 'not known'],
      [kind, amount === undefined ? 'not known' : `${roundToCurrency(amount, currency)} ${currency}`],
      ['gifts', count === undefined ? undefined : String(count)],
      ['funder', funder === undefined ? undefined : String(funder)],
    ] as const
    return labelled(facts, 10)
  },
  /** Both its months are summed again. */
  correct: async ({ db, runtime }, gift, corrections) => {
    const stored = knownGift(gift)
    const row: GiftRow = { ...stored, ...corrections, currency: runtime.config.currency }
    refuseUnusable(row, runtime)
    if (signOf(row.amount) !== signOf(stored.amount)) {
      const expected = signOf(stored.amount) > 0 ? 'an amount above 0' : 'an amount below 0'
      throw new ServiceError('input-unusable', `--amount: expected ${expected}, got ${row.amount}`)
    }
    const [outcome] = await saveGifts(db, [toGift(row, runtime.config.currency)], {
      ...savingOf(runtime),
      correct: true,
    })
    if (typeof outcome === 'object' && 'field' in outcome) {
      throw new ServiceError('input-unusable', `${outcome.field}: expected ${outcome.expected}, got ${outcome.got}`)
    }
  },
  remove: async ({ db, runtime }, gift) => await removeGift(db, sha256(knownGift(gift).reference), savingOf(runtime)),
}

function savingOf({ config }: Change['runtime']): Parameters<typeof saveGifts>[2] {
  return { source: 'import', currency: config.currency, importId: 'giving gifts' }
}

function knownGift(stored: NamedGift) {
  const { date, kind, amount, count } = stored
  if (date === undefined || kind === undefined || amount === undefined || count === undefined) {
    const message = `the values of gift ${stored.reference} are not known: import the file that brought it with --repair`
    throw new ServiceError('input-unusable', message)
  }
  return { ...stored, date, kind, amount, count }
}
