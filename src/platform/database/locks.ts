import { randomUUID } from 'node:crypto'
import { ServiceError } from '../../kernel/errors.js'
import type { Db } from './connection.js'

/** What one process at a time may do, on any machine. */
export type LockName =
  /** Write drafts, switch the live release, remove releases. */
  | 'publishing'
  /** Write to the bucket. */
  | 'bucket'

// A holder that has died without a word keeps the lock for so long; one that lives puts its end off every second.
const seconds = 5
const renewMs = 1_000

/** A lock that this process has taken. `confirm` throws `server-busy` when another has it now. */
export type TakenLock = AsyncDisposable & { confirm(): Promise<void> }

/**
 * Takes the lock if nobody has it, or whoever has it: `take-over` is for a caller who knows that the holder is dead or cut
 * off. Returns undefined when another has it. Whoever takes it gives it back by disposing it.
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
    // While the database is away nobody else can take it either; whether it is still ours is asked before it counts.
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

async function renewLock(db: Db, name: LockName, owner: string): Promise<boolean> {
  const { rowCount } = await db.query(
    `update taken_lock set until = clock_timestamp() + $3 * interval '1 second' where name = $1 and owner = $2`,
    [name, owner, seconds],
  )
  return rowCount > 0
}
