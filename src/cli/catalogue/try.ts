import { isUtf8 } from 'node:buffer'
import { type Command, Option } from 'commander'
import { iatiKind } from '../../catalogue/import/iati-activities.js'
import { savingOf } from '../../catalogue/import/import.js'
import { type ImportSummary, ImportTally, importExitCode } from '../../catalogue/import/import-summary.js'
import { kinds } from '../../catalogue/import/kinds.js'
import { type PreviewedRecord, previewRecords } from '../../catalogue/import/preview.js'
import { readingIn, readingOfRecipe } from '../../catalogue/import/reading.js'
import { lacking, type RecipeGuess } from '../../catalogue/import/recipes/guess.js'
import { guessOrNone, isOwnForm, notationOf } from '../../catalogue/import/recipes/look-at-file.js'
import { namedCurrency } from '../../catalogue/import/recipes/values-of-columns.js'
import { openBytes, openFiles, type ReadableFile } from '../../catalogue/import/record-files.js'
import { TrialStore } from '../../catalogue/import/trial-store.js'
import type { Recipe } from '../../catalogue/sql/reading.js'
import { newIdentifier, toActivity } from '../../iati/mapping/activity.js'
import { newestEdition } from '../../iati/mapping/assumptions.js'
import { iatiEnvelope } from '../../iati/mapping/envelope.js'
import type { MappingConfig } from '../../iati/mapping/mapping-config.js'
import { isActiveCode } from '../../iati/standard/index.js'
import { type FileReport, validateActivity, validateFile, validationNotices } from '../../iati/validation/index.js'
import { isoDateOf, isoInstantOf } from '../../kernel/dates.js'
import { demoReportingOrgRef, isDemoPublisher } from '../../kernel/demo-publisher.js'
import { type CurrencyCode, parseCurrencyCode } from '../../kernel/money.js'
import { hasError, type Notice } from '../../kernel/notice.js'
import { writeElement } from '../../kernel/xml/writer.js'
import { type Config, readConfig } from '../../platform/config/config.js'
import { writeWhole } from '../../platform/files/whole-file.js'
import { addCommand, type CommandLine } from '../command-line.js'
import type { Output } from '../output.js'
import { openOfficialSchema, schemaFields } from '../wiring/official-schema.js'
import { boundHeap } from '../wiring/process.js'
import { addReading, describeLeftOut, noteProblems, type ReadingOptions, recipeOf } from './import.js'
import { describeRecord } from './recipes.js'

const trialFields = [
  ...(['currency', 'reportingOrg', 'language', 'assumed', 'contact', 'publish', 'baseUrl'] as const),
  ...schemaFields,
] as const

/** `giving try`. */
export function registerTry(program: Command, commandLine: CommandLine): void {
  addReading(
    addCommand(
      program,
      'try',
      'show what files become, without a store or any set-up; exit code 1 when something was refused or is held, 2 when nothing is usable',
    )
      .argument('<file...>', 'CSV, NDJSON, the wire format or IATI; projects and their gifts together')
      .addOption(
        new Option('--kind <kind>', 'kind of the records, when file names and contents do not show it').choices([
          ...kinds.map(({ name }) => name),
          iatiKind,
        ]),
      )
      .option('--out <file>', 'write what is publishable as an IATI file, under an identifier for trials'),
  ).action(
    commandLine.action((output, files: readonly string[], options: TryOptions) =>
      tryFiles(commandLine, output, files, options),
    ),
  )
}

type TryOptions = ReadingOptions & { readonly kind?: string; readonly out?: string }

/** What the rules say of activities, or of organisations: how many are publishable, and the rules that hold others. */
type Verdict = {
  publishable: number
  held: number
  readonly rules: Map<string, { count: number; example: string }>
}

async function tryFiles(
  { environment, signal, stdin }: CommandLine,
  output: Output,
  files: readonly string[],
  options: TryOptions,
): Promise<number> {
  boundHeap()
  const configured = readConfig(environment, trialFields)
  const named = environment.DEFAULT_CURRENCY ? undefined : await currencyNamedIn(files)
  const config = named ? readConfig({ ...environment, DEFAULT_CURRENCY: named }, trialFields) : configured
  const now = new Date()
  const recipe = await recipeOf(undefined, options)
  const tally = new ImportTally(100)
  const verdict: Verdict = { publishable: 0, held: 0, rules: new Map() }
  const { ref } = config.reportingOrg
  const base = {
    ...{ source: 'import' as const, clock: () => now, currency: config.currency, zone: config.publish.timezone },
    // Activities of others are refused where it is known who publishes.
    ...(!isDemoPublisher(ref) && { publisherRef: ref }),
  }
  const trial = new TrialStore(savingOf(base))
  const previews: { readonly file: string; readonly records: readonly PreviewedRecord[] }[] = []
  const texts: string[] = []
  let root: 'iati-activities' | 'iati-organisations' = 'iati-activities'
  const reading = { kind: options.kind, recipe, currency: config.currency, stdin, signal }
  for (const opened of await openAll(files, reading)) {
    if ('broken' in opened) {
      tally.beginFile()
      tally.breakFile(opened.file, opened.broken)
      if (opened.guess) tellGuess(output, opened.file, opened.guess)
      continue
    }
    const saving = savingOf({ ...base, reading: readingOfRecipe(opened.recipe) })
    const { records } = await previewRecords(opened, saving, tally, ({ row, moved }) => {
      if (!moved) return trial.take(opened.importer.kind, row)
      if (!moved.isActivity) root = 'iati-organisations'
      if (judge(verdict, moved.notices)) texts.push((row as { readonly text: string }).text)
      return undefined
    })
    previews.push({ file: opened.file, records })
    if (opened.guess) tellGuess(output, opened.file, opened.guess)
  }
  const isMoved = texts.length > 0
  const mapping = mappingOf(config)
  for (const graph of trial.graphs()) {
    const { element, notices } = toActivity(graph, mapping, isoDateOf(now), newIdentifier(mapping, graph.project))
    const found = validateActivity(element, { today: isoDateOf(now), reportingOrgRef: mapping.reportingOrg.ref })
    const attributes = { 'last-updated-datetime': isoInstantOf(now), ...element.attributes }
    if (judge(verdict, [...notices, ...found])) texts.push(writeElement({ ...element, attributes }))
  }
  const summary = tally.summary()
  const isWritten = options.out !== undefined && texts.length > 0
  const report = isWritten ? await writeFile(options.out ?? '', texts, root, now, config, signal) : undefined
  if (!output.json) {
    if (named && named !== configured.currency)
      output.note(`amounts are in ${named}, which the files name most: DEFAULT_CURRENCY says another`)
    noteProblems(summary, output, false)
    if (trial.hasStandIns)
      output.note('projects are known by their ids only, which stand for their titles: give the file of projects too')
    if (trial.lacksOrganisations)
      output.note('projects are shown without the organisations that they name: give the file of organisations too')
  }
  const { publishable, held } = verdict
  const rules = [...verdict.rules].map(([code, rule]) => ({ code, ...rule })).sort((a, b) => b.count - a.count)
  return output.result(
    {
      ...{ preview: previews, ...summary, verdict: { publishable, held, rules } },
      ...(report && { out: options.out, report: report.summary }),
    },
    () => [
      ...previews.flatMap(({ file, records }) => [`${file}:`, ...records.map((one) => `  ${describeRecord(one)}`)]),
      describeTried(summary),
      `${root}: ${publishable} publishable, ${held} held for errors`,
      ...rules.map(
        ({ code, count, example }) => `  ${code} (${count}): ${validationNotices[code]?.sentence ?? example}`,
      ),
      ...(report
        ? [
            `${options.out}: ${report.records} ${isMoved ? 'records as their file has them' : `activities under ${demoReportingOrgRef}, an identifier for trials`}: ` +
              `${report.summary.errors} errors, ${report.summary.warnings} warnings`,
          ]
        : []),
    ],
    { code: Math.max(importExitCode(summary), held > 0 ? 1 : 0) },
  )
}

// What is read of a file to see which currency it names.
const readForCurrency = 256 * 1024

/** The currency whose code or sign the files have most often; undefined where they have none. */
async function currencyNamedIn(files: readonly string[]): Promise<CurrencyCode | undefined> {
  const counts = new Map<string, number>()
  for (const file of files) {
    const text = await beginningOf(file)
    // Of UTF-16 the codes are ASCII with zeros between them.
    // Names of the Sustainable Development Goals are no pounds of Sudan.
    const hasGoals = /\bSDGs\b|\bSDG:? ?\d{1,2}\b(?![.,\d])|^(?:[^\n]*[,;\t"])?SDG(?:[,;\t"\r\n]|$)/.test(text)
    for (const [found] of text
      .replaceAll('\0', '')
      .matchAll(/(?<![A-Za-z])(?:[A-Z]{3}(?![A-Za-z])|[A-Z]{0,2}\p{Sc})/gu)) {
      const code = /^[A-Z]{3}$/.test(found) ? found : (namedCurrency(found) ?? '')
      if (isActiveCode('Currency', code) && !(hasGoals && code === 'SDG')) counts.set(code, (counts.get(code) ?? 0) + 1)
    }
  }
  const [most] = [...counts].sort(([, a], [, b]) => b - a)
  return most && parseCurrencyCode(most[0])
}

/** The first text of a file, as it is unpacked; none of what cannot be read, which is told where it is opened. */
async function beginningOf(file: string): Promise<string> {
  if (file === '-') return ''
  const pieces: Buffer[] = []
  let bytes = 0
  try {
    for await (const chunk of (await openBytes(file)).chunks()) {
      pieces.push(chunk)
      bytes += chunk.length
      if (bytes >= readForCurrency) break
    }
  } catch {
    return ''
  }
  const head = Buffer.concat(pieces).subarray(0, readForCurrency)
  // A cut letter is no sign of another encoding. Node 20 reads windows-1252 as ISO-8859-1 but in streams.
  return isUtf8(head.subarray(0, head.lastIndexOf(10) + 1))
    ? head.toString('utf8')
    : new TextDecoder('windows-1252').decode(head, { stream: true })
}

type Opened = { readonly recipe: Recipe; readonly guess?: RecipeGuess }
type Broken = { readonly file: string; readonly broken: string; readonly guess?: RecipeGuess }

/** Opens files in the order of their kinds. A table that nothing says how to read is read by a guess. */
async function openAll(
  files: readonly string[],
  given: {
    readonly kind: string | undefined
    readonly recipe: Recipe
    readonly currency: CurrencyCode
    readonly stdin: CommandLine['stdin']
    readonly signal: AbortSignal
  },
): Promise<((ReadableFile & Opened) | Broken)[]> {
  const { recipe, currency, stdin, signal } = given
  const kind = given.kind ?? recipe.kind
  const opened: ((ReadableFile & Opened) | Broken)[] = []
  for (const file of files) {
    const [first] = await openFiles(
      [file],
      { kind, reading: readingIn(readingOfRecipe(recipe), currency), stdin },
      signal,
    )
    const mayGuess = first && file !== '-' && Object.keys(recipe).every((name) => name === 'sheet')
    const isOwn = first !== undefined && isOwnForm(first)
    const guess =
      mayGuess && isTable(first) ? await guessOrNone(file, { kind, currency, reading: recipe, signal }) : undefined
    if (guess && 'broken' in guess) {
      if (first) opened.push('broken' in first ? { file, ...guess } : { ...first, recipe })
      continue
    }
    const used = guess && isOwn ? notationOf(guess) : guess
    const { missing = [] } = used ?? {}
    if (used && missing.length > 0) {
      const adding = missing.some((field) => field.startsWith('id'))
        ? '; where no column has ids, add numbers that never change'
        : ''
      const broken = `columns of ${used.recipe.kind} without ${missing.join(', ')}: name their columns with --map, or their values in a recipe${adding}`
      const told = missing.map((field) => lacking(field, used.recipe.kind))
      const open = used.open.filter((one) => !told.includes(one))
      opened.push({ file, broken, guess: { ...used, open } })
      continue
    }
    const reading = used && readingOfRecipe(used.recipe)
    const [one] = reading
      ? await openFiles([file], { kind: isOwn ? kind : used.recipe.kind, reading }, signal)
      : [first]
    if (one)
      opened.push('broken' in one ? one : { ...one, recipe: used?.recipe ?? recipe, ...(used && { guess: used }) })
  }
  const order = kinds.map(({ name }): string => name)
  const placeOf = (one: (typeof opened)[number]) => ('broken' in one ? -1 : order.indexOf(one.importer.kind))
  return opened.sort((a, b) => placeOf(a) - placeOf(b))
}

function isTable(file: ReadableFile | Broken): boolean {
  return 'broken' in file || file.form.name === 'csv'
}

function tellGuess(output: Output, file: string, { recipe, open, reasons }: RecipeGuess): void {
  const columns = Object.entries(recipe.map ?? {}).flatMap(([column, field]) => (field ? `${column}=${field}` : []))
  const { kind, map: _map, ...reading } = recipe
  const how = kind === undefined ? JSON.stringify(reading) : `as ${kind}: ${columns.join(', ')}`
  output.note(`${file} is read by a guess, ${how}; giving recipes guess says why`)
  for (const { member, why } of reasons) if (member === 'sheet') output.note(`sheet: ${why}; --sheet names another`)
  for (const question of open) output.note(`to be said by you: ${question}`)
}

/** Adds what the rules say of a record; returns whether it is publishable. */
function judge(verdict: Verdict, notices: readonly Notice[]): boolean {
  const isHeld = hasError(notices)
  verdict[isHeld ? 'held' : 'publishable']++
  for (const { code, severity, path, detail } of notices) {
    if (severity !== 'error') continue
    const rule = verdict.rules.get(code) ?? { count: 0, example: `${path}: ${detail}` }
    verdict.rules.set(code, { ...rule, count: rule.count + 1 })
  }
  return !isHeld
}

/** Whatever is configured, a trial is published under nobody's identifier. */
function mappingOf(config: Config): MappingConfig {
  const { reportingOrg, currency, language, contact, assumed, baseUrl } = config
  const { name, type } = reportingOrg
  return {
    ...{ currency, language, contact, assumed, edition: newestEdition },
    reportingOrg: { ref: demoReportingOrgRef, name, type },
    baseUrl: baseUrl ?? 'https://trial.example',
  }
}

/** Writes records as an IATI file, and says what the rules say of it as a whole. */
async function writeFile(
  file: string,
  texts: readonly string[],
  root: 'iati-activities' | 'iati-organisations',
  now: Date,
  config: Config,
  signal: AbortSignal,
): Promise<FileReport> {
  const { head, tail } = iatiEnvelope(root, isoInstantOf(now))
  await writeWhole(
    file,
    [head, ...texts.map((text) => `${text}\n`), tail].map((text) => Buffer.from(text)),
    {
      isPrivate: false,
    },
  )
  const xsd = await openOfficialSchema(config)
  try {
    const context = { today: isoDateOf(now), now: isoInstantOf(now), strict: false }
    return await validateFile(file, { context, signal, ...(xsd && { xsd }) })
  } finally {
    await xsd?.dispose()
  }
}

function describeTried(summary: ImportSummary): string {
  const { records, created, refused, repeated, brokenFiles } = summary
  const broken = brokenFiles > 0 ? `; ${brokenFiles} files cannot be read to their end` : ''
  const again = repeated > 0 ? `, ${repeated} repeated` : ''
  return `${records} records: ${created} usable, ${refused} refused${again}${describeLeftOut(summary)}${broken}`
}
