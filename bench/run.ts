import { writeFile } from 'node:fs/promises'
import { bench as api } from './api/bench.js'
import { bench as assemble } from './assemble/bench.js'
import { bench as changes } from './changes/bench.js'
import { bench as donations } from './donations/bench.js'
import { bench as downloads } from './downloads/bench.js'
import { bench as gifts } from './gifts/bench.js'
import { bench as peer } from './peer/bench.js'
import { bench as portal } from './portal/bench.js'
import { bench as processes } from './processes/bench.js'
import { bench as scale } from './scale/bench.js'
import { bench as search } from './search/bench.js'
import { bench as start } from './start/bench.js'
import { type Bench, type BenchSetting, isHeld } from './suite/bench.js'
import { type Request, readCommandLine, UsageError, usage } from './suite/command-line.js'
import { type Display, openDisplay } from './suite/display.js'
import { describeMachine, machineLine } from './suite/machine.js'
import { type BenchReport, barLine, type SuiteReport, tableLines, toJson, toMarkdown } from './suite/report.js'
import { Workshop } from './suite/workshop.js'
import { bench as tables } from './tables/bench.js'
import { bench as validate } from './validate/bench.js'

/** `npm run bench -- [NAME...] [options]`: prints every bar with its ratio; exit code 0 held, 1 missed, 2 failed. */
const benches: readonly Bench[] = [
  start,
  processes,
  assemble,
  tables,
  changes,
  peer,
  validate,
  downloads,
  scale,
  api,
  search,
  portal,
  donations,
  gifts,
]

process.exitCode = await main(process.argv.slice(2))

async function main(args: readonly string[]): Promise<number> {
  try {
    const request = readCommandLine(args, benches)
    if (request === 'help') {
      process.stdout.write(usage(benches))
      return 0
    }
    const report = await runSuite(request, openDisplay())
    if (request.json !== undefined) await writeFile(request.json, toJson(report))
    if (request.markdown !== undefined) await writeFile(request.markdown, toMarkdown(report))
    if (report.benches.some(({ error }) => error !== undefined)) return 2
    return report.held ? 0 : 1
  } catch (error) {
    if (!(error instanceof UsageError)) throw error
    process.stderr.write(`${error.message}\n\n${usage(benches)}`)
    return 2
  }
}

async function runSuite(request: Request, display: Display): Promise<SuiteReport> {
  const { quick } = request
  const machine = await describeMachine()
  display.say(machineLine(machine))
  const startedAt = new Date().toISOString()
  const began = performance.now()
  const done: BenchReport[] = []
  await using workshop = new Workshop(display.progress)
  const stop = () => void workshop[Symbol.asyncDispose]().finally(() => process.exit(130))
  process.once('SIGINT', stop).once('SIGTERM', stop)
  for (const bench of request.benches) {
    display.say(`\n${bench.name}: ${bench.about}`)
    const report = await runBench(bench, { ...request, workshop, ...display })
    for (const table of report.tables ?? []) for (const line of tableLines(table)) display.say(line)
    for (const note of report.notes ?? []) display.say(note)
    for (const bar of report.bars) display.say(barLine(bar))
    if (report.error !== undefined) display.say(`FAILED ${report.error}`)
    done.push(report)
  }
  const bars = done.flatMap((report) => report.bars)
  const missed = bars.filter((bar) => !isHeld(bar)).length
  const failed = done.filter(({ error }) => error !== undefined).length
  process.off('SIGINT', stop).off('SIGTERM', stop)
  const seconds = (performance.now() - began) / 1000
  display.say(
    `\n${bars.length - missed} of ${bars.length} bars held, ${missed} missed` +
      `${failed > 0 ? `, ${failed} benches failed` : ''}; ${seconds.toFixed(0)} s`,
  )
  return { machine, startedAt, quick, seconds, held: missed + failed === 0, benches: done }
}

/** Runs one bench; the suite continues when it fails. */
async function runBench(bench: Bench, setting: BenchSetting): Promise<BenchReport> {
  const { name, about } = bench
  const began = performance.now()
  const seconds = () => (performance.now() - began) / 1000
  try {
    const result = await bench.run(setting)
    return { name, about, seconds: seconds(), ...result }
  } catch (failure) {
    return { name, about, seconds: seconds(), bars: [], error: describeFailure(failure) }
  }
}

/** The first failure where disposing failed too. */
function describeFailure(failure: unknown): string {
  if (!(failure instanceof Error)) return String(failure)
  return 'suppressed' in failure ? describeFailure(failure.suppressed) : (failure.stack ?? failure.message)
}
