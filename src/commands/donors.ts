import type { Command } from 'commander'
import { eraseDonor } from '../store/donations/donors.js'
import { type CommandLine, jsonOption } from './command-line.js'
import type { Output } from './output.js'
import { auditOperator } from './wiring/audit.js'
import type { Runtime } from './wiring/runtime.js'

/** `giving donors`. */
export function registerDonors(program: Command, { storeAction }: CommandLine): void {
  program
    .command('donors')
    .description('people who gave')
    .command('erase')
    .description('erase what is known of a person; no total changes; exit code 1 when nobody has this e-mail')
    .requiredOption('--email <email>', 'e-mail address')
    .option(...jsonOption)
    .action(storeAction([], erase))
}

async function erase(runtime: Runtime, output: Output, { email }: { email: string }): Promise<number> {
  const donations = await runtime.store.transaction(async (db) => {
    const erased = await eraseDonor(db, email)
    if (erased > 0) await auditOperator(runtime, db, { action: 'donor-erased', details: { donations: erased } })
    return erased
  })
  output.result({ donations }, () =>
    donations > 0
      ? `erased what was known of this person from ${donations} donations; no total has changed`
      : 'nobody with this e-mail is known',
  )
  return donations > 0 ? 0 : 1
}
