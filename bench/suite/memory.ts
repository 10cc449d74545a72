import { readFileSync } from 'node:fs'

const MiB = 2 ** 20

/** The most memory that a process of this machine has had, in MiB; undefined where there is no /proc. */
export function peakMemoryOf(pid: number | 'self'): number | undefined {
  return memoryLine(pid, /^VmHWM:\s+(\d+) kB/m)
}

/** The memory that a process of this machine has now, in MiB; undefined where there is no /proc. */
export function memoryOf(pid: number): number | undefined {
  return memoryLine(pid, /^VmRSS:\s+(\d+) kB/m)
}

function memoryLine(pid: number | 'self', line: RegExp): number | undefined {
  try {
    const [, kibibytes] = line.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
    return kibibytes === undefined ? undefined : (Number(kibibytes) * 1024) / MiB
  } catch {
    return undefined
  }
}

/**
 * The most memory that this process has had, in MiB. On Linux from /proc: `maxRSS` starts there with what the parent
 * had when it made the process.
 */
export function peakMemoryMiB(): number {
  return peakMemoryOf('self') ?? (process.resourceUsage().maxRSS * 1024) / MiB
}
