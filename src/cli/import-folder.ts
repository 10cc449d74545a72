import { stat } from 'node:fs/promises'
import { importExport } from '../catalogue/export/import-export.js'
import type { Output } from './output.js'
import { auditOperator } from './wiring/audit.js'
import { boundHeap } from './wiring/bounded-heap.js'
import type { Runtime } from './wiring/runtime.js'

/** Whether the only file that was named is a folder. */
export async function isExportFolder([first, ...others]: readonly string[]): Promise<boolean> {
  if (first === undefined || others.length > 0) return false
  return (await stat(first).catch(() => undefined))?.isDirectory() ?? false
}

/** Puts an export into the empty store. Exit code 0; all of it or nothing. */
export async function importFolder(
  runtime: Runtime,
  output: Output,
  [folder = '']: readonly string[],
): Promise<number> {
  boundHeap()
  const { store, clock, signal } = runtime
  const progress = output.progress()
  try {
    const records = await importExport(store, folder, {
      ...{ clock, signal, onProgress: (resource, rows, of) => progress.update(resource, rows, of) },
      afterwards: (db) => auditOperator(runtime, db, { action: 'store-imported' }),
    })
    progress.stop()
    output.result({ folder, records }, () => Object.entries(records).map(([name, rows]) => `${name}: ${rows} records`))
    return 0
  } finally {
    progress.stop()
  }
}
