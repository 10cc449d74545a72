import type { Command } from 'commander'
import { addDays, type IsoDate, isoDateOf } from '../../kernel/dates.js'
import { ServiceError } from '../../kernel/errors.js'
import { adoptCharges } from '../../money/adopt-charges.js'
import { reconcileDays } from '../../money/reconcile.js'
import { listBalances, listDifferences } from '../../money/sql/books-check.js'
import { acceptDifferences, type ReconciliationDifference } from '../../money/sql/reconciliation.js'
import { addCommand, type CommandLine, isoDay } from '../command-line.js'
import type { Output } from '../output.js'
import { auditOperator } from '../wiring/audit.js'
import { openPayments, paymentFields } from '../wiring/payments.js'
import type { Runtime } from '../wiring/runtime.js'

/** `giving books`. */
export function registerBooks(program: Command, { storeAction }: CommandLine): void {
  const books = program
    .command('books')
    .description('the books: check that they add up, compare them with the processor')
  addCommand(
    books,
    'check',
    'prove that donations, months, totals and payouts agree; exit code 1 when they do not',
  ).action(storeAction([], checkBooks))
  addCommand(
    books,
    'reconcile',
    'compare what the payment processor settled on a day with the books; exit code 1 when they differ',
  )
    .option('--day <day>', 'a UTC day such as 2026-11-21; default: yesterday', isoDay)
    .option('--adopt', 'enter charges that the processor knows and the books lost', false)
    .option('--accept', 'accept the differences of the day: they need no person any more', false)
    .action(storeAction(paymentFields, reconcile))
}

const shown = 100

/** Proves that incoming - fees - disbursed = balance held. */
async function checkBooks({ store }: Runtime, output: Output): Promise<number> {
  const { balances, differences } = await store.snapshot(async (db) => ({
    balances: await listBalances(db),
    differences: await listDifferences(db, shown),
  }))
  return output.result(
    { balances, differences },
    () => [
      ...balances.map(
        ({ currency, projects, incoming, fees, disbursed, balance }) =>
          `${currency}, ${projects} projects: incoming ${incoming} - fees ${fees} - disbursed ${disbursed} = balance held ${balance}`,
      ),
      ...differences.map(({ what, subject, expected, got }) => `${what}: ${subject}: expected ${expected}, got ${got}`),
      differences.length === 0 ? 'the books agree' : `${differences.length} differences (at most ${shown} of a kind)`,
    ],
    { code: differences.length > 0 ? 1 : 0 },
  )
}

/** Reads the processor's list of a day, brings the books in line as far as possible, and names what differs. */
async function reconcile(
  runtime: Runtime,
  output: Output,
  { day: given, adopt, accept }: { readonly day?: IsoDate; readonly adopt: boolean; readonly accept: boolean },
): Promise<number> {
  const { clock, signal } = runtime
  const payments = await openPayments(runtime, { makesDonorKey: false })
  const gateway = payments.gateway.name
  const today = isoDateOf(clock())
  const day = given ?? addDays(today, -1)
  if (day > today) {
    const problem = { field: '--day', expected: `a day until today, ${today}`, got: day }
    throw new ServiceError('request-invalid', `--day: expected ${problem.expected}; got: ${day}`, {
      problems: [problem],
    })
  }
  const compare = () => reconcileDays(payments, { from: day, to: day }, signal)
  const first = await compare()
  const charges = adopt ? await adoptCharges(payments, first.differences, signal) : []
  const adopted = charges.flatMap((charge) => ('donationId' in charge ? [charge] : []))
  const left = charges.flatMap((charge) => ('left' in charge ? [charge] : []))
  if (adopted.length > 0) {
    const event = { action: 'charges-adopted', subject: `day ${day}`, details: { adopted: adopted.length } } as const
    await auditOperator(runtime, runtime.store.db, event)
  }
  const { days, differences } = adopted.length > 0 ? await compare() : first
  const open = differences.filter(({ acceptedAt }) => acceptedAt === undefined)
  const accepted = accept ? await acceptAll(runtime, { gateway, day }) : 0
  return output.result(
    { gateway, day, days, differences, accepted, ...(adopt && { adopted, left }) },
    () => [
      ...days.map(
        ({ currency, processorAmount, booksAmount, difference }) =>
          `${day} ${currency}: ${gateway} ${processorAmount}, books ${booksAmount}, difference ${difference}`,
      ),
      ...adopted.map(({ chargeId, donationId }) => `entered charge ${chargeId} as donation ${donationId}`),
      ...left.map(({ chargeId, left: reason }) => `left charge ${chargeId}: ${reason}`),
      ...differences.map(describeDifference),
      ...(accepted > 0 ? [`${accepted} differences are accepted`] : []),
      open.length === 0 ? `${gateway} and the books agree` : `${open.length} differences`,
    ],
    { code: open.length > accepted ? 1 : 0 },
  )
}

async function acceptAll(runtime: Runtime, of: { readonly gateway: string; readonly day: IsoDate }): Promise<number> {
  return await runtime.store.transaction(async (db) => {
    const accepted = await acceptDifferences(db, { ...of, at: runtime.clock() })
    const event = { action: 'differences-accepted', subject: `day ${of.day}`, details: { accepted } } as const
    if (accepted > 0) await auditOperator(runtime, db, event)
    return accepted
  })
}

function describeDifference(difference: ReconciliationDifference): string {
  const { kind, entry, reference, processorId, donationId, processorAmount, booksAmount, acceptedAt } = difference
  const names = [
    reference !== undefined && `reference ${reference}`,
    processorId !== undefined && `processor's id ${processorId}`,
    donationId !== undefined && `donation ${donationId}`,
  ].filter(Boolean)
  const amounts = `processor ${processorAmount ?? 'nothing'}, books ${booksAmount ?? 'nothing'}`
  return `${kind} ${entry}: ${names.join(', ')}: ${amounts}${acceptedAt ? ' (accepted)' : ''}`
}
