import { spawn } from 'node:child_process'
import { chown, open, rename, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { toServerError, unavailable } from './failures.js'
import { memorySettings } from './memory-settings.js'
import type { ClusterPlace, Place } from './place.js'
import { choosePort, isPortFree } from './port.js'
import { disarmStalePidFile, findPostmaster, type Postmaster } from './postmaster.js'
import { runServerProgram, spawnOptions } from './program.js'

const startTimeoutMs = 60_000
const stopTimeoutSeconds = 60
/** How long processes that outlived a killed server may take to end. */
const lingerTimeoutMs = 20_000
const logLimitBytes = 10_000_000

/**
 * The server of a place, ready for connections: the one that runs already (`joined`) or a new one.
 * Throws `database-unavailable` with the reason that PostgreSQL gave.
 */
export async function openServer(
  nativeDir: string,
  place: Place,
): Promise<{ readonly port: number; readonly joined: boolean }> {
  const began = performance.now()
  let port = place.record.port
  let tuned = await memorySettings(place.clusterDir)
  for (;;) {
    const running = await waitWhileInBetween(place)
    if (running !== undefined) return { port: running.port, joined: true }

    await disarmStalePidFile(place.clusterDir)
    if (port === 0 || !(await isPortFree(port))) port = await choosePort()
    const failure = await startServer(nativeDir, place, port, tuned)
    if (failure === undefined) return { port, joined: false }

    // Where memory may not be reserved, the settings of the cluster itself are small enough.
    if (tuned.length > 0 && /could not (?:map|create).*shared memory/.test(failure)) {
      tuned = []
      continue
    }
    // All of these failures pass by themselves: another process took the port after our check; a process that was killed had started a server
    // that is still coming up; children of a killed server are still ending; this server was killed too.
    const passing = /Address already in use|lock file "postmaster\.pid"|is still in use|ended with SIGKILL/.test(
      failure,
    )
    if (!passing || performance.now() - began > lingerTimeoutMs) throw toServerError(failure, 'start', place.clusterDir)
    if (failure.includes('Address already in use')) port = 0
    await sleep(200)
  }
}

/** Waits for a server that is starting or stopping; returns it when ready, `undefined` when none runs. */
async function waitWhileInBetween({ clusterDir }: Place): Promise<Postmaster | undefined> {
  const deadline = performance.now() + startTimeoutMs
  for (;;) {
    const found = await findPostmaster(clusterDir)
    if (found === undefined || found.status === 'ready') return found
    if (performance.now() > deadline) {
      throw unavailable(
        `the PostgreSQL server of ${clusterDir} (process ${found.pid}) has been ${found.status ?? 'starting'} for more than ${startTimeoutMs / 1000} s: see server.log there`,
      )
    }
    await sleep(50)
  }
}

/**
 * Starts a server in a session of its own with its output in `server.log` of the cluster, so that it outlives this process
 * and has none of its pipes. Returns what it logged when it did not start.
 *
 * `pg_ctl start` is not used because it builds a shell command from the paths, which breaks on `$` or quotes in them.
 */
async function startServer(
  nativeDir: string,
  { clusterDir, user }: Place,
  port: number,
  tuned: readonly string[],
): Promise<string | undefined> {
  const logFile = join(clusterDir, 'server.log')
  const size = await stat(logFile).then(
    (found) => found.size,
    () => 0,
  )
  if (size > logLimitBytes) await rename(logFile, `${logFile}.old`)
  const log = await open(logFile, 'a+', 0o600)
  try {
    if (user) await chown(logFile, user.uid, user.gid)
    const logStart = (await log.stat()).size
    const child = spawn(join(nativeDir, 'bin', 'postgres'), ['-D', clusterDir, '-p', String(port), ...tuned], {
      ...spawnOptions(user),
      stdio: ['ignore', log.fd, log.fd],
    })
    let ended: string | undefined
    child.on('error', (error) => (ended = error.message))
    child.on('exit', (code, signal) => (ended ??= `it ended with ${signal ?? `code ${code}`}`))
    child.unref()

    const deadline = performance.now() + startTimeoutMs
    for (;;) {
      if (ended !== undefined) return `${await readFrom(log, logStart)}\n${ended}`
      const found = await findPostmaster(clusterDir)
      if (found?.pid === child.pid && found?.status === 'ready') return undefined
      if (performance.now() > deadline) {
        child.kill('SIGINT')
        return `FATAL:  it was not ready within ${startTimeoutMs / 1000} s`
      }
      await sleep(15)
    }
  } finally {
    await log.close()
  }
}

async function readFrom(log: Awaited<ReturnType<typeof open>>, start: number): Promise<string> {
  const { buffer, bytesRead } = await log.read({ buffer: Buffer.alloc(64_000), position: start })
  return buffer.toString('utf8', 0, bytesRead)
}

/**
 * Stops the server of a place and returns when it is down; its sessions end, its data is written. A server that is not down
 * after a minute is stopped at once, and recovers at its next start.
 */
export async function stopServer(nativeDir: string, { clusterDir, user }: ClusterPlace): Promise<void> {
  if ((await findPostmaster(clusterDir)) === undefined) return
  let output = ''
  for (const mode of ['fast', 'immediate']) {
    const args = ['stop', '-D', clusterDir, '-m', mode, '-w', '-t', String(stopTimeoutSeconds), '-s']
    const stopped = await runServerProgram(join(nativeDir, 'bin', 'pg_ctl'), args, user)
    // It may have ended by itself in the meantime.
    if (stopped.code === 0 || (await findPostmaster(clusterDir)) === undefined) return
    output = stopped.output
  }
  throw toServerError(output, 'stop', clusterDir)
}
