import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import path from 'node:path'
import { projectRoot } from '../documents/how-to.js'
import type { Mutant } from './mutants.js'

/**
 * What the tests of a file made the program do: the functions that were called, by file, and in the database the functions that
 * were called and the tables that were written.
 */
export type Touched = {
  readonly testFile: string
  readonly seconds: number
  /** A file whose tests fail as it is judges nothing. */
  readonly failed: boolean
  readonly functions: Readonly<Record<string, readonly string[]>>
  readonly schema: readonly string[]
}

const folder = path.join(projectRoot, 'node_modules/.cache/program-mutants')

/** Runs all tests once to see what each file touches, or only those of `places`, which are added to what was seen before. */
export function drawMap(places: readonly string[]): void {
  const touched = path.join(folder, 'touched')
  if (places.length === 0) rmSync(touched, { recursive: true, force: true })
  mkdirSync(touched, { recursive: true })
  const config = path.join(import.meta.dirname, 'vitest.config.ts')
  spawnSync('npx', ['vitest', 'run', '--config', config, ...places], {
    cwd: projectRoot,
    stdio: 'inherit',
    env: { ...process.env, TOUCHED_DIR: touched },
  })
}

/** The map from places in the program to the test files that pass through them, as it was drawn last. */
export function readMap(): Touched[] {
  const touched = path.join(folder, 'touched')
  if (!existsSync(touched)) drawMap([])
  return readdirSync(touched)
    .map((name) => JSON.parse(readFileSync(path.join(touched, name), 'utf8')) as Touched)
    .filter(({ failed }) => !failed)
}

/** The test files that pass through the place of a mutant: by turns the one whose name is nearest, and the quickest. */
export function judgesOf(mutant: Mutant, map: readonly Touched[]): string[] {
  const { schema, file, functions } = mutant
  // It compares the schema with a text, so it would notice each mutant and say nothing.
  const others = map.filter(({ testFile }) => !schema || !testFile.endsWith('/schema.test.ts'))
  const touching = others.filter((one) => (schema ? one.schema.includes(schema.about) : file in one.functions))
  // The inmost function that any test is known to call: callbacks and tables of constants have no name of their own.
  const inmost = functions.find((name) => touching.some((one) => one.functions[file]?.includes(name)))
  const through =
    schema || inmost === undefined ? touching : touching.filter((one) => one.functions[file]?.includes(inmost))
  const words = new Set(`${file}/${functions.join('/')}`.toLowerCase().split(/[/.-]/))
  const nearness = (testFile: string) => testFile.split(/[/.-]/).filter((word) => words.has(word)).length
  const quick = through.toSorted((a, b) => a.seconds - b.seconds)
  // A sort keeps the order of equals: the quicker ones of those that are as near.
  const near = quick.toSorted((a, b) => nearness(b.testFile) - nearness(a.testFile))
  return [...new Set(quick.flatMap((one, at) => [near[at] ?? one, one]))].map(({ testFile }) => testFile)
}
