import { randomUUID } from 'node:crypto'
import { ServiceError } from '../../kernel/errors.js'
import type { Db } from './connection.js'

/** Work that only one process of all machines may do at a time. */
export type LockName =
  /** Write drafts, switch the live release, remove releases. */
  | 'publishing'
  /** Write to the bucket. */
  | 'bucket'
  /** Tell of what keeps workers from telling. */
  | 'alarms'

// A holder that was killed keeps the lock for so long; one that runs renews it every second.
const seconds = 5
const renewMs = 1_000

/** A lock that this process has taken. `confirm` throws `server-busy` when another has it now. */
export type TakenLock = AsyncDisposable & { confirm(): Promise<void> }

/**
 * Takes the lock if it is free; with `take-over` also from another holder, which the caller knows to be dead or cut off.
 * Returns undefined when another has it. Disposing the lock gives it back.
 */
export async function takeLock(
  db: Db,
  name: LockName,
  how: 'if-free' | 'take-over' = 'if-free',
): Promise<TakenLock | undefined> {
  const owner = randomUUID()
  const { rowCount } = await db.query(
    `insert into taken_lock as l (name, owner, until) values ($1, $2, clock_timestamp() + $3 * interval '1 second')
      on conflict (name) do update set owner = excluded.owner, until = excluded.until
      where l.until < clock_timestamp() or $4`,
    [name, owner, seconds, how === 'take-over'],
  )
  if (rowCount === 0) return undefined
  const renew = async () => await renewLock(db, name, owner)
  let renewing = false
  const renewal = setInterval(async () => {
    if (renewing) return
    renewing = true
    // While the database cannot be reached, no other process can take the lock; `confirm` asks before work that counts.
    await renew().catch(() => undefined)
    renewing = false
  }, renewMs)
  return {
    confirm: async () => {
      if (await renew()) return
      throw new ServiceError('server-busy', `another process has taken the lock for ${name} over`)
    },
    [Symbol.asyncDispose]: async () => {
      clearInterval(renewal)
      const release = db.query('delete from taken_lock where name = $1 and owner = $2', [name, owner])
      // It ends by itself.
      await release.catch(() => undefined)
    },
  }
}

/** Takes a free lock, or keeps one's own, for so long; false: another owner has it. It is not renewed by itself. */
export async function keepLock(db: Db, name: LockName, owner: string, forSeconds: number): Promise<boolean> {
  const { rowCount } = await db.query(
    `insert into taken_lock as l (name, owner, until) values ($1, $2, clock_timestamp() + $3 * interval '1 second')
      on conflict (name) do update set owner = excluded.owner, until = excluded.until
      where l.until < clock_timestamp() or l.owner = excluded.owner`,
    [name, owner, forSeconds],
  )
  return rowCount === 1
}

async function renewLock(db: Db, name: LockName, owner: string): Promise<boolean> {
  const { rowCount } = await db.query(
    `update taken_lock set until = clock_timestamp() + $3 * interval '1 second' where name = $1 and owner = $2`,
    [name, owner, seconds],
  )
  return rowCount > 0
}
