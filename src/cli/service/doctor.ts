import type { Command } from 'commander'
import { ServiceError, toServiceError } from '../../kernel/errors.js'
import { addCommand, type CommandLine } from '../command-line.js'
import type { Output } from '../output.js'
import { type Diagnosis, inspections } from './doctor-inspections.js'

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

/** Runs every inspection, whatever the others found. */
export async function diagnose(commandLine: CommandLine): Promise<readonly Diagnosis[]> {
  const diagnoses: Diagnosis[] = []
  for (const { about, inspect } of inspections) {
    if (commandLine.signal.aborted) throw new ServiceError('aborted', 'the examination was interrupted')
    try {
      diagnoses.push(...(await inspect(commandLine)).map((diagnosis) => ({ about, ...diagnosis })))
    } catch (error) {
      diagnoses.push({ about, state: 'fix', message: toServiceError(error).message, next: 'docs/how-to/watch.md' })
    }
  }
  return diagnoses
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
