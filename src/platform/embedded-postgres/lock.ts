import { readdir, readlink, rm, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { errnoOf, ifThere } from '../../kernel/system-errors.js'
import { unavailable } from './failures.js'
import { getOwnIdentity, isRunning } from './process-identity.js'

const freeMark = 'free'

/**
 * Runs `work` while no other process, and no other call in this process, has the lock in folder `dir`.
 *
 * The folder has numbered symbolic links whose targets name their owners, so that a link appears whole or not at all. Only
 * the highest number counts. When it is `free` or names a process that no longer runs, the lock is taken by creating the
 * next number, which only one process can do: an owner killed by SIGKILL blocks nobody. The highest link is never removed,
 * so a slow process that creates an older number sees the higher one and yields.
 *
 * The folder must exist. Throws `database-unavailable` when the lock is not free within `waitMs`.
 */
export async function withLock<T>(dir: string, work: () => Promise<T>, waitMs = 180_000): Promise<T> {
  const mine = await acquire(dir, waitMs)
  try {
    return await work()
  } finally {
    await free(dir, mine)
  }
}

async function acquire(dir: string, waitMs: number): Promise<number> {
  const me = await getOwnIdentity()
  const deadline = performance.now() + waitMs
  for (;;) {
    const top = await highest(dir)
    const owner = top === 0 ? freeMark : await ifThere(readlink(join(dir, String(top))))
    if (owner !== undefined && (owner === freeMark || !(await isRunning(owner)))) {
      const mine = top + 1
      if (await create(dir, mine, me)) {
        if ((await highest(dir)) === mine) {
          await removeUpTo(dir, mine - 1)
          return mine
        }
        await removeIfThere(dir, mine)
      }
      continue
    }
    if (performance.now() > deadline) {
      throw unavailable(
        `process ${owner?.split('-')[0] ?? 'unknown'} has been opening or closing the database for more than ${Math.round(waitMs / 1000)} s (lock ${dir}): stop it and try again`,
      )
    }
    await sleep(15 + Math.random() * 30)
  }
}

async function free(dir: string, mine: number): Promise<void> {
  try {
    await create(dir, mine + 1, freeMark)
    await removeUpTo(dir, mine)
  } catch (error) {
    // The data directory was removed: nothing is left to free.
    if (errnoOf(error) === 'ENOENT') return
    // A full disk has no room for the mark; removing our own link frees the lock too.
    await removeIfThere(dir, mine)
  }
}

async function numbers(dir: string): Promise<number[]> {
  return (await readdir(dir)).filter((name) => /^\d+$/.test(name)).map(Number)
}

async function highest(dir: string): Promise<number> {
  return Math.max(0, ...(await numbers(dir)))
}

async function create(dir: string, number: number, owner: string): Promise<boolean> {
  try {
    await symlink(owner, join(dir, String(number)))
    return true
  } catch (error) {
    if (errnoOf(error) === 'EEXIST') return false
    throw error
  }
}

async function removeUpTo(dir: string, last: number): Promise<void> {
  for (const number of await numbers(dir)) if (number <= last) await removeIfThere(dir, number)
}

async function removeIfThere(dir: string, number: number): Promise<void> {
  await rm(join(dir, String(number)), { force: true })
}
