import { stat } from 'node:fs/promises'
import { type Command, InvalidArgumentError, Option } from 'commander'
import { importExport } from '../../catalogue/export/import-export.js'
import { schemaOf, templateOf } from '../../catalogue/import/describe-kind.js'
import { iatiKind } from '../../catalogue/import/iati-activities.js'
import { importFiles } from '../../catalogue/import/import.js'
import { type ImportSummary, importExitCode } from '../../catalogue/import/import-summary.js'
import { findKind, kinds } from '../../catalogue/import/kinds.js'
import { expectedDatePattern } from '../../catalogue/import/number-notation.js'
import { readingMembers, readingOfRecipe } from '../../catalogue/import/reading.js'
import { sumsByKind } from '../../catalogue/import/receipt.js'
import { findNamedRecipe } from '../../catalogue/import/recipes/named-recipes.js'
import { toText } from '../../catalogue/import/refused-rows.js'
import type { MovedTable } from '../../catalogue/sql/imports.js'
import type { FileReading, Recipe } from '../../catalogue/sql/reading.js'
import type { Db } from '../../platform/database/connection.js'
import { addLongCommand, type CommandLine } from '../command-line.js'
import type { Output } from '../output.js'
import { auditOperator, userOfProcess } from '../wiring/audit.js'
import { importFields, importOptionsOf } from '../wiring/import-options.js'
import { boundHeap } from '../wiring/process.js'
import type { Runtime } from '../wiring/runtime.js'

/** `giving import`. */
export function registerImport(program: Command, { action, storeAction, stdin }: CommandLine): void {
  const names = kinds.map(({ name }) => name)
  const importing = storeAction(importFields, (runtime, output, files: readonly string[], options: ImportingOptions) =>
    importRecords(runtime, output, files, { ...options, stdin }),
  )
  const importingFolder = storeAction([], importFolder)
  const describing = action(describeKind)
  addReading(
    addLongCommand(
      program,
      'import',
      'import projects, organizations, gifts and more from CSV, NDJSON or the wire format; exit code 1 when some records were refused',
    )
      .argument('[file...]', 'files, - for standard input, or the folder of an export for an empty store')
      .addOption(
        new Option('--kind <kind>', 'kind of the records, when file names and contents do not show it').choices([
          ...names,
          iatiKind,
        ]),
      )
      .option('--project <id>', 'the project of reports that do not name one: its number or externalId'),
  )
    .option(
      '--formerly <id>',
      'an earlier identifier of the publisher with which activities of IATI files begin; may be repeated',
      (id: string, earlier: readonly string[] = []) => [...earlier, id],
    )
    .option('--problems <file>', 'write refused rows to FILE, each with the reason, to correct and import again')
    .option('--dry-run', 'show what would be created, changed and refused, and change nothing', false)
    .option('--repair', 'write known records again where the store was changed since their import', false)
    .option('--correct', 'replace stored gifts and payouts by records with the same reference and other values', false)
    .option('--force', 'accept records that are older than the stored ones', false)
    .option('--photo-consent', 'people on the photos have agreed to worldwide publication', false)
    .addOption(new Option('--template <kind>', 'print a CSV file with two example rows').choices(names))
    .addOption(new Option('--schema <kind>', 'print the JSON Schema of a line of NDJSON').choices(names))
    .action(async (files: readonly string[], options: ImportingOptions, command: Command) => {
      if (options.template ?? options.schema) await describing(files, options, command)
      else if (files.length === 0) command.error("error: missing required argument 'file'")
      else if (await isExportFolder(files)) await importingFolder(files, options, command)
      else await importing(files, options, command)
    })
}

export const recipeMeaning =
  'how files are read: a recipe that giving recipes list shows, or a JSON file; other options count before it'

/** Adds the options that say how CSV is read which was not made for this program. */
export function addReading(command: Command): Command {
  return command
    .option('--recipe <recipe>', recipeMeaning)
    .addOption(
      new Option(
        '--decimal <sign>',
        'the decimal sign of numbers in CSV, with thousands separated or not, or cents where amounts are whole cents; default: point, thousands not separated',
      ).choices(['comma', 'point', 'cents']),
    )
    .option(
      '--date <pattern>',
      'how days in CSV are written, such as dd.mm.yyyy, dd-mmm-20yy, excel or unix; default: yyyy-mm-dd',
      checked('date'),
    )
    .option(
      '--encoding <name>',
      'the encoding of CSV without a byte order mark, such as windows-1252; default: utf-8',
      checked('encoding'),
    )
    .option(
      '--map <columns>',
      "columns of CSV as COLUMN=field with commas between, such as 'Project No=project,Note='",
      columnMap,
    )
    .option(
      '--ignore-column <name>',
      'a column of CSV that is left out although its values tell rows apart, such as a status; may be repeated',
      (name: string, earlier: readonly string[] = []) => [...earlier, name],
    )
    .option('--sheet <name>', 'the sheet of a workbook (.xlsx); default: the only one that is seen and has rows')
    .addOption(
      new Option(
        '--missing <meaning>',
        'what NULL, N/A, - and the like are: empty cells, or texts; default: they are refused where a text may be meant',
      ).choices(['empty', 'text']),
    )
}

/** What these options read. */
export type ReadingOptions = Omit<FileReading, 'ignore'> & {
  readonly ignoreColumn?: readonly string[]
  readonly recipe?: string
}

/** The recipe that options say; what they say beside a named one counts before it. */
export async function recipeOf(db: Db | undefined, { recipe, ...options }: ReadingOptions): Promise<Recipe> {
  const named = recipe === undefined ? {} : await findNamedRecipe(db, recipe)
  const { map, ignoreColumn, decimal, date, encoding, missing, sheet } = options
  const said: FileReading = { map, ignore: ignoreColumn, decimal, date, encoding, missing, sheet }
  return { ...named, ...Object.fromEntries(Object.entries(said).filter(([, value]) => value !== undefined)) }
}

function checked(name: 'date' | 'encoding'): (raw: string) => string {
  return (raw) => {
    const { expected, parse } = readingMembers[name]
    const value = parse(raw)
    if (value === undefined)
      throw new InvalidArgumentError(`expected ${name === 'date' ? expectedDatePattern(raw) : expected}`)
    return value
  }
}

/** The name of a column may have commas: a pair ends with its field, which has letters and digits only. */
function columnMap(raw: string): Readonly<Record<string, string>> {
  const text = `${raw.trim()},`
  const pairs = [...text.matchAll(/(\S.*?)\s*=\s*([A-Za-z\d]*)\s*,\s*/gsy)]
  const isUsable = pairs.map(([pair]) => pair).join('') === text
  if (!isUsable) throw new InvalidArgumentError('expected COLUMN=field with commas between')
  return Object.fromEntries(pairs.map(([, column = '', field = '']) => [column, field]))
}

type ImportingOptions = ReadingOptions & {
  readonly kind?: string
  readonly project?: string
  readonly formerly?: readonly string[]
  readonly problems?: string
  readonly dryRun: boolean
  readonly repair: boolean
  readonly correct: boolean
  readonly force: boolean
  readonly photoConsent: boolean
  readonly template?: string
  readonly schema?: string
}

/** Prints what files of a kind look like; needs no database. */
async function describeKind(
  output: Output,
  _files: readonly string[],
  { template, schema }: ImportingOptions,
): Promise<number> {
  const kind = findKind(template ?? schema ?? '')
  if (!kind) throw new TypeError('a choice of the option is a kind')
  const text = template ? templateOf(kind) : JSON.stringify(schemaOf(kind), undefined, 2)
  for (const line of text.trimEnd().split('\n')) output.line(line)
  return 0
}

/** Exit code 0 all records kept, 1 some refused, 2 nothing usable. */
async function importRecords(
  { config, clock, signal, store }: Runtime,
  output: Output,
  files: readonly string[],
  { problems, ...options }: ImportingOptions & Pick<CommandLine, 'stdin'>,
): Promise<number> {
  // Without the bound V8 would let garbage grow; with it a file of any size needs the memory of its largest records.
  boundHeap()
  const recipe = await recipeOf(store.db, options)
  const summary = await output.withProgress((update) =>
    importFiles(store, files, {
      ...options,
      kind: options.kind ?? recipe.kind,
      source: 'import',
      operator: userOfProcess(),
      clock,
      ...importOptionsOf(config),
      reading: readingOfRecipe(recipe),
      refusedTo: problems,
      signal,
      ...(output.json && { maxProblems: maxProblemsInJson }),
      onProgress: ({ file, records, bytesRead, bytesTotal }) =>
        update(`${file} (${records} records), bytes`, bytesRead, bytesTotal),
    }),
  )
  if (!output.json) noteProblems(summary, output, problems)
  return output.result(
    options.dryRun ? { ...summary, dryRun: true } : summary,
    () => (options.dryRun ? 'dry run, ' : '') + describeImport(summary),
    { code: importExitCode(summary), note: noteOf(summary) },
  )
}

// A script may want all of them; this many take some tens of megabytes.
export const maxProblemsInJson = 100_000

/**
 * Prints problems in groups of one field: the first of each group, and how many there are. `asked`: the file for refused rows;
 * false: the command has no such option.
 */
export function noteProblems(summary: ImportSummary, output: Output, asked: string | false | undefined) {
  const { problems, problemCount, groups, refused, refusedTo } = summary
  for (const problem of problems) if (problem.field === 'file') noteProblem(problem, output)
  for (const { file, field, count, examples } of groups) {
    for (const example of examples) noteProblem(example, output)
    if (count > examples.length) {
      output.note(`${file}, ${field}: ${count - examples.length} more such problems, ${count} in all`)
    }
  }
  for (const line of movedLines(summary)) output.note(line)
  noteReceipt(summary, output)
  for (const { file, of, records } of refusedTo) {
    output.note(`${file} has the ${records} refused rows of ${of} and why: fix and import it`)
  }
  if (asked && refused === 0) output.note(`no row was refused: ${asked} was not written`)
  else if (asked === undefined && problemCount > groups.flatMap(({ examples }) => examples).length) {
    output.note('(--problems FILE.csv writes all refused rows, --json shows all problems)')
  }
}

/** What became of the elements of IATI files, and what the standard will hold, in the words of `giving validate`. */
export function movedLines({ elements = {}, moved }: MovedTable): string[] {
  if (!moved) return []
  const { activities, organisations, rules } = moved
  return [
    ...Object.entries(elements).map(([name, { taken, kept, leftOut, held, field, why = [] }]) => {
      const fates = [
        taken > 0 && `${taken} taken into ${field ?? 'the publisher'}`,
        kept > 0 && `${kept} kept as they are`,
        leftOut > 0 && `${leftOut} left out in part`,
        held > 0 && `${held} held`,
      ].filter((fate) => fate !== false)
      return `${name}: ${fates.join(', ')}${why.length > 0 ? ` (${why.join('; ')})` : ''}`
    }),
    ...(activities.publishable + activities.held > 0
      ? [`activities: ${activities.publishable} publishable, ${activities.held} held for errors by the standard`]
      : []),
    ...(organisations.publishable > 0
      ? [
          `organisations: ${organisations.publishable} publishable, ${organisations.heldInPart} without the elements that have errors`,
        ]
      : []),
    ...rules.flatMap(({ code, rule, count, examples }) => [
      `${code} (${count}): ${rule}`,
      ...examples.map(
        ({ file, line, recordId = '', path, detail }) =>
          `  ${file}${line === undefined ? '' : `:${line}`}: error ${code} ${recordId} ${path}: ${detail}`,
      ),
    ]),
  ]
}

function noteProblem({ file, line, recordId, ...problem }: ImportSummary['problems'][number], output: Output): void {
  const place = [file, line && `line ${line}`, recordId && `record ${recordId}`].filter(Boolean).join(', ')
  output.note(`${place}, ${toText(problem)}`)
}

/** Prints the sums of the files by currency and kind: what became of them, and what the store had and has. */
function noteReceipt({ receipt }: ImportSummary, output: Output) {
  for (const { currency, kind, file, taken, refused, leftOut, before, after } of receipt ? sumsByKind(receipt) : []) {
    const store = after === undefined ? '' : `; in the store ${before} before, ${after} now`
    output.note(
      `${currency} ${kind}: ${file} in the files = ${taken} taken + ${refused} refused + ${leftOut} left out${store}`,
    )
  }
  const { unreadable = 0 } = receipt ?? {}
  if (unreadable > 0) output.note(`${unreadable} rows that were not taken have no readable amount, and are in no sum`)
}

/** How to look at an import again, or to take it back, where it did something. */
function noteOf({ import: id, created, changed }: ImportSummary): string | false {
  return (
    id !== undefined && created + changed > 0 && `import ${id}: giving imports show ${id}, giving imports undo ${id}`
  )
}

/** What became of the records of an import, on a line. */
export function describeImport(summary: ImportSummary): string {
  const { records, created, changed, unchanged, refused, kept, differing, repeated, brokenFiles, files } = summary
  return (
    (records > 0 && created + changed + unchanged === 0 ? 'nothing was taken: ' : '') +
    `${records} records: ${created} created, ${changed} changed, ${unchanged} unchanged, ${refused} refused` +
    (kept > 0 ? `, ${kept} kept in part, since an operator has decided otherwise or what is stored is newer` : '') +
    (differing > 0 ? `, ${differing} differ from the store, which somebody has changed: --repair writes them` : '') +
    (repeated > 0 ? `, ${repeated} repeated` : '') +
    describeLeftOut(summary) +
    (brokenFiles > 0 ? `; ${brokenFiles} of ${files} files could not be read to the end` : '')
  )
}

/** The rows that a reading leaves out, to be put behind other counts. */
export function describeLeftOut({ leftOut }: ImportSummary): string {
  if (!leftOut) return ''
  const rows = Object.entries(leftOut).map(([reason, count]) => `${count} with ${reason}`)
  return `; left out ${rows.join(', ')}`
}

/** Whether the only file that was named is a folder. */
async function isExportFolder([first, ...others]: readonly string[]): Promise<boolean> {
  if (first === undefined || others.length > 0) return false
  return (await stat(first).catch(() => undefined))?.isDirectory() ?? false
}

/** Puts an export into the empty store. Exit code 0; all of it or nothing. */
async function importFolder(runtime: Runtime, output: Output, [folder = '']: readonly string[]): Promise<number> {
  boundHeap()
  const { store, clock, signal } = runtime
  const records = await output.withProgress((onProgress) =>
    importExport(store, folder, {
      ...{ clock, signal, onProgress },
      afterwards: (db) => auditOperator(runtime, db, { action: 'store-imported' }),
    }),
  )
  return output.result({ folder, records }, () =>
    Object.entries(records).map(([name, rows]) => `${name}: ${rows} records`),
  )
}
