import type { Environment } from '../config/config.js'
import { isoDateOf } from '../domain/dates.js'
import { importDisbursements } from '../payments/import-disbursements.js'
import type { Output } from './output.js'
import { openRuntime } from './runtime.js'

/** `giving disbursements import FILE.csv`: exit code 1 when lines were refused. */
export async function importDisbursementsCommand(
  environment: Environment,
  file: string,
  output: Output,
): Promise<number> {
  await using runtime = await openRuntime(environment)
  const { config, clock, store } = runtime
  const summary = await importDisbursements(store, file, { today: isoDateOf(clock()), currency: config.currency })
  if (output.json) output.line(JSON.stringify(summary))
  else {
    for (const { line, field, expected, got } of summary.problems) {
      output.note(`${file}, line ${line}, ${field}: expected ${expected}, got ${JSON.stringify(got)}`)
    }
    const { lines, created, known, refused } = summary
    output.line(`${lines} lines: ${created} new, ${known} known already, ${refused} refused`)
  }
  return summary.refused > 0 ? 1 : 0
}
