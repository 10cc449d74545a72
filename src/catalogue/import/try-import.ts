import { ServiceError } from '../../kernel/errors.js'
import type { Store } from '../../platform/database/store.js'
import { type ImportOptions, importFiles, savingOf } from './import.js'
import type { ImportSummary } from './import-summary.js'
import { type PreviewedRecord, previewRecords } from './preview.js'
import { openFiles } from './record-files.js'

/** What an import of a file would do: its first records as they would be stored, and what becomes of all. */
export type TriedImport = { readonly records: readonly PreviewedRecord[]; readonly summary: ImportSummary }

/** Shows what an import would store and leave out, and changes nothing. Throws `input-unusable` for what cannot be read. */
export async function tryImport(store: Store, file: string, options: ImportOptions): Promise<TriedImport> {
  const saving = savingOf(options)
  const [opened] = await openFiles([file], { kind: options.kind, reading: saving.reading }, options.signal)
  if (!opened || 'broken' in opened) {
    throw new ServiceError('input-unusable', `${options.shownAs ?? file}: ${opened?.broken ?? ''}`)
  }
  const { records } = await previewRecords(opened, saving)
  return { records, summary: await importFiles(store, [file], { ...options, dryRun: true }) }
}
