import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { type Command, Option } from 'commander'
import type { ImportSummary } from '../../catalogue/import/import-summary.js'
import { readingOfRecipe } from '../../catalogue/import/reading.js'
import { findNamedRecipe, isRecipeName } from '../../catalogue/import/recipes/named-recipes.js'
import {
  findSource,
  type HeldFile,
  listSources,
  type Source,
  type SourceDefinition,
} from '../../catalogue/sql/import-sources.js'
import {
  addReading,
  maxProblemsInJson,
  noteProblems,
  type ReadingOptions,
  recipeMeaning,
  recipeOf,
} from '../../cli/catalogue/import.js'
import { addCommand, argument, type CommandLine, orNotFound } from '../../cli/command-line.js'
import { labelled, type Output } from '../../cli/output.js'
import { userOfProcess } from '../../cli/wiring/audit.js'
import { decideSource } from '../../cli/wiring/operator-actions.js'
import { boundHeap } from '../../cli/wiring/process.js'
import type { Runtime } from '../../cli/wiring/runtime.js'
import { instantsInText, isoInstantOf } from '../../kernel/dates.js'
import { ServiceError } from '../../kernel/errors.js'
import { messageOf } from '../../kernel/system-errors.js'
import { shownValue, wholeNumberIn } from '../../kernel/values.js'
import type { Db } from '../../platform/database/connection.js'
import { createOwner } from '../../work/attempt.js'
import { changeSources } from './change-sources.js'
import { readDefinition, sourceKinds } from './definition.js'
import { nextDueOf, runSource, type SourceDeps, type SourceResult, trySource } from './run-source.js'
import { openPlace, shownPlace } from './sealed-place.js'
import { openSourceKeys } from './source-keys.js'
import { describeHeldFile, waitingFile } from './source-needs.js'

const sourceFields = ['currency', 'reportingOrg', 'allowPrivateNetworks', 'publish', 'donors'] as const

/** `giving sources`. */
export function registerSources(program: Command, { storeAction }: CommandLine): void {
  const sources = program.command('sources').description('files that are fetched on a schedule and imported')
  addReading(
    addCommand(sources, 'add', 'add a source, or change its definition')
      .argument('<name>', 'small letters, digits and hyphens')
      .addOption(new Option('--kind <kind>', 'what its records are').choices(sourceKinds).makeOptionMandatory())
      .requiredOption('--from <place>', 'a folder, a file, or an address with https, s3 or sftp')
      .option('--names <patterns>', 'the names of the files of a folder that are read, such as *.csv; default: all')
      .requiredOption('--schedule <cron>', 'when it is read, in PUBLISH_TIMEZONE, such as "30 1 * * *"'),
  )
    .option('--complete', 'each file has all records: end those that it lacks', false)
    .option('--correct', 'replace stored gifts and payouts by records with the same reference and other values', false)
    .option('--photo-consent', 'people on the photos have agreed to worldwide publication', false)
    .option(
      '--guard <percent>',
      'hold a file that ends or changes more of the records than this many percent',
      percent,
      5,
    )
    .option(
      '--secret-file <file>',
      'a file with the password of the user in the address, a bearer token, keys of S3, or a private key',
    )
    .option('--host-key <fingerprint>', 'the key that the SFTP server must have, as ssh-keygen -l prints it')
    .option('--dry-run', 'read it now, show what it would do, and change nothing', false)
    .option('--problems <file>', `with --dry-run: ${writingRefused}`)
    .action(storeAction(sourceFields, add))
  addCommand(sources, 'apply', 'make the sources those of a JSON file: add, change and remove')
    .argument('<file>', 'a JSON list of objects with the options of sources add')
    .option('--dry-run', 'show what would be added, changed and removed', false)
    .action(storeAction(sourceFields, apply))
  addCommand(sources, 'list', 'list sources, and what became of each').action(storeAction([], list))
  addCommand(sources, 'show', 'show how a source is read, and what became of it')
    .argument('<name>')
    .action(storeAction([], show))
  addCommand(sources, 'remove', 'remove a source; what it has brought stays')
    .argument('<name>')
    .action(storeAction([], remove))
  addCommand(
    sources,
    'run',
    'read a source now; exit code 1 when its file is held or some records were refused, 2 when it failed',
  )
    .argument('<name>')
    .option('--dry-run', 'show what it would do, and change nothing', false)
    .option('--problems <file>', writingRefused)
    .action(storeAction(sourceFields, run))
  addCommand(sources, 'approve', 'import the file that is held')
    .argument('<name>')
    .option('--problems <file>', writingRefused)
    .action(storeAction(sourceFields, approve))
  addCommand(sources, 'refuse', 'do not import the file that is held; a file with other content is looked at again')
    .argument('<name>')
    .action(storeAction([], refuse))
}

const writingRefused = 'write refused rows to FILE, each with the reason'

type TellingOptions = { readonly problems?: string | undefined }

const percent = argument('a whole number of percent from 0 to 100', wholeNumberIn(0, 100).parse)

type AddOptions = ReadingOptions &
  TellingOptions & {
    readonly kind: string
    readonly from: string
    readonly names?: string
    readonly schedule: string
    readonly complete: boolean
    readonly correct: boolean
    readonly photoConsent: boolean
    readonly guard: number
    readonly secretFile?: string
    readonly hostKey?: string
    readonly dryRun: boolean
  }

async function add(runtime: Runtime, output: Output, name: string, options: AddOptions): Promise<number> {
  const { dryRun, problems, from, secretFile, hostKey, correct, photoConsent, kind, schedule, complete, guard, names } =
    options
  const definition = readDefinition({
    ...{ name, kind, schedule, complete, guard, names },
    ...readingOfRecipe(await recipeOf(runtime.store.db, options)),
    from: isAddress(from) ? from : path.resolve(from),
    ...(secretFile !== undefined && { secretFile: path.resolve(secretFile) }),
    ...(hostKey !== undefined && { hostKey }),
    ...(correct && { correct }),
    ...(photoConsent && { photoConsent }),
  })
  if (dryRun) return await tryIt(runtime, output, definition, { problems })
  const changed = await changeSources(runtime, [definition], [])
  const next = nextDueOf(definition, runtime.config.publish.timezone, runtime.clock())
  return output.result(
    { ...definition, from: shownPlace(definition.from), changed: changed.length > 0, nextDue: isoInstantOf(next) },
    () => [`source ${name}: ${changed.length > 0 ? 'saved' : 'as it was'}, due at ${isoInstantOf(next)}`],
    { note: `giving sources run ${name} reads it now` },
  )
}

function isAddress(from: string): boolean {
  return /^[a-z][a-z0-9+.-]*:\/\//i.test(from)
}

/** Makes the sources those of a file. */
async function apply(runtime: Runtime, output: Output, file: string, { dryRun }: { dryRun: boolean }): Promise<number> {
  const definitions = await readDefinitions(runtime.store.db, file)
  const names = definitions.map(({ name }) => name)
  const twice = names.find((name, index) => names.indexOf(name) !== index)
  if (twice !== undefined)
    throw new ServiceError('input-unusable', `${file}: expected each source once, got ${twice} twice`)
  const { known } = await openSourceKeys(runtime.config)
  const stored = (await listSources(runtime.store.db)).map((one) => ({ ...one, from: opened(one.from, known) }))
  const removed = stored.map(({ name }) => name).filter((name) => !names.includes(name))
  const changes = Object.fromEntries(
    definitions.flatMap((definition) => {
      const before = stored.find(({ name }) => name === definition.name)
      const differences = differencesOf(definition, before)
      return differences.length > 0 ? [[definition.name, before ? differences : ['added']]] : []
    }),
  )
  const changed = dryRun ? Object.keys(changes) : await changeSources(runtime, definitions, removed)
  return output.result({ sources: names, changed, changes, removed, ...(dryRun && { dryRun }) }, () => [
    `${dryRun ? 'dry run, ' : ''}${names.length} sources: ${changed.length} added or changed, ${removed.length} removed`,
    ...changed.map((name) => `  ${name}: ${changes[name]?.join('; ') ?? 'changed'}`),
    ...removed.map((name) => `  ${name}: removed`),
  ])
}

/** The whole place; where its key is not here, what is stored. */
function opened(from: string, known: Parameters<typeof openPlace>[1]): string {
  try {
    return openPlace(from, known)
  } catch {
    return from
  }
}

async function readDefinitions(db: Db, file: string): Promise<SourceDefinition[]> {
  let read: unknown
  try {
    read = JSON.parse(await readFile(file, 'utf8'))
  } catch (error) {
    throw new ServiceError('input-unusable', `${file}: expected a file with JSON, got ${messageOf(error)}`)
  }
  if (!Array.isArray(read)) throw new ServiceError('input-unusable', `${file}: expected a list of sources`)
  const problems: string[] = []
  const definitions: SourceDefinition[] = []
  for (const [index, one] of read.entries()) {
    const entry = `entry ${index + 1}`
    try {
      definitions.push(readDefinition(await withRecipe(db, one, path.dirname(file), entry), entry))
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error
      problems.push(error.message)
    }
  }
  if (problems.length > 0) throw new ServiceError('input-unusable', `${file}: ${problems.join('; ')}`)
  return definitions
}

/** An entry with what its recipe says; its own members count before that. A file of a recipe is named from the folder of the list. */
async function withRecipe(db: Db, raw: unknown, folder: string, entry: string): Promise<unknown> {
  if (typeof raw !== 'object' || raw === null || !('recipe' in raw)) return raw
  const { recipe: named, ...own } = raw
  if (typeof named !== 'string' || named === '')
    throw new ServiceError('input-unusable', `${entry}: recipe: expected ${recipeMeaning}, got ${shownValue(named)}`)
  try {
    const { kind, ...recipe } = await findNamedRecipe(db, isRecipeName(named) ? named : path.resolve(folder, named))
    return { ...(kind !== undefined && { kind }), ...readingOfRecipe(recipe), ...own }
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    throw new ServiceError('input-unusable', `${entry}: recipe: ${error.message}`)
  }
}

/** What a definition says otherwise than the stored one, in words. */
function differencesOf(definition: SourceDefinition, stored: Source | undefined): string[] {
  const [before, now] = [stored ? membersOf(stored) : {}, membersOf(definition)]
  return [...new Set([...Object.keys(now), ...Object.keys(before)])]
    .filter((member) => now[member] !== before[member])
    .map((member) => {
      const [old = 'nothing', fresh = 'nothing'] = [before, now].map((one) => one[member]).map(shownMember)
      return old === fresh ? `${member} ${old}, in what is kept as a secret` : `${member} ${old}, now ${fresh}`
    })

  /** A place is in quotes, as JSON. */
  function shownMember(value: string | undefined): string | undefined {
    return value?.startsWith('"') && value.endsWith('"') ? `"${shownPlace(value.slice(1, -1))}"` : value
  }
}

/** The members of a definition as JSON, the same for the same content. */
function membersOf({ kind, from, schedule, complete, guard, secretFile, hostKey, reading }: SourceDefinition) {
  const members = { kind, from, schedule, ...reading, complete, guard, secretFile, hostKey }
  return Object.fromEntries(
    Object.entries(members).flatMap(([member, value]) => {
      const sorted = typeof value === 'object' ? Object.fromEntries(Object.entries(value).sort()) : value
      return value === undefined ? [] : [[member, JSON.stringify(sorted)]]
    }),
  ) as Readonly<Record<string, string>>
}

async function list({ store }: Runtime, output: Output): Promise<number> {
  const sources = await listSources(store.db)
  return output.result(
    { sources: sources.map(shown) },
    () =>
      sources.map(
        ({ name, kind, from, outcome, message, nextDue, held }) =>
          `${name}: ${kind} from ${shownPlace(from)}, due at ${isoInstantOf(nextDue)}; ` +
          (waitingFile({ held })
            ? 'held for a person'
            : `${outcome ?? 'not read yet'}${message ? ` (${message})` : ''}`),
      ),
    { note: sources.length === 0 && 'there is no source: giving sources add' },
  )
}

async function show({ store }: Runtime, output: Output, name: string): Promise<number> {
  const source = await sourceNamed(store.db, name)
  return output.result(shown(source), () => details(source))
}

async function sourceNamed(db: Db, name: string): Promise<Source> {
  return orNotFound(await findSource(db, name), `there is no source ${name}: see giving sources list`)
}

function shown(source: Source) {
  return { ...instantsInText(source), from: shownPlace(source.from) }
}

function details(source: Source): string[] {
  const { map, ...reading } = source.reading
  const options = Object.entries(reading).map(([name, value]) => {
    if (value === true) return name
    return `${name} ${typeof value === 'object' ? JSON.stringify(value) : value}`
  })
  const columns = Object.entries(map ?? {}).map(([column, field]) => `${column}=${field}`)
  const { triedAt } = source
  const held = waitingFile(source)
  const facts = [
    ['kind', source.kind],
    ['from', shownPlace(source.from)],
    ['schedule', `${source.schedule} (next at ${isoInstantOf(source.nextDue)})`],
    ['columns', columns.length > 0 ? columns.join(', ') : undefined],
    ['read with', options.length > 0 ? options.join(', ') : undefined],
    ['complete', source.complete ? 'yes: what is missing ends' : 'no: it only adds'],
    ['guard', `${source.guard} %`],
    ['secret file', source.secretFile],
    ['host key', source.hostKey],
    ['last read', triedAt && `${isoInstantOf(triedAt)}: ${source.outcome}, ${source.message}`],
    ['last import', source.import === undefined ? undefined : `giving imports show ${source.import}`],
    ['now', source.isRunning ? 'a process works on it' : undefined],
  ] as const
  return [...labelled(facts, 13), ...(held ? describeHeld(source.name, held) : [])]
}

function describeHeld(name: string, held: HeldFile): string[] {
  const { since, sha256, examples } = held
  return [
    `held since ${since}: ${describeHeldFile(held)} (SHA-256 ${sha256}), such as`,
    ...examples.map((one) => `  ${one}`),
    `giving sources approve ${name}, or giving sources refuse ${name}`,
  ]
}

async function remove(runtime: Runtime, output: Output, name: string): Promise<number> {
  await changeSources(runtime, [], [name])
  return output.result({ removed: name }, () => `source ${name} is removed; what it has brought stays`)
}

async function depsOf(runtime: Runtime, output: Output, { problems }: TellingOptions): Promise<SourceDeps> {
  const { store, config, clock, signal } = runtime
  return {
    ...{ store, clock, signal, config },
    keys: await openSourceKeys(config),
    operator: userOfProcess(),
    owner: createOwner(),
    telling: { refusedTo: problems, ...(output.json && { maxProblems: maxProblemsInJson }) },
  }
}

async function run(
  runtime: Runtime,
  output: Output,
  name: string,
  { dryRun, ...telling }: TellingOptions & { readonly dryRun: boolean },
): Promise<number> {
  if (!dryRun) return await runNow(runtime, output, name, telling)
  return await tryIt(runtime, output, await sourceNamed(runtime.store.db, name), telling)
}

async function runNow(runtime: Runtime, output: Output, name: string, telling: TellingOptions): Promise<number> {
  boundHeap()
  const result = await runSource(await depsOf(runtime, output, telling), name)
  noteImports(result.imports, output, telling)
  return output.result(
    result,
    () => [
      `source ${name}: ${result.outcome}${result.message ? `, ${result.message}` : ''}`,
      ...(result.held ? describeHeld(name, result.held) : []),
    ],
    { code: codeOf(result) },
  )
}

function noteImports(summaries: readonly ImportSummary[], output: Output, { problems }: TellingOptions) {
  if (output.json) return
  for (const summary of summaries) {
    // Of many files, those without a refused row need no line that says so.
    noteProblems(summary, output, summary.refused > 0 || summaries.length === 1 ? problems : undefined)
  }
}

function codeOf({ outcome, imports }: SourceResult): number {
  if (outcome === 'failed') return 2
  return outcome === 'held' || imports.some(({ refused }) => refused > 0) ? 1 : 0
}

async function tryIt(
  runtime: Runtime,
  output: Output,
  source: SourceDefinition,
  telling: TellingOptions,
): Promise<number> {
  boundHeap()
  const tried = await trySource(await depsOf(runtime, output, telling), source)
  const summaries = tried.flatMap((one) => ('passed' in one ? [] : [one.summary]))
  noteImports(summaries, output, telling)
  return output.result(
    { dryRun: true, files: tried },
    () =>
      tried.length === 0
        ? 'dry run, nothing new'
        : tried.map((one) => {
            if ('passed' in one) return `dry run, ${one.passed}`
            const { file, summary, difference, failure } = one
            if (failure !== undefined) return `dry run, ${file} would fail, and nothing of it be imported: ${failure}`
            const { records, created, changed, unchanged, refused } = summary
            const against = difference
              ? `; of ${difference.before} known records ${difference.changed} differ and ${difference.gone} are missing${difference.held ? ': it would be held' : ''}`
              : ''
            return `dry run, ${file}: ${records} records, ${created} created, ${changed} changed, ${unchanged} unchanged, ${refused} refused${against}`
          }),
    { code: tried.some((one) => 'failure' in one) ? 2 : 0 },
  )
}

async function approve(runtime: Runtime, output: Output, name: string, telling: TellingOptions): Promise<number> {
  await decideSource(runtime, name, 'approve')
  return await runNow(runtime, output, name, telling)
}

async function refuse(runtime: Runtime, output: Output, name: string): Promise<number> {
  const held = await decideSource(runtime, name, 'refuse')
  return output.result(
    { source: name, refused: held },
    () => `source ${name}: ${held.file} is refused, the data stays as it is`,
  )
}
