import { spawn } from 'node:child_process'
import { refuseAborted } from '../../kernel/refuse-aborted.js'
import type { SystemUser } from './system-user.js'

/**
 * What every PostgreSQL program gets: nothing of our own environment (a PGPORT or LANG of the caller must not change
 * the server), messages in English, times in UTC.
 */
export const programEnvironment = { PATH: '/usr/local/bin:/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' }

/** Spawn options of every PostgreSQL program: its own session, so Ctrl-C in our terminal does not reach it. */
export function spawnOptions(user: SystemUser | undefined) {
  return { cwd: '/', env: programEnvironment, detached: true, ...(user && { uid: user.uid, gid: user.gid }) }
}

/**
 * Runs a PostgreSQL program to its end, `input` on its standard input; returns its exit code and all it printed.
 * Throws `aborted` by the signal, which ends the program and its children.
 */
export async function runServerProgram(
  file: string,
  args: readonly string[],
  user: SystemUser | undefined,
  input = '',
  signal?: AbortSignal,
): Promise<{ readonly code: number; readonly output: string }> {
  const ended = await new Promise<{ readonly code: number; readonly output: string }>((resolve, reject) => {
    const child = spawn(file, args, { ...spawnOptions(user), stdio: ['pipe', 'pipe', 'pipe'] })
    let output = ''
    child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text))
    child.stderr.setEncoding('utf8').on('data', (text: string) => (output += text))
    // It leads a group of its own.
    const kill = () => void (child.pid && process.kill(-child.pid, 'SIGKILL'))
    signal?.addEventListener('abort', kill, { once: true })
    child.on('error', reject)
    child.on('exit', () => signal?.removeEventListener('abort', kill))
    child.on('close', (code) => resolve({ code: code ?? 1, output }))
    // A program that fails early closes its input; its exit code says more than EPIPE.
    child.stdin.on('error', () => undefined)
    child.stdin.end(input)
  })
  refuseAborted(signal, 'the start')
  return ended
}
