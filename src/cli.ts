#!/usr/bin/env node
import { runProgram } from './commands/program.js'
import { processEnvironment } from './config/environment.js'

const { stdin, stdout, stderr } = process
const stop = new AbortController()

// npm passes a terminal's signal on, so one Ctrl-C may arrive twice; a second one counts only after a while.
const repeatMs = 1500

let stoppedAt: number | undefined
for (const [signal, number] of [
  ['SIGHUP', 1],
  ['SIGINT', 2],
  ['SIGTERM', 15],
] as const) {
  process.on(signal, () => {
    if (stoppedAt === undefined) {
      stoppedAt = performance.now()
      stop.abort()
    } else if (performance.now() - stoppedAt > repeatMs) process.exit(128 + number)
  })
}

// The reader of a pipe or a terminal may go away (`giving themes list | head -1`): the command does its work without it.
const readerGone = ['EPIPE', 'EIO', 'ERR_STREAM_DESTROYED']
let unwritten = false
stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (unwritten || readerGone.includes(error.code ?? '')) return
  unwritten = true
  stderr.write(`giving: standard output cannot be written: ${error.message}\n`)
})
stderr.on('error', () => undefined)
process.on('exit', () => {
  if (unwritten) process.exitCode = 2
})

process.exitCode = await runProgram(process.argv.slice(2), {
  environment: processEnvironment(),
  signal: stop.signal,
  stdin,
  stdout,
  stderr,
})
