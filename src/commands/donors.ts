import type { Command } from 'commander'
import type { Environment } from '../config/config.js'
import { eraseDonor } from '../store/donations/donors.js'
import { type CommandLine, jsonOption } from './command-line.js'
import type { Output } from './output.js'
import { openRuntime } from './wiring/runtime.js'

/** `giving donors`. */
export function registerDonors(program: Command, { environment, action }: CommandLine): void {
  program
    .command('donors')
    .description('people who gave')
    .command('erase')
    .description('erase what is known of a person; no total changes; exit code 1 when nobody has this e-mail')
    .requiredOption('--email <email>', 'e-mail address')
    .option(...jsonOption)
    .action(action((output, { email }: { email: string }) => eraseDonorCommand(environment, email, output)))
}

/** `giving donors erase`: exit code 1 when nobody with this e-mail is known. */
export async function eraseDonorCommand(environment: Environment, email: string, output: Output): Promise<number> {
  await using runtime = await openRuntime(environment)
  const donations = await eraseDonor(runtime.store.db, email)
  output.result({ donations }, () =>
    donations > 0
      ? `erased what was known of this person from ${donations} donations; no total has changed`
      : 'nobody with this e-mail is known',
  )
  return donations > 0 ? 0 : 1
}
