import { readFile, readlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { ifThere } from '../../kernel/system-errors.js'
import { findCommandLine } from './process-identity.js'

/** A running server, as the `postmaster.pid` file of its cluster describes it. */
export type Postmaster = {
  readonly pid: number
  readonly port: number
  /** `undefined` until the server has written it. */
  readonly status: 'starting' | 'ready' | 'stopping' | undefined
}

/** The server that runs on a cluster; undefined when none does, even if its file was left behind. */
export async function findPostmaster(clusterDir: string): Promise<Postmaster | undefined> {
  const lines = await readPidFile(clusterDir)
  if (lines === undefined) return undefined
  const pid = Math.abs(Number(lines[0]))
  if (!(pid > 0) || !(await servesCluster(pid, clusterDir))) return undefined
  const status = lines[7]?.trim()
  return {
    pid,
    port: Number(lines[3] ?? 0),
    status: status === 'ready' || status === 'starting' || status === 'stopping' ? status : undefined,
  }
}

// Larger than any process id of Linux or macOS.
const unusedPid = '2147483646'

/**
 * Replaces the process id in a `postmaster.pid` that another program has now, which PostgreSQL would take for a running
 * server. The rest of the file stays: by its shared-memory key PostgreSQL finds, and waits for, server processes that
 * outlived their killed parent.
 */
export async function disarmStalePidFile(clusterDir: string): Promise<void> {
  const lines = await readPidFile(clusterDir)
  if (lines === undefined || (await findPostmaster(clusterDir)) !== undefined) return
  if (!(Math.abs(Number(lines[0])) > 0)) return
  const disarmed = [unusedPid, ...lines.slice(1)].join('\n')
  await ifThere(writeFile(join(clusterDir, 'postmaster.pid'), disarmed, { flag: 'r+' }))
}

async function readPidFile(clusterDir: string): Promise<string[] | undefined> {
  return (await ifThere(readFile(join(clusterDir, 'postmaster.pid'), 'utf8')))?.split('\n')
}

/** Whether the process is a PostgreSQL server on this cluster, not another program with a reused id. */
async function servesCluster(pid: number, clusterDir: string): Promise<boolean> {
  const command = await findCommandLine(pid)
  if (command === undefined || !/\bpostgres(\s|:|$)/.test(command)) return false
  if (`${command} `.includes(`-D ${clusterDir} `)) return true
  return (await readlink(`/proc/${pid}/cwd`).catch(() => undefined)) === clusterDir
}
