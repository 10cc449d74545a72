import { spawn } from 'node:child_process'
import type { Socket } from 'node:net'
import { fileURLToPath } from 'node:url'
import { programEnvironment } from './program.js'
import type { StoppableServer } from './unused-server.js'

// A supervisor that restarts the process within this time finds the server running.
const graceSeconds = 5

// Standard input ends when the process at its other end is gone, however it ended.
const waitForEnd = `read line; sleep ${graceSeconds}; exec "$@"`

const guardProgram = fileURLToPath(new URL('./guard-program.js', import.meta.url))

/**
 * Starts a small process that stops the server after this process has ended without releasing it (by SIGKILL or a crash),
 * unless other processes use the server. Returns a function that ends it.
 */
export function guardServer(server: StoppableServer): () => void {
  const { programs, place, folder } = server
  const stoppable: StoppableServer = {
    programs,
    place: { clusterDir: place.clusterDir, user: place.user },
    folder: { lockDir: folder.lockDir, leaseDir: folder.leaseDir },
  }
  const args = ['-c', waitForEnd, 'sh', process.execPath, guardProgram, JSON.stringify(stoppable)]
  // In a session of its own: a signal to the group of this process, or the end of its terminal, does not reach it.
  const guard = spawn('/bin/sh', args, {
    cwd: '/',
    env: programEnvironment,
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  })
  // Without a guard the server outlives a killed process until the next start: no reason to fail.
  guard.on('error', () => undefined)
  guard.stdin.on('error', () => undefined)
  guard.unref()
  ;(guard.stdin as Socket).unref()
  return () => {
    guard.kill('SIGKILL')
  }
}
