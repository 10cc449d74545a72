import type { Command } from 'commander'
import { migrate, pendingMigrations } from '../../platform/database/migrate.js'
import { defaultWriterRole, grantWriterRole } from '../../platform/database/writer-role.js'
import { addCommand, type CommandLine } from '../command-line.js'
import type { Output } from '../output.js'
import type { Runtime } from '../wiring/runtime.js'

type MigrateOptions = { readonly check: boolean; readonly writerRole?: string | true }

/** `giving migrate`. */
export function registerMigrate(program: Command, { storeAction }: CommandLine): void {
  addCommand(program, 'migrate', "bring the database's schema up to date")
    .option('--check', 'only show what is pending; exit code 1 if anything is', false)
    .option(
      '--writer-role [name]',
      `also let a role write the platform's own rows with plain SQL (docs/reference/store.md); default name: ${defaultWriterRole}`,
    )
    .action(storeAction([], migrateOrCheck, { migrate: false }))
}

async function migrateOrCheck({ store, clock }: Runtime, output: Output, options: MigrateOptions): Promise<number> {
  if (options.check) {
    const pending = await pendingMigrations(store.db)
    output.result({ pending }, () => `pending: ${pending.join(', ') || 'none'}`)
    return pending.length > 0 ? 1 : 0
  }
  const { applied, version } = await migrate(store, (migration) =>
    output.note(`migration ${migration} waits for a table that is in use, and is tried again`),
  )
  const writerRole = options.writerRole === true ? defaultWriterRole : options.writerRole
  if (writerRole !== undefined) await store.transaction((db) => grantWriterRole(db, writerRole, clock()))
  return output.result({ applied, version, ...(writerRole !== undefined && { writerRole }) }, () => [
    `schema ${version}: ${applied.join(', ') || 'nothing to do'}`,
    ...(writerRole === undefined
      ? []
      : [`${writerRole} may write the tables of docs/reference/store.md; grant it to your role`]),
  ])
}
