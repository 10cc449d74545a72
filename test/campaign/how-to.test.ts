import { execFileSync, spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { applyHowTo, projectRoot, readHowTos } from '../support/documents/how-to.js'

/*
 * The pages of docs/how-to hold: with the changes of all of them the sources are formatted, linted, typed and keep to the
 * rules between rooms, and every test that compares documents with code or belongs to a change passes.
 */
const copy = mkdtempSync(path.join(tmpdir(), 'giving-how-to-'))
afterAll(() => rmSync(copy, { recursive: true }))

const pages = readHowTos()
const left = new Set(['.git', 'node_modules', 'dist', 'data'])
for (const name of readdirSync(projectRoot)) {
  if (!left.has(name)) cpSync(path.join(projectRoot, name), path.join(copy, name), { recursive: true })
}
// It applies the changes itself, which cannot be done twice.
rmSync(path.join(copy, 'test/unit/documents/how-to.test.ts'))
symlinkSync(path.join(projectRoot, 'node_modules'), path.join(copy, 'node_modules'))

/** Output of a program of the project, run in the copy; throws with it when it fails. */
function run(program: string, ...args: string[]): void {
  const { status, stdout, stderr } = spawnSync(path.join(copy, 'node_modules/.bin', program), args, {
    cwd: copy,
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  })
  if (status !== 0) throw new Error(`${program} ${args.join(' ')}:\n${stdout}${stderr}`)
}

function describeApi(): void {
  execFileSync('npm', ['run', 'api:describe'], { cwd: copy, stdio: 'ignore' })
}

function goldenFiles(root: string): string {
  const folder = path.join(root, 'test/golden')
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => /\.(?:xml|json)$/.test(file))
    .map((file) => readFileSync(path.join(folder, file), 'utf8'))
    .join('')
}

it('the changes of all pages apply', () => {
  expect(pages.map((page) => applyHowTo(page, copy)).filter((problem) => problem !== '')).toEqual([])
})

/** What is written from the schema and the nouns. */
const derived = ['test/support/store/schema/schema.sql', 'docs/reference/store.md', 'docs/reference/import.md']

function writeDerived(): string[] {
  for (const script of ['schema:dump', 'docs:import'])
    execFileSync('npm', ['run', script], { cwd: copy, stdio: 'ignore' })
  return derived.map((file) => readFileSync(path.join(copy, file), 'utf8'))
}

it('what is written from the schema and the fields names the column', () => {
  for (const text of writeDerived()) expect(text).toContain('beneficiaries')
})

it('they are formatted and linted', () =>
  run('biome', 'check', '--error-on-warnings', '--vcs-enabled=false', 'src', 'jobs', 'test'))

it('they are typed', () => run('tsc', '--noEmit'))

it('they keep to the rules between rooms', () => run('depcruise', '--config', '.dependency-cruiser.cjs', 'src', 'jobs'))

it('what they publish and answer changes as they say', () => {
  const before = goldenFiles(projectRoot)
  describeApi()
  run('vitest', 'run', 'test/integration/http/api/reads.test.ts', '-u')
  // The examples in the description of the API are made of the documents that this has written.
  run('vitest', 'run', '--config', 'vitest.unit.config.ts', 'test/golden', '-u')
  describeApi()
  const after = goldenFiles(copy)
  for (const { name, appears } of pages) {
    if (appears === undefined) continue
    expect([name, before.includes(appears), after.includes(appears)]).toEqual([name, false, true])
  }
})

it('they pass the unit tests, theirs among them', () => run('vitest', 'run', '--config', 'vitest.unit.config.ts'))

it('they do what they say', () =>
  run('vitest', 'run', '--config', 'test/how-to/vitest.config.ts', 'column.proof', 'job.proof'))

it('they pass the tests that compare documents with the running program, and their own', () => {
  const own = pages.flatMap(({ touched }) => touched).filter((file) => /^test\/integration\/.+\.test\.ts$/.test(file))
  const files = ['test/integration/http/api/statuses.test.ts', 'test/integration/platform/schema.test.ts', ...own]
  const tables = ['test/integration/platform/marks.test.ts', 'test/integration/platform/database/statements.test.ts']
  // Vitest passes over a name that no file has.
  expect([...files, ...tables].filter((file) => !existsSync(path.join(copy, file)))).toEqual([])
  run('vitest', 'run', ...files)
  run('vitest', 'run', ...tables, 'test/integration/catalogue/field-tables.test.ts', '-u')
})

it('the column goes as it came', () => {
  const page = pages.find(({ name }) => name === 'column')
  expect(page && applyHowTo(page, copy, '--reverse')).toBe('')
  expect(writeDerived()).toEqual(derived.map((file) => readFileSync(path.join(projectRoot, file), 'utf8')))
  run('tsc', '--noEmit')
})
