import type { Command } from 'commander'
import type { Environment } from '../config/config.js'
import { migrate, pendingMigrations } from '../store/schema/migrate.js'
import { type CommandLine, jsonOption } from './command-line.js'
import type { Output } from './output.js'
import { openRuntime } from './wiring/runtime.js'

/** `giving migrate`. */
export function registerMigrate(program: Command, { environment, action }: CommandLine): void {
  program
    .command('migrate')
    .description("bring the database's schema up to date")
    .option('--check', 'only tell what is pending; exit code 1 if anything is', false)
    .option(...jsonOption)
    .action(action((output, options: MigrateOptions) => migrateCommand(environment, options, output)))
}

type MigrateOptions = { readonly check: boolean }

/** `giving migrate`: brings the schema up to date; with `check` only lists what is pending (exit code 1 if anything is). */
export async function migrateCommand(
  environment: Environment,
  options: MigrateOptions,
  output: Output,
): Promise<number> {
  await using runtime = await openRuntime(environment, [], { migrate: false })
  if (options.check) {
    const pending = await pendingMigrations(runtime.store.db)
    output.result({ pending }, () => `pending: ${pending.join(', ') || 'none'}`)
    return pending.length > 0 ? 1 : 0
  }
  const result = await migrate(runtime.store)
  output.result(result, () => `schema ${result.version}: ${result.applied.join(', ') || 'nothing to do'}`)
  return 0
}
