import { parseArgs } from 'node:util'
import { createVitest } from 'vitest/node'
import { randomFrom } from './random.js'

// `npm run test:alone`: tests drawn by seed, one of a file, each run without the others of its file, as `vitest -t` does.
const { values, positionals } = parseArgs({
  // Only files whose path contains one of these words.
  allowPositionals: true,
  options: {
    count: { type: 'string', default: '60' },
    seed: { type: 'string', default: new Date().toISOString().slice(0, 10).replaceAll('-', '') },
    // Every test of the files, instead of one.
    all: { type: 'boolean', default: false },
  },
})
const random = randomFrom(Number(values.seed))
const vitest = await createVitest('test', { watch: false, reporters: [{}], maxWorkers: 1 })
const files = (await vitest.globTestSpecifications(positionals.length > 0 ? positionals : ['test/integration/']))
  .sort((a, b) => (a.moduleId < b.moduleId ? -1 : 1))
  .map((specification) => ({ specification, order: random() }))
  .sort((a, b) => a.order - b.order)
  .slice(0, Number(values.count))
let ran = 0
const failures: string[] = []
for (const { specification } of files) {
  const [module] = (await vitest.collectTests([specification])).testModules
  const tests = [...(module?.children.allTests() ?? [])].filter(({ options }) => options.mode === 'run')
  const drawn = values.all ? tests : tests.slice(Math.floor(random() * tests.length)).slice(0, 1)
  for (const name of new Set(drawn.map(({ fullName }) => fullName.replaceAll(' > ', ' ')))) {
    vitest.setGlobalTestNamePattern(`^${name.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')}$`)
    const { testModules, unhandledErrors } = await vitest.runTestSpecifications([specification])
    const passed = testModules.flatMap((one) => [...one.children.allTests('passed')])
    const isFine = unhandledErrors.length === 0 && testModules.every((one) => one.ok()) && passed.length > 0
    ran++
    console.log(`${isFine ? 'passed' : 'FAILED'} ${module?.relativeModuleId}: ${name}`)
    if (isFine) continue
    const errors = testModules.flatMap((one) => [
      ...one.errors(),
      ...[...one.children.allTests('failed')].flatMap((test) => test.result().errors ?? []),
    ])
    failures.push(`${module?.relativeModuleId}: ${name}: ${[...errors, ...unhandledErrors].map((error) => (error as Error).message).join('; ') || 'ran no test'}`)
  }
  vitest.resetGlobalTestNamePattern()
}
await vitest.close()
console.log(`\n| Alone, seed ${values.seed} | Failed |\n|---|---:|\n| ${ran} | ${failures.length} |`)
for (const failure of failures) console.log(`\n${failure}`)
process.exit(failures.length > 0 ? 1 : 0)
