import { availableParallelism, cpus, loadavg, totalmem, type } from 'node:os'
import { getServerPackage } from '../../src/platform/embedded-postgres/binaries.js'

/** What the numbers were measured on. */
export type Machine = {
  readonly cpu: string
  readonly cores: number
  readonly memoryGiB: number
  readonly system: string
  readonly node: string
  readonly postgres: string
  /** Load of the minute before the suite began; well above 0, other processes disturb the numbers. */
  readonly loadBefore: number
}

/** Describes this machine. */
export async function describeMachine(): Promise<Machine> {
  return {
    cpu: cpus()[0]?.model.trim() ?? 'unknown processor',
    cores: availableParallelism(),
    memoryGiB: Math.round(totalmem() / 2 ** 30),
    system: type(),
    node: process.version.slice(1),
    postgres: await getServerPackage().then(
      ({ version }) => version,
      () => 'none',
    ),
    loadBefore: Math.round((loadavg()[0] ?? 0) * 100) / 100,
  }
}

/** The machine in one line. */
export function machineLine({ cpu, cores, memoryGiB, system, node, postgres, loadBefore }: Machine): string {
  return `${cores} cores ${cpu}, ${memoryGiB} GiB, ${system}, Node ${node}, PostgreSQL ${postgres}, load before ${loadBefore}`
}
