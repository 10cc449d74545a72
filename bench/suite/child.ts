import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { peakMemoryOf } from './memory.js'

/**
 * Runs a file of the transpiled program in a process of its own with one JSON argument; resolves to the JSON that is the
 * last line of its output. Its errors go to ours.
 */
export async function runProgram<T>(program: string, file: string, argument: unknown): Promise<T> {
  const { output } = await runNode(program, [file, JSON.stringify(argument)])
  return JSON.parse(output.trim().split('\n').at(-1) ?? '') as T
}

export type NodeOptions = {
  readonly environment?: NodeJS.ProcessEnv
  /** Exit codes that are not a failure; 0 when absent. */
  readonly codes?: readonly number[]
}

export type NodeResult = {
  readonly output: string
  readonly seconds: number
  /** Sampled from outside every 20 ms; undefined where there is no /proc. */
  readonly peakMiB: number | undefined
}

/** Runs Node in the folder of the transpiled program to its end. Throws when it fails. */
export async function runNode(
  program: string,
  args: readonly string[],
  { environment = {}, codes = [0] }: NodeOptions = {},
): Promise<NodeResult> {
  const began = performance.now()
  const child = spawn(process.execPath, [...args], {
    cwd: program,
    env: { ...process.env, ...environment },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let peakMiB: number | undefined
  const watching = setInterval(() => {
    peakMiB = peakMemoryOf(child.pid ?? 0) ?? peakMiB
  }, 20)
  try {
    const [output, [code]] = await Promise.all([text(child.stdout), once(child, 'exit')])
    if (!codes.includes(code as number)) throw new Error(`${args.join(' ')} ended with ${code}`)
    return { output, seconds: (performance.now() - began) / 1000, peakMiB }
  } finally {
    clearInterval(watching)
  }
}
