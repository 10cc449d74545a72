import { execFile } from 'node:child_process'
import { hash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { promisify } from 'node:util'

const execute = promisify(execFile)

/**
 * One process of this machine, named so that neither a reused process id nor a reboot can be mistaken for it:
 * `<pid>-<token of its start time>`. It is safe as part of a file name.
 */
export type ProcessIdentity = string

/**
 * The identity of a running process; `undefined` when it does not run (a zombie does not run).
 * @internal for tests that look at processes of others
 */
export async function findProcessIdentity(pid: number): Promise<ProcessIdentity | undefined> {
  const started = process.platform === 'linux' ? await startOnLinux(pid) : await startByPs(pid)
  if (started === undefined) return undefined
  return `${pid}-${hash('sha256', started).slice(0, 12)}`
}

/** The identity of this process. */
export async function getOwnIdentity(): Promise<ProcessIdentity> {
  return (await findProcessIdentity(process.pid)) ?? `${process.pid}-unknown`
}

/** Whether the very process that carried this identity still runs. */
export async function isRunning(identity: ProcessIdentity): Promise<boolean> {
  const pid = Number.parseInt(identity, 10)
  if (!(pid > 0)) return false
  return (await findProcessIdentity(pid)) === identity
}

/** The command line of a running process, its arguments joined by blanks, or `undefined`. */
export async function findCommandLine(pid: number): Promise<string | undefined> {
  if ((await findProcessIdentity(pid)) === undefined) return undefined
  if (process.platform === 'linux') {
    const raw = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => undefined)
    return raw?.split('\0').join(' ').trim()
  }
  return askPs(pid, 'command=')
}

async function startOnLinux(pid: number): Promise<string | undefined> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => undefined)
  if (stat === undefined) return undefined
  // Field 2 is the command in brackets and may itself hold blanks and brackets: count from the last one.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  const state = fields[0]
  const startTicks = fields[19]
  if (state === 'Z' || state === 'X' || startTicks === undefined) return undefined
  return `${await bootId()}/${startTicks}`
}

let knownBootId: string | undefined
/** Start times on Linux count from boot, so two boots could repeat one. */
async function bootId(): Promise<string> {
  knownBootId ??= await readFile('/proc/sys/kernel/random/boot_id', 'utf8').catch(() => 'boot')
  return knownBootId
}

async function startByPs(pid: number): Promise<string | undefined> {
  const state = await askPs(pid, 'state=')
  if (state === undefined || state.startsWith('Z')) return undefined
  return askPs(pid, 'lstart=')
}

async function askPs(pid: number, field: string): Promise<string | undefined> {
  try {
    const { stdout } = await execute('ps', ['-ww', '-o', field, '-p', String(pid)], {
      env: { LC_ALL: 'C', PATH: '/bin:/usr/bin' },
    })
    return stdout.trim() || undefined
  } catch {
    return undefined
  }
}
