import type { Command } from 'commander'
import { ServiceError, toServiceError } from '../../kernel/errors.js'
import { within } from '../../kernel/within.js'
import { addCommand, type CommandLine } from '../command-line.js'
import type { Inspection } from '../extension.js'
import type { Output } from '../output.js'
import { type Diagnosis, inspections } from './doctor-inspections.js'

// A server that is asked may never answer. Our own PostgreSQL may have to be made first, which a slow machine does in minutes.
const patienceMs = 10_000
const ownDatabaseMs = 300_000

/** `giving doctor`. */
export function registerDoctor(program: Command, commandLine: CommandLine): void {
  addCommand(
    program,
    'doctor',
    'examine configuration, database, queue, disk and addresses; exit code 1 when something must be fixed',
  ).action(commandLine.action((output) => examine(commandLine, output)))
}

/** Exit code 0 when nothing must be fixed, else 1. */
async function examine(commandLine: CommandLine, output: Output): Promise<number> {
  const diagnoses = await diagnose(commandLine)
  return output.result({ diagnoses }, () => diagnoses.map(describeDiagnosis), { code: exitCodeOf(diagnoses) })
}

/**
 * Runs all inspections at the same time, since each may wait for a server that never answers, and every one of them, whatever
 * the others find. Those that would start our own PostgreSQL run one after the other.
 */
export async function diagnose(commandLine: CommandLine): Promise<readonly Diagnosis[]> {
  const { environment, signal } = commandLine
  const isGiven = Boolean(environment.DATABASE_URL || environment.DATABASE_URL_FILE)
  let before = Promise.resolve<readonly Diagnosis[]>([])
  const running = inspections.map((inspection) => {
    if (isGiven || !inspection.ofDatabase) return diagnoseOne(commandLine, inspection, patienceMs)
    before = before.then(() => diagnoseOne(commandLine, inspection, ownDatabaseMs))
    return before
  })
  const diagnoses = (await Promise.all(running)).flat()
  if (signal.aborted) throw new ServiceError('aborted', 'the examination was interrupted')
  return diagnoses
}

async function diagnoseOne(
  commandLine: CommandLine,
  { about, inspect }: Inspection,
  waitMs: number,
): Promise<readonly Diagnosis[]> {
  const late = () => new ServiceError('internal', `it was not done within ${waitMs / 1000} s`)
  try {
    return (await within(waitMs, inspect(commandLine), late)).map((diagnosis) => ({ about, ...diagnosis }))
  } catch (error) {
    return [{ about, state: 'fix', message: toServiceError(error).message, next: 'docs/how-to/watch.md' }]
  }
}

/** 1 when something must be fixed. */
export function exitCodeOf(diagnoses: readonly Diagnosis[]): number {
  return diagnoses.some(({ state }) => state === 'fix') ? 1 : 0
}

const marks = { good: 'ok  ', note: 'note', fix: 'FIX ' } as const

/** A line about what was found. */
export function describeDiagnosis({ about, state, message, next }: Diagnosis): string {
  return `${marks[state]}  ${`${about}:`.padEnd(15)} ${message}${next === undefined ? '' : ` -> ${next}`}`
}
