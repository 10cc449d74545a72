import { spawnSync } from 'node:child_process'
import { mkdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterFile } from '../runner/after-file.js'

/** A folder on a disk of its own of so many MB; undefined where this user may not make one. It is gone after the tests of the file. */
export async function smallDisk(megabytes: number): Promise<string | undefined> {
  const folder = path.join(tmpdir(), `giving-disk-${process.pid}-${megabytes}`)
  await mkdir(folder, { recursive: true })
  const mount = ['-t', 'tmpfs', '-o', `size=${megabytes}m`, 'tmpfs', folder]
  const isMounted = process.getuid?.() === 0 && spawnSync('mount', mount).status === 0
  afterFile(async () => {
    if (isMounted) spawnSync('umount', ['-l', folder])
    await rm(folder, { recursive: true, force: true })
  })
  return isMounted ? folder : undefined
}
