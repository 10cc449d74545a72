import type { Command } from 'commander'
import { migrate, pendingMigrations } from '../store/schema/migrate.js'
import { type CommandLine, jsonOption } from './command-line.js'
import type { Output } from './output.js'
import type { Runtime } from './wiring/runtime.js'

/** `giving migrate`. */
export function registerMigrate(program: Command, { storeAction }: CommandLine): void {
  program
    .command('migrate')
    .description("bring the database's schema up to date")
    .option('--check', 'only tell what is pending; exit code 1 if anything is', false)
    .option(...jsonOption)
    .action(storeAction([], migrateOrCheck, { migrate: false }))
}

async function migrateOrCheck({ store }: Runtime, output: Output, { check }: { check: boolean }): Promise<number> {
  if (check) {
    const pending = await pendingMigrations(store.db)
    output.result({ pending }, () => `pending: ${pending.join(', ') || 'none'}`)
    return pending.length > 0 ? 1 : 0
  }
  const result = await migrate(store)
  output.result(result, () => `schema ${result.version}: ${result.applied.join(', ') || 'nothing to do'}`)
  return 0
}
