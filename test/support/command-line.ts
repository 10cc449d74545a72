import { PassThrough, Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { createOutput, type Output } from '../../src/cli/output.js'
import { runProgram } from '../../src/cli/program.js'
import type { Environment } from '../../src/platform/config/config.js'
import type { Ended } from './cli.js'

/** Runs a command line to its end in this process, as `giving` does. */
export async function runCommandLine(args: readonly string[], environment: Environment, input = ''): Promise<Ended> {
  return await recorded((streams) =>
    runProgram(args, { ...streams, environment, stdin: Readable.from([input]), signal: new AbortController().signal }),
  )
}

/** Runs the work of a command to its end and returns what it printed. */
export async function recordOutput(json: boolean, work: (output: Output) => Promise<number>): Promise<Ended> {
  return await recorded((streams) => work(createOutput(streams, json)))
}

async function recorded(work: (streams: { stdout: PassThrough; stderr: PassThrough }) => Promise<number>) {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()]
  const printed = Promise.all([text(stdout), text(stderr)])
  const code = await work({ stdout, stderr }).finally(() => {
    stdout.end()
    stderr.end()
  })
  const [out, err] = await printed
  return { code, stdout: out, stderr: err }
}
