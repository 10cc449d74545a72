import { readFileSync } from 'node:fs'
import path from 'node:path'
import pg from 'pg'
import { createVitest } from 'vitest/node'
import { projectRoot } from '../documents/how-to.js'
import { templateDatabase } from '../runner/global-setup.js'
import { patternOfTest } from '../runner/test-name.js'
import type { Mutant } from './mutants.js'

/** What a judge is asked, and what it answers. */
export type Question = { readonly index: number; readonly mutant: Mutant; readonly testFiles: readonly string[] }
export type Verdict = {
  readonly index: number
  readonly outcome: 'noticed' | 'survived' | 'timed out'
  readonly by?: string | undefined
}

// A process of its own, which keeps the server of tests and the compiled sources between mutants. The sources on disk stay as they are:
// the mutant is what is read in place of its file.
let changed: { readonly file: string; readonly text: string } | undefined
const vitest = await createVitest(
  'test',
  { config: path.join(import.meta.dirname, 'vitest.config.ts'), watch: false, reporters: [{}] },
  {
    plugins: [
      { name: 'mutant', enforce: 'pre', load: (id: string) => (id === changed?.file ? changed.text : undefined) },
    ],
  },
)
const known = await vitest.globTestSpecifications()

/** What these tests say: a test that fails once and passes when asked again has not noticed the mutant. */
async function run(testFiles: readonly string[]): Promise<Omit<Verdict, 'index'>> {
  let waiting = testFiles
  while (waiting.length > 0) {
    const failure = await firstFailure(waiting)
    if (!failure) break
    const { file, test, verdict } = failure
    if (file === undefined ? await firstFailure(waiting) : await failsAgain(file, test)) return verdict
    // Those before it have passed.
    waiting = waiting.slice(waiting.indexOf(file ?? '') + 1)
  }
  return { outcome: 'survived' }
}

/** Alone, which is quick; or after the tests before it. */
async function failsAgain(file: string, test: string | undefined): Promise<boolean> {
  if (test !== undefined) {
    vitest.setGlobalTestNamePattern(patternOfTest(test))
    const alone = await firstFailure([file])
    vitest.resetGlobalTestNamePattern()
    if (alone) return true
  }
  return (await firstFailure([file])) !== undefined
}

type Failure = {
  readonly file?: string | undefined
  readonly test?: string | undefined
  readonly verdict: Omit<Verdict, 'index'>
}

async function firstFailure(testFiles: readonly string[]): Promise<Failure | undefined> {
  const wanted = testFiles.map((file) => path.join(projectRoot, file))
  const specifications = wanted.flatMap((file) => known.filter(({ moduleId }) => moduleId === file))
  const { testModules, unhandledErrors } = await vitest.runTestSpecifications(specifications)
  // What failed for the mutant before is still listed; those after the first are not loaded.
  const failed = testModules.filter((one) => wanted.includes(one.moduleId) && one.state() === 'failed')
  const module = wanted.flatMap((file) => failed.find(({ moduleId }) => moduleId === file) ?? [])[0]
  if (!module && unhandledErrors.length === 0) return undefined
  const [test] = module?.children.allTests('failed') ?? []
  const message = test?.result().errors?.[0]?.message ?? module?.errors()[0]?.message ?? `${unhandledErrors[0]}`
  const by = `${module?.relativeModuleId}: ${test?.fullName}: ${message.split('\n')[0]}`
  const outcome = /timed out in \d+/.test(message) ? 'timed out' : 'noticed'
  return { file: module?.relativeModuleId, test: test?.fullName, verdict: { outcome, by } }
}

async function inTemplate(statement: string): Promise<void> {
  const { administratorUrl } = vitest.getRootProject().getProvidedContext()
  const client = new pg.Client({
    connectionString: Object.assign(new URL(administratorUrl), { pathname: `/${templateDatabase}` }).href,
  })
  await client.connect()
  try {
    await client.query('set check_function_bodies = off; set role giving')
    await client.query(statement)
  } finally {
    await client.end()
  }
}

async function judge({ mutant, testFiles }: Question): Promise<Omit<Verdict, 'index'>> {
  if (mutant.schema) {
    try {
      await inTemplate(mutant.schema.make)
    } catch (error) {
      return { outcome: 'noticed', by: `PostgreSQL: ${error instanceof Error ? error.message : error}` }
    }
    const verdict = await run(testFiles)
    await inTemplate(mutant.schema.unmake)
    return verdict
  }
  const file = path.join(projectRoot, mutant.file)
  const text = readFileSync(file, 'utf8')
  changed = { file, text: text.slice(0, mutant.start) + mutant.replacement + text.slice(mutant.end) }
  vitest.invalidateFile(file)
  const verdict = await run(testFiles)
  changed = undefined
  vitest.invalidateFile(file)
  return verdict
}

// Starts the server of tests.
const unchanged = await run(['test/integration/platform/text-array.test.ts'])
if (unchanged.outcome !== 'survived') throw new Error(`without a mutant failed ${unchanged.by}`)
process.on('message', async (question: Question) => {
  process.send?.({ index: question.index, ...(await judge(question)) } satisfies Verdict)
})
process.on('disconnect', async () => {
  await vitest.close()
  process.exit()
})
process.send?.('ready')
