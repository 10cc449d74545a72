#!/usr/bin/env node
import { runProgram } from './commands/program.js'
import { processEnvironment } from './config/environment.js'

const { stdin, stdout, stderr } = process
const stop = new AbortController()

// npm passes a terminal's signal on, so one Ctrl-C may arrive twice; a second one counts only after a while.
const repeatMs = 1500

let stoppedAt: number | undefined
for (const [signal, number] of [
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

process.exitCode = await runProgram(process.argv.slice(2), {
  environment: processEnvironment(),
  signal: stop.signal,
  stdin,
  stdout,
  stderr,
})
