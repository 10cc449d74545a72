import { lstat } from 'node:fs/promises'
import type { Command } from 'commander'
import { findContents } from '../../catalogue/sql/export/snapshot.js'
import { ServiceError } from '../../kernel/errors.js'
import { ifThere } from '../../kernel/system-errors.js'
import { type BackupHeader, writeBackup } from '../../platform/database/backup.js'
import { type Restored, restoreBackup } from '../../platform/database/restore.js'
import { tryBackup } from '../../platform/try-backup.js'
import { addCommand, type CommandLine } from '../command-line.js'
import type { Output } from '../output.js'
import { auditOperator } from '../wiring/audit.js'
import type { Runtime } from '../wiring/runtime.js'

/** `giving backup` and `giving restore`. */
export function registerBackup(program: Command, { action, storeAction, signal }: CommandLine): void {
  const backingUp = storeAction([], backUp, { migrate: false })
  const verifying = action((output: Output, file: string) => verify(output, file, signal))
  addCommand(
    program,
    'backup',
    'write the whole store to a file while everything runs; the file has personal data, but no keys',
  )
    .argument('<file>', 'a new file, such as giving.sql.gz')
    .option('--verify', 'test a backup instead: restore it into a temporary PostgreSQL', false)
    .action(async (file: string, options: { readonly verify: boolean }, command: Command) => {
      await (options.verify ? verifying(file, command) : backingUp(file, options, command))
    })
  addCommand(program, 'restore', 'put a backup into an empty store, all of it or nothing')
    .argument('<file>', 'a file of giving backup')
    .action(storeAction([], restore, { migrate: false }))
}

async function backUp(runtime: Runtime, output: Output, file: string): Promise<number> {
  const { store, clock, signal } = runtime
  // Whatever has the name, a device too: the backup is renamed to it.
  if ((await ifThere(lstat(file))) !== undefined) {
    throw new ServiceError('input-unusable', `expected a new file, but ${file} is there`)
  }
  const { bytes, hash, header, rows } = await writeBackup(store, file, { clock, signal })
  await auditOperator(runtime, store.db, { action: 'store-backed-up' })
  return output.result({ file, bytes, hash, rows, ...header }, () => [
    `${file}: ${rows} rows, ${bytes} bytes, schema ${header.schema}, as of ${header.created}`,
    keysNeeded(header),
  ])
}

async function restore(runtime: Runtime, output: Output, file: string): Promise<number> {
  const { store, signal } = runtime
  const restored = await restoreBackup(store, file, {
    signal,
    contentsOf: findContents,
    afterwards: (db) => auditOperator(runtime, db, { action: 'store-restored' }),
  })
  return report(output, file, restored)
}

/** Restores a backup into a server of its own. Exit code 0: it is whole and fits the schema. */
async function verify(output: Output, file: string, signal: AbortSignal): Promise<number> {
  return report(output, file, await tryBackup(file, { signal, contentsOf: findContents }))
}

function report(output: Output, file: string, { header, rows, migrated }: Restored): number {
  const total = Object.values(rows).reduce((sum, count) => sum + count, 0)
  return output.result({ file, ...header, rows, migrated }, () => [
    `${file}: ${total} rows of ${Object.keys(rows).length} tables, schema ${header.schema}, as of ${header.created}`,
    ...(migrated.length > 0 ? [`brought up to date: ${migrated.join(', ')}`] : []),
    keysNeeded(header),
  ])
}

function keysNeeded({ donorKeys }: BackupHeader): string {
  return donorKeys.length === 0
    ? 'no key is needed to read it'
    : `to read its donors, DONOR_KEYS needs the keys ${donorKeys.join(', ')}: they are not in the file`
}
