import type { Command } from 'commander'
import { listBalances, listDifferences } from '../store/donations/books-check.js'
import { type CommandLine, jsonOption } from './command-line.js'
import type { Output } from './output.js'
import type { Runtime } from './wiring/runtime.js'

/** `giving books`, which was `giving ledger`. */
export function registerBooks(program: Command, { storeAction }: CommandLine): void {
  program
    .command('books')
    .alias('ledger')
    .description('the books')
    .command('check')
    .description('prove that donations, months, totals and payouts agree; exit code 1 when they do not')
    .option(...jsonOption)
    .action(storeAction([], checkBooks))
}

const shown = 100

/** Proves that incoming - fees - disbursed = balance held. */
async function checkBooks({ store }: Runtime, output: Output): Promise<number> {
  const { balances, differences } = await store.snapshot(async (db) => ({
    balances: await listBalances(db),
    differences: await listDifferences(db, shown),
  }))
  output.result({ balances, differences }, () => [
    ...balances.map(
      ({ currency, projects, incoming, fees, disbursed, balance }) =>
        `${currency}, ${projects} projects: incoming ${incoming} - fees ${fees} - disbursed ${disbursed} = balance held ${balance}`,
    ),
    ...differences.map(({ what, subject, expected, got }) => `${what}: ${subject}: expected ${expected}, got ${got}`),
    differences.length === 0 ? 'the books agree' : `${differences.length} differences (at most ${shown} of a kind)`,
  ])
  return differences.length > 0 ? 1 : 0
}
