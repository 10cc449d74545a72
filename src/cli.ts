#!/usr/bin/env node
import { runProgram } from './cli/program.js'
import { processEnvironment, processNumber } from './platform/config/environment.js'

const { stdin, stdout, stderr } = process
const environment = readEnvironment()
const stop = new AbortController()

// npm passes a terminal's signal on, so one Ctrl-C may arrive twice: a second signal ends the process only after a while,
// and never the second SIGHUP of a terminal that is closed.
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
    } else if (signal !== 'SIGHUP' && performance.now() - stoppedAt > repeatMs) process.exit(128 + number)
  })
}

// npm passes SIGINT and SIGTERM on, and nothing when it ends otherwise: a script that npm runs with exec has npm as its
// parent, and gets another one then.
const parent = process.ppid
if (environment.npm_lifecycle_script?.startsWith('exec ')) {
  setInterval(() => {
    if (process.ppid !== parent) stop.abort()
  }, 1000).unref()
}

// A process of a worker ends with its supervisor, in whatever way that has ended.
if (processNumber(environment) !== undefined) {
  if (process.connected) process.once('disconnect', () => stop.abort())
  else stop.abort()
  process.channel?.unref()
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

// A connection whose server no longer answers takes long to close, or never does: it must not keep a process that has done
// its work. What is printed is printed first.
const lingerMs = 500
function leave(): void {
  const exit = () => (stdout.writableLength + stderr.writableLength > 0 ? leave() : process.exit())
  setTimeout(exit, lingerMs).unref()
}

function readEnvironment() {
  try {
    return processEnvironment()
  } catch (error) {
    stderr.write(`giving: ${error instanceof Error ? error.message : error}\n`)
    return process.exit(2)
  }
}

process.exitCode = await runProgram(process.argv.slice(2), {
  environment,
  signal: stop.signal,
  stdin,
  stdout,
  stderr,
})
leave()
