import { readdirSync, readFileSync } from 'node:fs'
import type { Store } from '../../src/platform/database/store.js'

// The unit of /proc on every Linux that Node runs on.
const ticksPerSecond = 100

/**
 * Seconds of CPU that the server of this database has used so far, all of its processes together, those that have ended
 * included. NaN where there is no /proc.
 */
export async function databaseCpuSeconds({ db }: Store): Promise<number> {
  const { rows } = await db.query<{ pid: number }>('select pg_backend_pid() as pid')
  const server = statOf(rows[0]?.pid ?? 0)?.parent
  if (server === undefined) return Number.NaN
  const processes = readdirSync('/proc').filter((name) => /^\d+$/.test(name))
  const ticks = processes.map((name) => {
    const stat = statOf(Number(name))
    if (Number(name) === server) return (stat?.own ?? 0) + (stat?.ofEnded ?? 0)
    return stat?.parent === server ? stat.own : 0
  })
  return ticks.reduce((sum, one) => sum + one, 0) / ticksPerSecond
}

function statOf(pid: number) {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8')
    // The name in parentheses may hold anything; then the state, the parent, and from the 12th field on the times.
    const fields = text
      .slice(text.lastIndexOf(')') + 2)
      .split(' ')
      .map(Number)
    const [parent = 0, user = 0, system = 0, endedUser = 0, endedSystem = 0] = [1, 11, 12, 13, 14].map(
      (at) => fields[at],
    )
    return { parent, own: user + system, ofEnded: endedUser + endedSystem }
  } catch {
    return undefined
  }
}
