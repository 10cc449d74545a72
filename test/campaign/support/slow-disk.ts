import { spawnSync } from 'node:child_process'
import { existsSync, statSync, writeFileSync } from 'node:fs'
import { chmod, truncate, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { afterFile } from '../../support/runner/after-file.js'
import { temporaryFolder } from '../../support/values/temporary-folder.js'

const throttles = [
  '/sys/fs/cgroup/blkio/blkio.throttle.read_iops_device',
  '/sys/fs/cgroup/blkio/blkio.throttle.write_iops_device',
]

/** Why this machine cannot make a disk slow; undefined when it can. */
export function slowDiskMissing(): string | undefined {
  if (process.getuid?.() !== 0) return 'only root can mount a disk of its own'
  return throttles.every((file) => existsSync(file)) ? undefined : 'no control group limits the operations of a disk'
}

/** A folder on a disk of its own, a file that is mounted, whose reads and writes can be slowed while all goes on. */
export async function slowDisk(megabytes: number) {
  const image = path.join(await temporaryFolder(), 'disk')
  const dir = await temporaryFolder()
  await writeFile(image, '')
  await truncate(image, megabytes * 2 ** 20)
  const must = (program: string, ...args: readonly string[]) => {
    const { status, stdout, stderr } = spawnSync(program, args, { encoding: 'utf8' })
    if (status !== 0) throw new Error(`${program} ${args.join(' ')}: ${stderr}`)
    return stdout.trim()
  }
  const device = must('losetup', '-f', '--show', image)
  const { rdev } = statSync(device)
  const limit = (perSecond: number) => {
    for (const file of throttles) writeFileSync(file, `${rdev >> 8}:${rdev & 255} ${perSecond}\n`)
  }
  afterFile(async () => {
    limit(0)
    spawnSync('umount', ['-l', dir])
    spawnSync('losetup', ['-d', device])
  })
  must('mkfs.ext4', '-q', device)
  must('mount', device, dir)
  await chmod(dir, 0o755)
  return { dir, limit }
}
