import { randomBytes } from 'node:crypto'
import { appendFileSync, existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { vi } from 'vitest'
import { afterFile } from '../../support/runner/after-file.js'

const groups = '/sys/fs/cgroup'
const isUnified = existsSync(path.join(groups, 'cgroup.controllers'))

/** Whether control groups of this machine limit memory and cores for us. */
function hasGroups(): boolean {
  if (process.getuid?.() !== 0) return false
  const there = isUnified
    ? readFileSync(path.join(groups, 'cgroup.controllers'), 'utf8').split(/\s/)
    : ['memory', 'cpuset'].filter((name) => existsSync(path.join(groups, name, 'cgroup.procs')))
  return ['memory', 'cpuset'].every((name) => there.includes(name))
}

/** What makes processes small that begin with the lines `first` of a shell, and their children. */
type SmallServer = {
  readonly about: string
  readonly first: readonly string[]
  /** MiB of all processes together, since the last call. */
  takePeak(): number
  /** How many processes the kernel killed for memory. */
  killed(): number
}

/** The first core and so much memory; without control groups the heap of Node is limited to half of it, and the rest measured. */
export function smallServer(mebibytes: number): SmallServer {
  return hasGroups() ? inGroups(mebibytes) : onOneCore(mebibytes)
}

function onOneCore(mebibytes: number): SmallServer {
  const first = ['taskset -cp 0 $$ > /dev/null', `export NODE_OPTIONS=--max-old-space-size=${mebibytes / 2}`]
  const used = () =>
    readdirSync('/proc').reduce((sum, id) => {
      try {
        if (!/^Cpus_allowed_list:\t0$/m.test(readFileSync(`/proc/${id}/status`, 'utf8'))) return sum
        const parts = readFileSync(`/proc/${id}/smaps_rollup`, 'utf8').matchAll(/^Pss_(?:Anon|Shmem): +(\d+)/gm)
        return sum + [...parts].reduce((all, [, kibibytes]) => all + Number(kibibytes) / 1_024, 0)
      } catch {
        // No process, one that has ended, or the kernel's own.
        return sum
      }
    }, 0)
  // A heap that is full ends its process, and so the test.
  return { about: 'by taskset and a limit of the heap', first, ...peakOf(used), killed: () => 0 }
}

/** The most that was used since it was last taken. */
function peakOf(
  used: () => number,
  end: () => Promise<unknown> = async () => undefined,
): Pick<SmallServer, 'takePeak'> {
  const ended = new AbortController()
  let peak = 0
  const watching = (async () => {
    while (!ended.signal.aborted) {
      peak = Math.max(peak, used())
      await sleep(200)
    }
  })()
  afterFile(async () => {
    ended.abort()
    await watching
    await end()
  })
  return {
    takePeak: () => {
      const most = peak
      peak = used()
      return most
    },
  }
}

function inGroups(mebibytes: number): SmallServer {
  const name = `giving-${randomBytes(4).toString('hex')}`
  const folders = isUnified
    ? [path.join(groups, name)]
    : ['memory', 'cpuset'].map((one) => path.join(groups, one, name))
  const [memory = '', cores = memory] = folders
  if (isUnified) appendFileSync(path.join(groups, 'cgroup.subtree_control'), '+memory +cpuset')
  for (const folder of folders) mkdirSync(folder)
  writeFileSync(path.join(cores, 'cpuset.cpus'), '0')
  writeFileSync(path.join(cores, 'cpuset.mems'), '0')
  writeFileSync(path.join(memory, isUnified ? 'memory.max' : 'memory.limit_in_bytes'), String(mebibytes * 2 ** 20))
  const used = () => {
    const held = new Map(
      readFileSync(path.join(memory, 'memory.stat'), 'utf8')
        .split('\n')
        .map((line) => line.split(' ') as [string, string]),
    )
    // Without what the kernel keeps of files and gives back.
    const names = isUnified ? ['anon', 'shmem'] : ['total_rss', 'total_shmem']
    return names.reduce((sum, one) => sum + Number(held.get(one) ?? 0), 0) / 2 ** 20
  }
  // The last processes end with the installation.
  const end = async () => {
    for (const folder of folders) await vi.waitFor(() => rmdirSync(folder), { timeout: 60_000 })
  }
  return {
    about: 'by control groups',
    first: folders.map((folder) => `echo $$ > ${path.join(folder, 'cgroup.procs')}`),
    ...peakOf(used, end),
    killed: () => {
      const file = isUnified ? 'memory.events' : 'memory.oom_control'
      return Number(/oom_kill (\d+)/.exec(readFileSync(path.join(memory, file), 'utf8'))?.[1] ?? Number.NaN)
    },
  }
}
