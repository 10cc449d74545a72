import { spawn } from 'node:child_process'
import { once } from 'node:events'
import path from 'node:path'
import { text } from 'node:stream/consumers'

const root = path.resolve(import.meta.dirname, '../..')

/**
 * Runs a program of this repository in a process of its own with one JSON argument; resolves to the JSON that is the
 * last line of its output. Its errors go to ours.
 */
export async function runProgram<T>(file: string, argument: unknown): Promise<T> {
  const output = await runNode([file, JSON.stringify(argument)])
  return JSON.parse(output.trim().split('\n').at(-1) ?? '') as T
}

/** Runs Node on our sources; resolves to what it printed. Throws when it fails. */
export async function runNode(
  args: readonly string[],
  { environment = {}, codes = [0] }: { environment?: NodeJS.ProcessEnv; codes?: readonly number[] } = {},
): Promise<string> {
  const child = spawn(process.execPath, ['--import', './test/support/register-typescript.mjs', ...args], {
    cwd: root,
    env: { ...process.env, ...environment },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [output, [code]] = await Promise.all([text(child.stdout), once(child, 'exit')])
  if (!codes.includes(code as number)) throw new Error(`${args[0]} ended with ${code}`)
  return output
}
