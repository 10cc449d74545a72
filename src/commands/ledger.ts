import type { Environment } from '../config/config.js'
import { ledgerBalances, ledgerDifferences } from '../store/donations/ledger.js'
import type { Output } from './output.js'
import { openRuntime } from './runtime.js'

const shown = 100

/** `giving ledger check`: incoming - fees - disbursed = balance held; exit code 1 when books differ. */
export async function checkLedgerCommand(environment: Environment, output: Output): Promise<number> {
  await using runtime = await openRuntime(environment)
  const { balances, differences } = await runtime.store.snapshot(async (db) => ({
    balances: await ledgerBalances(db),
    differences: await ledgerDifferences(db, shown),
  }))
  if (output.json) output.line(JSON.stringify({ balances, differences }))
  else {
    for (const { currency, projects, incoming, fees, disbursed, balance } of balances) {
      output.line(
        `${currency}, ${projects} projects: incoming ${incoming} - fees ${fees} - disbursed ${disbursed} = balance held ${balance}`,
      )
    }
    for (const { what, subject, expected, got } of differences) {
      output.line(`${what}: ${subject}: expected ${expected}, got ${got}`)
    }
    output.line(
      differences.length === 0 ? 'the books agree' : `${differences.length} differences (at most ${shown} of a kind)`,
    )
  }
  return differences.length > 0 ? 1 : 0
}
