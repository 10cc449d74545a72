import { parseArgs } from 'node:util'
import { createVitest } from 'vitest/node'
import { randomFrom } from '../values/random.js'
import { patternOfTest } from './test-name.js'

// `npm run test:alone`: files drawn by seed, one test of each, which is run without the others of its file, as `vitest -t` does.
const { values, positionals } = parseArgs({
  // Parts of paths: only these files.
  allowPositionals: true,
  options: {
    count: { type: 'string', default: '100' },
    seed: { type: 'string', default: new Date().toISOString().slice(0, 10).replaceAll('-', '') },
    // Every test of the files.
    all: { type: 'boolean', default: false },
  },
})
const random = randomFrom(Number(values.seed))
// Where tests are shuffled, those that may not be are parts of a story, which none of them tells alone.
const sequence = { shuffle: { tests: true } }
const vitest = await createVitest('test', { watch: false, reporters: [{}], maxWorkers: 1, sequence })
type Specification = Awaited<ReturnType<typeof vitest.globTestSpecifications>>[number]

/** Why the tests of this name do not pass alone. */
async function failureOf(specification: Specification, fullName: string): Promise<string | undefined> {
  vitest.setGlobalTestNamePattern(patternOfTest(fullName))
  const { testModules: all, unhandledErrors } = await vitest.runTestSpecifications([specification])
  vitest.resetGlobalTestNamePattern()
  // Those of earlier files are still listed.
  const testModules = all.filter(({ moduleId }) => moduleId === specification.moduleId)
  const tests = testModules.flatMap((module) => [...module.children.allTests()])
  const failed = [
    ...testModules.flatMap((module) => module.errors()),
    ...tests.flatMap((one) => one.result().errors ?? []),
  ]
  const [first] = [...failed, ...unhandledErrors].map((error) => String((error as Partial<Error>).message))
  if (first !== undefined || testModules.some((module) => !module.ok())) return first ?? 'failed'
  return tests.some((one) => one.result().state === 'passed') ? undefined : 'no test has this name'
}

const files = (await vitest.globTestSpecifications(positionals.length > 0 ? positionals : ['test/integration/']))
  .sort((a, b) => (a.moduleId < b.moduleId ? -1 : 1))
  .map((specification) => ({ specification, order: random() }))
  .sort((a, b) => a.order - b.order)
  .slice(0, Number(values.count))
const rows: string[] = []
let ran = 0
let inStories = 0
for (const { specification } of files) {
  const { testModules } = await vitest.collectTests([specification])
  const module = testModules.find(({ moduleId }) => moduleId === specification.moduleId)
  const tests = [...(module?.children.allTests() ?? [])].filter(({ options }) => options.mode === 'run')
  const names = tests.filter(({ options }) => options.shuffle !== false)
  inStories += tests.length - names.length
  const drawn = values.all ? names : names.slice(Math.floor(random() * names.length)).slice(0, 1)
  for (const name of new Set(drawn.map(({ fullName }) => fullName))) {
    const failure = await failureOf(specification, name)
    ran++
    console.log(`${failure === undefined ? 'passed' : 'FAILED'} ${module?.relativeModuleId}: ${name}`)
    if (failure !== undefined) rows.push(`| ${module?.relativeModuleId}: ${name} | ${failure.split('\n')[0]} |`)
  }
}
await vitest.close()
console.log(
  `\n| Of ${ran} tests alone, seed ${values.seed}, ${rows.length} failed; ${inStories} of these files are parts of stories | Because |\n|---|---|\n${rows.join('\n')}`,
)
process.exit(rows.length > 0 ? 1 : 0)
