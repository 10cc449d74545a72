import type { Environment } from '../config/config.js'
import { importFiles } from '../import/import.js'
import { type ImportSummary, importExitCode } from '../import/import-summary.js'
import { type Output, progressDisplay } from './output.js'
import { openRuntime } from './runtime.js'

/** `giving import FILE...`: exit code 0 all records kept, 1 some refused, 2 nothing usable. */
export async function importCommand(
  environment: Environment,
  files: readonly string[],
  options: { readonly photoConsent: boolean; readonly signal: AbortSignal },
  output: Output,
): Promise<number> {
  await using runtime = await openRuntime(environment)
  const progress = progressDisplay(output)
  let summary: ImportSummary
  try {
    summary = await importFiles(runtime.store, files, {
      source: 'import',
      clock: runtime.clock,
      currency: runtime.config.currency,
      photoConsent: options.photoConsent,
      signal: options.signal,
      onProgress: ({ file, records, bytesRead, bytesTotal }) =>
        progress.update(`${file} (${records} records), bytes`, bytesRead, bytesTotal),
    })
  } finally {
    progress.stop()
  }
  if (output.json) output.line(JSON.stringify(summary))
  else report(summary, output)
  return importExitCode(summary)
}

function report(summary: ImportSummary, output: Output): void {
  for (const { file, line, recordId, field, expected, got } of summary.problems) {
    const place = [file, line && `line ${line}`, recordId && `record ${recordId}`, field].filter(Boolean).join(', ')
    output.note(`${place}: expected ${expected}${got === undefined ? '' : `, got ${JSON.stringify(got)}`}`)
  }
  const { records, created, changed, unchanged, refused, repeated, brokenFiles } = summary
  if (refused > summary.problems.length) output.note(`(the first ${summary.problems.length} problems are shown)`)
  output.line(
    `${records} records: ${created} created, ${changed} changed, ${unchanged} unchanged, ${refused} refused` +
      (repeated > 0 ? `, ${repeated} repeated` : '') +
      (brokenFiles > 0 ? `; ${brokenFiles} of ${summary.files} files could not be read to the end` : ''),
  )
}
