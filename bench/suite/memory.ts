import { readFileSync } from 'node:fs'

const MiB = 2 ** 20

/**
 * The most memory that this process has had, in MiB. On Linux from /proc: `maxRSS` starts there with what the parent
 * had when it made the process.
 */
export function peakMemoryMiB(): number {
  try {
    const [, kibibytes] = /^VmHWM:\s+(\d+) kB/m.exec(readFileSync('/proc/self/status', 'utf8')) ?? []
    if (kibibytes !== undefined) return (Number(kibibytes) * 1024) / MiB
  } catch {
    // No /proc: another system.
  }
  return (process.resourceUsage().maxRSS * 1024) / MiB
}
