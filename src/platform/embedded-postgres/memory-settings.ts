import { readFile } from 'node:fs/promises'
import { totalmem } from 'node:os'
import { join } from 'node:path'
import { ifThere } from '../../kernel/system-errors.js'

const megabyte = 2 ** 20

/**
 * Arguments that let the server use the memory of the machine, or of the control group that it is in. A setting that an operator
 * made with ALTER SYSTEM is left alone.
 */
export async function memorySettings(clusterDir: string): Promise<string[]> {
  const own = (await ifThere(readFile(join(clusterDir, 'postgresql.auto.conf'), 'utf8'))) ?? ''
  const names = own.split('\n').map((line) => line.split('=')[0]?.trim())
  return Object.entries(settingsFor(memoryBytes())).flatMap(([name, megabytes]) =>
    names.includes(name) ? [] : ['-c', `${name}=${megabytes}MB`],
  )
}

/**
 * PostgreSQL's settings in megabytes for so many bytes, most of which the service and the files that it writes need.
 *
 * @internal
 */
export function settingsFor(bytes: number): Readonly<Record<string, number>> {
  const share = (part: number, least: number, most: number) =>
    Math.min(most, Math.max(least, Math.floor(bytes / megabyte / part)))
  return {
    shared_buffers: share(8, 128, 2048),
    effective_cache_size: share(2, 512, 65_536),
    work_mem: share(1024, 4, 16),
  }
}

function memoryBytes(): number {
  // 0, or an absurd number, where there is no limit.
  const limit = process.constrainedMemory()
  return limit > 0 ? Math.min(limit, totalmem()) : totalmem()
}
