import { spawn } from 'node:child_process'
import { once } from 'node:events'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { transpileProgram } from '../../support/commands/cli.js'

/** Runs a command that is killed after so long; the exit code, or null. */
export async function killedAfter(ms: number, environment: Record<string, string>, args: readonly string[]) {
  const program = path.join(await transpileProgram(), 'src/cli.js')
  const env = { PATH: process.env.PATH, LOG_LEVEL: 'silent', ...environment }
  const child = spawn(process.execPath, [program, ...args], { env, stdio: 'ignore' })
  const ended = once(child, 'exit')
  await Promise.race([ended, sleep(ms)])
  child.kill('SIGKILL')
  const [code] = (await ended) as [number | null]
  return code
}
