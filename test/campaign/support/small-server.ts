import { randomBytes } from 'node:crypto'
import { appendFileSync, existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { vi } from 'vitest'
import { afterFile } from '../../support/runner/after-file.js'

const groups = '/sys/fs/cgroup'
const isUnified = existsSync(path.join(groups, 'cgroup.controllers'))

/** Why this machine cannot be made small; undefined when it can. */
export function smallServerMissing(): string | undefined {
  if (process.getuid?.() !== 0) return 'only root makes control groups'
  const there = isUnified
    ? readFileSync(path.join(groups, 'cgroup.controllers'), 'utf8').split(/\s/)
    : ['memory', 'cpuset'].filter((name) => existsSync(path.join(groups, name, 'cgroup.procs')))
  return ['memory', 'cpuset'].every((name) => there.includes(name))
    ? undefined
    : 'no control group limits memory and cores'
}

/** The first core and so much memory, for the processes that write themselves into `joins` and for their children. */
export function smallServer(mebibytes: number) {
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
  const ended = new AbortController()
  let peak = 0
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
  const watching = (async () => {
    while (!ended.signal.aborted) {
      peak = Math.max(peak, used())
      await sleep(200)
    }
  })()
  afterFile(async () => {
    ended.abort()
    await watching
    // The last processes end with the installation.
    for (const folder of folders) await vi.waitFor(() => rmdirSync(folder), { timeout: 60_000 })
  })
  return {
    joins: folders.map((folder) => path.join(folder, 'cgroup.procs')),
    /** MiB of all processes together, since the last call. */
    takePeak(): number {
      const most = peak
      peak = used()
      return most
    },
    /** How many processes the kernel killed for memory. */
    killed(): number {
      const file = isUnified ? 'memory.events' : 'memory.oom_control'
      return Number(/oom_kill (\d+)/.exec(readFileSync(path.join(memory, file), 'utf8'))?.[1] ?? Number.NaN)
    },
  }
}
