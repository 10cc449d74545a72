import { type ChildProcess, fork } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { projectRoot } from '../how-to.js'
import type { Question, Verdict } from './judge.js'
import { drawMutants, type Mutant, roomNames } from './mutants.js'
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
const verdicts = new Map<number, Verdict | { readonly outcome: 'untouched' }>()
const waiting = questions.filter(({ index, testFiles }) => {
  if (testFiles.length === 0) verdicts.set(index, { outcome: 'untouched' })
  return testFiles.length > 0
})
const end = Date.now() + Number(values.minutes) * 60_000
console.log(`${mutants.length} mutants, seed ${values.seed}; ${map.length} files of tests may judge`)
await Promise.all(Array.from({ length: Number(values.workers) }, work))
printScores()
printSurvivors()

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
    execArgv: ['--import', path.join(projectRoot, 'test/support/register-typescript.mjs')],
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
  const file = path.join(projectRoot, 'node_modules/.cache/program-mutants/verdicts.json')
  writeFileSync(file, JSON.stringify(all, undefined, 1))
}

function printScores(): void {
  console.log('| Room | Mutants | Noticed | By time alone | Survived | No test passes there | Score |')
  console.log('|---|---:|---:|---:|---:|---:|---:|')
  for (const room of [...roomNames, 'together']) {
    const outcomes = questions
      .filter(({ mutant }) => room === 'together' || mutant.room === room)
      .flatMap(({ index }) => verdicts.get(index)?.outcome ?? [])
    if (outcomes.length === 0) continue
    const [noticed = 0, late = 0, survived = 0, untouched = 0] = (
      ['noticed', 'timed out', 'survived', 'untouched'] as const
    ).map((which) => outcomes.filter((outcome) => outcome === which).length)
    const score = (100 * (noticed + late)) / outcomes.length
    if (score < leastScore) process.exitCode = 1
    console.log(
      `| ${room} | ${outcomes.length} | ${noticed} | ${late} | ${survived} | ${untouched} | ${score.toFixed(1)}% |`,
    )
  }
  console.log(`\nBar: ${leastScore}% in each room`)
}

function printSurvivors(): void {
  const short = (text: string) => text.replace(/\s+/g, ' ').replaceAll('|', '\\|').slice(0, 90)
  const row = ({ file, line, rule, original, replacement }: Mutant) =>
    `| ${file}:${line} | ${rule} | \`${short(original)}\` | \`${short(replacement)}\` |`
  console.log('\n| Survivor | Rule | Ours | Mutant |\n|---|---|---|---|')
  for (const { index, mutant } of questions) {
    const outcome = verdicts.get(index)?.outcome
    if (outcome === 'survived' || outcome === 'untouched') console.log(row(mutant))
  }
}
