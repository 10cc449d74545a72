import { type ChildProcess, fork } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { projectRoot } from '../documents/how-to.js'
import { equalMutants } from './equal-mutants.js'
import type { Question, Verdict } from './judge.js'
import { drawMutants, type Mutant } from './mutants.js'
import { drawMap, judgesOf, readMap } from './touched-map.js'

// `npm run test:mutants`: small wrong changes anywhere in the program, each judged by the tests that pass through its place.
const { values, positionals } = parseArgs({
  // With --map: only these tests are run for the map.
  allowPositionals: true,
  options: {
    count: { type: 'string', default: '600' },
    seed: { type: 'string', default: new Date().toISOString().slice(0, 10).replaceAll('-', '') },
    minutes: { type: 'string', default: '60' },
    below: { type: 'string', multiple: true, default: [''] },
    workers: { type: 'string', default: '2' },
    map: { type: 'boolean', default: false },
    // What the last run said of a mutant holds: `all` continues a run that was broken off, `noticed` asks about survivors again.
    keep: { type: 'string', default: 'none' },
  },
})
/** Those who notice are nearly always among the first. */
const mostJudges = 20
/** Per cent that tests should notice in each room; below it the command fails. */
const leastScore = 90

if (values.map) drawMap(positionals)
const map = readMap()
const mutants = await drawMutants(Number(values.seed), Number(values.count), values.below)
const questions: Question[] = mutants.map((mutant, index) => ({
  index,
  mutant,
  testFiles: judgesOf(mutant, map).slice(0, mostJudges),
}))
const verdictsFile = path.join(projectRoot, 'node_modules/.cache/program-mutants/verdicts.json')
const verdicts = new Map<number, Verdict | { readonly outcome: 'untouched' }>()
const kept = new Map(keptVerdicts().map((verdict) => [keyOf(verdict), verdict]))
const waiting = questions.filter(({ index, mutant, testFiles }) => {
  const last = kept.get(keyOf(mutant))
  if (testFiles.length === 0) verdicts.set(index, { outcome: 'untouched' })
  else if (last) verdicts.set(index, { index, outcome: last.outcome, by: last.by })
  return !verdicts.has(index)
})
const end = Date.now() + Number(values.minutes) * 60_000
console.log(`${mutants.length} mutants, seed ${values.seed}; ${map.length} files of tests may judge`)
await Promise.all(Array.from({ length: Number(values.workers) }, work))
printScores()
printSurvivors()

function keptVerdicts(): readonly (Mutant & Verdict)[] {
  if (values.keep === 'none' || !existsSync(verdictsFile)) return []
  const all: (Mutant & Partial<Verdict>)[] = JSON.parse(readFileSync(verdictsFile, 'utf8'))
  const isKept = (one: Mutant & Partial<Verdict>): one is Mutant & Verdict =>
    one.outcome !== undefined && (values.keep === 'all' || one.outcome === 'noticed')
  return all.filter(isKept)
}

function keyOf({ file, start, original, replacement }: Mutant): string {
  return JSON.stringify([file, start, original, replacement])
}

/** Asks one process after another, since one that hangs is ended with all that it started. */
async function work(): Promise<void> {
  let judge: ChildProcess | undefined
  while (Date.now() < end) {
    const question = waiting.shift()
    if (!question) break
    judge ??= await startJudge()
    const verdict = await ask(judge, question)
    if (verdict === undefined) {
      endJudge(judge)
      judge = undefined
    }
    verdicts.set(question.index, verdict ?? { index: question.index, outcome: 'timed out' })
    save()
  }
  judge?.disconnect()
}

async function startJudge(): Promise<ChildProcess> {
  const judge = fork(path.join(import.meta.dirname, 'judge.ts'), {
    cwd: projectRoot,
    execArgv: ['--import', path.join(projectRoot, 'test/support/runner/register-typescript.mjs')],
    detached: true,
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  })
  await new Promise((resolve, reject) => {
    judge.once('message', resolve)
    judge.once('exit', () => reject(new Error('the tests cannot be started')))
  })
  return judge
}

async function ask(judge: ChildProcess, question: Question): Promise<Verdict | undefined> {
  let timer: NodeJS.Timeout | undefined
  try {
    return await new Promise<Verdict | undefined>((resolve) => {
      timer = setTimeout(() => resolve(undefined), patienceMs(question))
      judge.once('exit', () => resolve(undefined))
      judge.once('message', (verdict) => resolve(verdict as Verdict))
      judge.send(question)
    })
  } finally {
    clearTimeout(timer)
    judge.removeAllListeners('exit')
    judge.removeAllListeners('message')
  }
}

/** Several times what the tests took for the map, and what a start takes: who is not done then waits without end. */
function patienceMs({ testFiles }: Question): number {
  const usual = map
    .filter(({ testFile }) => testFiles.includes(testFile))
    .reduce((sum, { seconds }) => sum + seconds, 0)
  return (120 + 4 * usual) * 1000
}

function endJudge({ pid }: ChildProcess): void {
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGKILL')
  } catch {
    // It has ended already.
  }
}

function save(): void {
  const all = questions.map(({ index, mutant, testFiles }) => ({ ...verdicts.get(index), ...mutant, testFiles }))
  writeFileSync(verdictsFile, JSON.stringify(all, undefined, 1))
}

/** Whether a person has said why nothing of this mutant can be seen. */
function isEqual(mutant: Mutant): boolean {
  return equalMutants.some(
    (one) =>
      one.file === mutant.file &&
      one.in === mutant.functions[0] &&
      one.ours === mutant.original &&
      one.theirs === mutant.replacement,
  )
}

function outcomeOf({ index, mutant }: Question): 'equal' | Verdict['outcome'] | 'untouched' | undefined {
  const outcome = verdicts.get(index)?.outcome
  return outcome === 'survived' && isEqual(mutant) ? 'equal' : outcome
}

function printScores(): void {
  console.log('| Room | Mutants | Noticed | By time alone | Equal | Survived | No test passes there | Score |')
  console.log('|---|---:|---:|---:|---:|---:|---:|---:|')
  for (const room of [...new Set(mutants.map((mutant) => mutant.room)), 'together']) {
    const outcomes = questions
      .filter(({ mutant }) => room === 'together' || mutant.room === room)
      .flatMap((question) => outcomeOf(question) ?? [])
    if (outcomes.length === 0) continue
    const counts = (['noticed', 'timed out', 'equal', 'survived', 'untouched'] as const).map(
      (which) => outcomes.filter((outcome) => outcome === which).length,
    )
    const [noticed = 0, late = 0, equal = 0] = counts
    // Equal ones cannot be noticed.
    const score = equal === outcomes.length ? 100 : (100 * (noticed + late)) / (outcomes.length - equal)
    if (score < leastScore) process.exitCode = 1
    console.log(`| ${[room, outcomes.length, ...counts].join(' | ')} | ${score.toFixed(1)}% |`)
  }
  console.log(`\nBar: ${leastScore}% in each room`)
}

function printSurvivors(): void {
  const short = (text: string) => text.replace(/\s+/g, ' ').replaceAll('|', '\\|').slice(0, 90)
  const row = ({ file, line, rule, original, replacement }: Mutant) =>
    `| ${file}:${line} | ${rule} | \`${short(original)}\` | \`${short(replacement)}\` |`
  console.log('\n| Survivor | Rule | Ours | Mutant |\n|---|---|---|---|')
  for (const question of questions) {
    const outcome = outcomeOf(question)
    if (outcome === 'survived' || outcome === 'untouched') console.log(row(question.mutant))
  }
}
