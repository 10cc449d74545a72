import { execFile } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { unavailable, useYourOwnServer } from './failures.js'

const execute = promisify(execFile)
const systemPath = { PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin', LC_ALL: 'C' }

/** The system user that the server runs as. */
export type SystemUser = { readonly uid: number; readonly gid: number }

/** Whether this process runs as root, as which PostgreSQL refuses to run. */
export function isRoot(): boolean {
  return process.getuid?.() === 0
}

/** The system user `postgres`, made when missing. Root only. Throws `database-unavailable` when it cannot be. */
export async function openSystemUser(): Promise<SystemUser> {
  const existing = await findSystemUser()
  if (existing !== undefined) return existing
  let reason = ''
  // Two processes may create it at once; the second finds it a moment later.
  for (let attempt = 0; attempt < 5; attempt++) {
    try {
      await execute(
        'useradd',
        [
          '--system',
          '--user-group',
          '--no-create-home',
          '--home-dir',
          '/nonexistent',
          '--shell',
          '/usr/sbin/nologin',
          'postgres',
        ],
        { env: systemPath },
      )
    } catch (error) {
      reason = error instanceof Error ? (error.message.trim().split('\n').pop() ?? '') : String(error)
    }
    const made = await findSystemUser()
    if (made !== undefined) return made
    await sleep(300)
  }
  throw unavailable(
    `PostgreSQL does not run as root and its system user "postgres" could not be created (${reason}): create that user, run as an ordinary user, or ${useYourOwnServer}`,
  )
}

async function findSystemUser(): Promise<SystemUser | undefined> {
  for (const name of process.platform === 'darwin' ? ['postgres', '_postgres'] : ['postgres']) {
    try {
      const [uid, gid] = await Promise.all(
        ['-u', '-g'].map(async (flag) => Number((await execute('id', [flag, name], { env: systemPath })).stdout)),
      )
      if (uid && gid) return { uid, gid }
    } catch {
      // `id` fails for a user that does not exist.
    }
  }
  return undefined
}
