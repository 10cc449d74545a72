import { randomBytes } from 'node:crypto'
import { readdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { getOwnIdentity, isRunning } from './process-identity.js'

/**
 * Takes a lease for this process and returns its file. A lease is an empty file named `<pid>-<start>.<nonce>`, so it is never
 * half-written; one process may have several. The folder must exist. Call it inside the lock.
 */
export async function takeLease(dir: string): Promise<string> {
  const file = join(dir, `${await getOwnIdentity()}.${randomBytes(4).toString('hex')}`)
  await writeFile(file, '', { flag: 'wx' })
  return file
}

/** Gives a lease back; a second time does nothing. */
export async function dropLease(file: string): Promise<void> {
  await rm(file, { force: true })
}

/** Counts the leases of running processes and removes those of dead ones. Call it inside the lock. */
export async function countLiveLeases(dir: string): Promise<number> {
  let live = 0
  for (const name of await readdir(dir)) {
    if (await isRunning(name.split('.')[0] ?? '')) live++
    else await rm(join(dir, name), { force: true })
  }
  return live
}
