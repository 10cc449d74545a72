import { type Command, Option } from 'commander'
import { importExitCode } from '../../catalogue/import/import-summary.js'
import { kinds } from '../../catalogue/import/kinds.js'
import { type PreviewedRecord, shownFields } from '../../catalogue/import/preview.js'
import { readingOfRecipe } from '../../catalogue/import/reading.js'
import { guessRecipe } from '../../catalogue/import/recipes/guess.js'
import {
  builtInRecipe,
  builtInRecipes,
  findNamedRecipe,
  isRecipeName,
  readRecipeFile,
} from '../../catalogue/import/recipes/named-recipes.js'
import { tryImport } from '../../catalogue/import/try-import.js'
import type { Recipe } from '../../catalogue/sql/reading.js'
import { findRecipe, listRecipes, removeRecipe, saveRecipe } from '../../catalogue/sql/recipes.js'
import { instantsInText } from '../../kernel/dates.js'
import { ServiceError } from '../../kernel/errors.js'
import { shownValue } from '../../kernel/values.js'
import { readConfig } from '../../platform/config/config.js'
import { addCommand, type CommandLine, orNotFound } from '../command-line.js'
import type { Output } from '../output.js'
import { audited, auditOperator, userOfProcess } from '../wiring/audit.js'
import { importFields, importOptionsOf } from '../wiring/import-options.js'
import { boundHeap } from '../wiring/process.js'
import type { Runtime } from '../wiring/runtime.js'
import { describeImport, maxProblemsInJson, noteProblems, recipeMeaning } from './import.js'

/** `giving recipes`. */
export function registerRecipes(program: Command, commandLine: CommandLine): void {
  const { storeAction } = commandLine
  const recipes = program
    .command('recipes')
    .description('how files of an office are read: guess, try, save and show it')
  addCommand(
    recipes,
    'guess',
    'guess how a CSV file is read, and print it as a recipe; exit code 1 when something must be said by a person',
  )
    .argument('<file>', 'a CSV file')
    .addOption(
      new Option('--kind <kind>', 'kind of the records, when the columns do not show it').choices(
        kinds.map(({ name }) => name),
      ),
    )
    .action(
      commandLine.action((output, file: string, { kind }: { readonly kind?: string }) =>
        guess(commandLine, output, file, kind),
      ),
    )
  addCommand(recipes, 'try', 'show what an import by a recipe would store and leave out, and change nothing')
    .argument('<file>', 'a CSV file')
    .requiredOption('--recipe <recipe>', recipeMeaning.replace('; other options count before it', ''))
    .action(storeAction(importFields, tryRecipe))
  addCommand(recipes, 'save', 'save the recipe in a file under a name, or replace it')
    .argument('<name>', 'small letters, digits and hyphens')
    .argument('<file>', 'a recipe in JSON')
    .action(storeAction([], save))
  addCommand(recipes, 'list', 'list recipes: those built in, and those saved').action(storeAction([], list))
  addCommand(recipes, 'show', 'print a recipe as JSON').argument('<name>').action(storeAction([], show))
  addCommand(recipes, 'remove', 'remove a saved recipe; sources that were added with it keep what it said')
    .argument('<name>')
    .action(storeAction([], remove))
}

/** Prints a guess: the recipe on standard output, to be kept in a file, and its reasons on standard error. */
async function guess(
  { environment, signal }: CommandLine,
  output: Output,
  file: string,
  kind: string | undefined,
): Promise<number> {
  const config = readConfig(environment, ['currency'])
  const guessed = await guessRecipe(file, { kind, currency: config.currency, signal })
  if (!output.json) {
    for (const { member, why } of guessed.reasons) output.note(`${member}: ${why}`)
    for (const question of guessed.open) output.note(`to be said by you: ${question}`)
  }
  return output.result(guessed, () => jsonOf(guessed.recipe), {
    code: guessed.open.length > 0 ? 1 : 0,
    note: 'a guess: look at it, keep it in a file, and see what it does with giving try FILE --recipe RECIPE.json',
  })
}

function jsonOf(recipe: Recipe): string[] {
  return JSON.stringify(recipe, undefined, 2).split('\n')
}

/** Exit code as that of an import. */
async function tryRecipe(
  { store, config, clock, signal }: Runtime,
  output: Output,
  file: string,
  { recipe: name }: { readonly recipe: string },
): Promise<number> {
  boundHeap()
  const recipe = await findNamedRecipe(store.db, name)
  const options = {
    ...{ source: 'import' as const, clock, signal, ...importOptionsOf(config) },
    ...{ kind: recipe.kind, reading: readingOfRecipe(recipe) },
    ...(output.json && { maxProblems: maxProblemsInJson }),
  }
  const { records, summary } = await tryImport(store, file, options)
  if (!output.json) noteProblems(summary, output, undefined)
  return output.result(
    { recipe: name, preview: records, ...summary, dryRun: true },
    () => [...records.map(describeRecord), `dry run, ${describeImport(summary)}`],
    { code: importExitCode(summary) },
  )
}

/** A record on a line. */
export function describeRecord(record: PreviewedRecord): string {
  const members = shownFields(record).map(([name, text]) => `${name} ${shownValue(text)}`)
  return `line ${record.line}: ${members.join('; ')}`
}

async function save(runtime: Runtime, output: Output, name: string, file: string): Promise<number> {
  if (!isRecipeName(name)) {
    throw new ServiceError('input-unusable', `expected small letters, digits and hyphens, got ${shownValue(name)}`)
  }
  if (builtInRecipe(name)) throw new ServiceError('input-unusable', `${name} is built in: take another name`)
  const recipe = readRecipeFile(file)
  const { store, clock } = runtime
  const changed = await store.transaction(async (db) => {
    const isNew = await saveRecipe(db, { name, recipe, savedBy: userOfProcess().actor, savedAt: clock() })
    if (isNew) await auditOperator(runtime, db, { action: 'recipe-saved', subject: `recipe ${name}` })
    return isNew
  })
  return output.result({ name, changed, recipe }, () => `recipe ${name}: ${changed ? 'saved' : 'as it was'}`, {
    note: `giving recipes try FILE --recipe ${name} shows what it reads`,
  })
}

async function list({ store }: Runtime, output: Output): Promise<number> {
  const saved = await listRecipes(store.db)
  const all = [
    ...builtInRecipes().map((name) => ({ name, recipe: builtInRecipe(name) ?? {}, builtIn: true as const })),
    ...saved.map((one) => ({ ...instantsInText(one), builtIn: false as const })),
  ]
  return output.result({ recipes: all }, () =>
    all.map((one) => {
      const where = one.builtIn ? 'built in' : `saved at ${one.savedAt} by ${one.savedBy}`
      const { kind = 'any kind', about } = one.recipe
      return `${one.name}: ${kind}, ${where}${about === undefined ? '' : `: ${about}`}`
    }),
  )
}

async function show({ store }: Runtime, output: Output, name: string): Promise<number> {
  const found = orNotFound(builtInRecipe(name) ?? (await findRecipe(store.db, name))?.recipe, notThere(name))
  return output.result(found, () => jsonOf(found))
}

const notThere = (name: string) => `there is no recipe ${name}: see giving recipes list`

async function remove(runtime: Runtime, output: Output, name: string): Promise<number> {
  if (builtInRecipe(name)) throw new ServiceError('input-unusable', `${name} is built in and stays`)
  await audited(runtime, { action: 'recipe-removed', subject: `recipe ${name}` }, async (db) =>
    orNotFound((await removeRecipe(db, name)) || undefined, notThere(name)),
  )
  return output.result({ removed: name }, () => `recipe ${name} is removed`)
}
