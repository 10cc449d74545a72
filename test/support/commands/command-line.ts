import { PassThrough, Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { expect } from 'vitest'
import { runProgram } from '../../../src/cli/program.js'
import type { Environment } from '../../../src/platform/config/config.js'
import type { Ended } from './cli.js'

/** Runs a command line to its end in this process, as `giving` does. */
export async function runCommandLine(args: readonly string[], environment: Environment, input = ''): Promise<Ended> {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()]
  const printed = Promise.all([text(stdout), text(stderr)])
  const { signal } = new AbortController()
  const code = await runProgram(args, {
    stdout,
    stderr,
    environment: { FACTS_CONFIRMED: 'yes', ...environment },
    stdin: Readable.from([Buffer.from(input)]),
    signal,
  })
  stdout.end()
  stderr.end()
  const [out, err] = await printed
  return { code, stdout: out, stderr: err }
}

/** What a command prints with `--json`, or its error; it must end with `code`, and with nothing to say beside it where that is 0. */
export async function printed<Answer = Record<string, unknown>>(
  line: string | readonly string[],
  environment: Environment,
  code: unknown = 0,
): Promise<Answer> {
  const args = typeof line === 'string' ? line.split(' ') : line
  const ended = await runCommandLine([...args, '--json'], environment)
  expect(ended, args.join(' ')).toMatchObject(code === 0 ? { code, stderr: '' } : { code })
  return (ended.stdout === '' ? { stderr: ended.stderr } : JSON.parse(ended.stdout)) as Answer
}
