import { stat } from 'node:fs/promises'
import type { Command } from 'commander'
import { findPacked } from '../../catalogue/import/packed-file.js'
import {
  type FileReport,
  readRegisteredOrganisations,
  type SchemaCheck,
  validateFile,
} from '../../iati/validation/index.js'
import { isoDateOf, isoInstantOf } from '../../kernel/dates.js'
import { ServiceError } from '../../kernel/errors.js'
import type { Notice } from '../../kernel/notice.js'
import { type Config, readConfig } from '../../platform/config/config.js'
import { addLongCommand, type CommandLine } from '../command-line.js'
import type { Output } from '../output.js'
import { openOfficialSchema, openThreadedSchema, schemaFields } from '../wiring/official-schema.js'
import { boundHeap } from '../wiring/process.js'

/** `giving validate`. */
export function registerValidate(program: Command, commandLine: CommandLine): void {
  addLongCommand(
    program,
    'validate',
    "check anyone's IATI 2.03 files; exit code 1 when there are errors, 2 when a file is unusable",
  )
    .argument('<file...>', 'activity or organisation files, or - for standard input')
    .option('--strict', 'judge the files as our own output: some warnings become errors')
    .action(commandLine.action((output, files: string[], flags: Flags) => validate(commandLine, output, files, flags)))
}

type Flags = { readonly strict?: boolean }

type Settings = Flags & {
  readonly signal: AbortSignal
  readonly stdin: CommandLine['stdin']
  readonly releaseMemory: () => void
  readonly xsd: SchemaCheck | undefined
  readonly registered: ReadonlySet<string> | undefined
}

type Checked = { readonly file: string } & ({ readonly report: FileReport } | { readonly unusable: string })

/**
 * Exit code 0 no errors, 1 errors found, 2 a file is unusable. Needs no database; the official schema is asked as well when
 * IATI_STANDARD_DIR or a pull has it. `-` is standard input. Uses at most 256 MB whatever the file is (docs/reference/limits.md).
 */
async function validate(
  { environment, signal, stdin }: CommandLine,
  output: Output,
  files: readonly string[],
  flags: Flags,
): Promise<number> {
  const releaseMemory = boundHeap()
  const config = readConfig(environment, schemaFields)
  const xsd = await openSchemaFor(config, files)
  const registered = await readRegisteredOrganisations(config.standardDir)
  try {
    const checked: Checked[] = []
    for (const file of files) {
      const result = await check(file, { xsd, registered, signal, stdin, releaseMemory, ...flags }, output)
      checked.push(result)
      if (!output.json) print(result, output)
    }
    const code = Math.max(...checked.map(exitCode))
    return output.json ? output.result(checked.map(toJson), () => [], { code }) : code
  } finally {
    await xsd?.dispose()
  }
}

// Smaller files are checked before a thread has started.
const largeBytes = 4_000_000

/** The official schema where it is configured: for a large file in a thread of its own. */
async function openSchemaFor(config: Config, files: readonly string[]): Promise<SchemaCheck | undefined> {
  const sizes = await Promise.all(files.map(sizeOf))
  const large = sizes.some((size) => size !== undefined && size > largeBytes)
  return await (large ? openThreadedSchema(config) : openOfficialSchema(config))
}

async function sizeOf(file: string): Promise<number | undefined> {
  const found = file === '-' ? undefined : await stat(file).catch(() => undefined)
  return found?.isFile() ? found.size : undefined
}

async function check(
  file: string,
  { xsd, registered, strict = false, releaseMemory, signal, stdin }: Settings,
  output: Output,
): Promise<Checked> {
  const size = await sizeOf(file)
  const now = new Date()
  const context = { today: isoDateOf(now), now: isoInstantOf(now), strict }
  try {
    const input = file === '-' ? stdin : size === undefined ? undefined : (await findPacked(file))?.chunks(signal)
    const report = await output.withProgress((update) =>
      validateFile(file, {
        context: { ...context, ...(registered && { registeredOrganisations: registered }) },
        ...(input && { input }),
        onProgress: (bytes) => update(`${file}, bytes`, bytes, size),
        releaseMemory,
        signal,
        ...(xsd && { xsd }),
      }),
    )
    return { file, report }
  } catch (error) {
    if (error instanceof ServiceError && error.code === 'input-unusable') return { file, unusable: error.message }
    throw error
  }
}

function exitCode(checked: Checked): number {
  if ('unusable' in checked) return 2
  return checked.report.summary.errors > 0 || !checked.report.complete ? 1 : 0
}

function toJson(checked: Checked): object {
  if ('unusable' in checked) return { file: checked.file, valid: false, unusable: checked.unusable }
  return { file: checked.file, valid: exitCode(checked) === 0, ...checked.report }
}

function print(checked: Checked, output: Output): void {
  if ('unusable' in checked) {
    output.note(checked.unusable)
    return
  }
  const { file, report } = checked
  const { kind, records, version, summary, samples, complete } = report
  for (const notice of samples) output.line(describe(file, notice))
  for (const [code, count] of Object.entries(summary.byCode)) {
    const shown = samples.filter((notice) => notice.code === code).length
    if (count > shown) output.line(`${file}: ${code}: ${count - shown} more`)
  }
  const noun = kind === 'activity' ? 'activities' : 'organisations'
  output.line(
    `${file}: ${records} ${noun}, version ${version ?? 'unknown'}: ${summary.errors} errors, ` +
      `${summary.warnings} warnings, ${summary.infos} infos${complete ? '' : '; the file could not be read to its end'}`,
  )
}

function describe(file: string, { severity, code, subject, path, detail, line }: Notice): string {
  return `${file}:${line ?? '-'}: ${severity} ${code} ${subject} ${path}: ${detail}`
}
