import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import { ServiceError } from '../domain/errors.js'
import {
  createPool,
  type Db,
  isConnectionLost,
  isRepeatable,
  type PoolOptions,
  toDb,
  toStoreError,
} from './database/connection.js'

/**
 * Owns the connections to the database. SQL stands in the folder of its aggregate (`catalogue/`, `publication/`, ...) in
 * functions that take a `Db`, which this class gives them.
 */
export class Store implements AsyncDisposable {
  /** For single statements outside a transaction. */
  readonly db: Db
  readonly #pool: pg.Pool
  readonly #answerMs: number
  readonly #busy: Set<pg.PoolClient>

  constructor(pool: pg.Pool, answerMs = unlimited, busy = new Set<pg.PoolClient>()) {
    this.#pool = pool
    this.#answerMs = answerMs
    this.#busy = busy
    this.db = toDb(pool, answerMs)
  }

  /**
   * The same store, but every statement must be answered within `answerMs`, or fails as `database-unavailable`: a
   * connection that stalls never says so by itself. COPY is not a statement in this sense.
   */
  answeringWithin(answerMs: number): Store {
    return new Store(this.#pool, answerMs, this.#busy)
  }

  /** Runs `work` in a read-committed transaction; repeats it on deadlock or serialisation failure, at most 5 times. */
  async transaction<T>(work: (db: Db) => Promise<T>): Promise<T> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.#begin('begin', work)
      } catch (error) {
        if (attempt >= 5 || !isRepeatable(error)) throw error
        await sleep(10 * attempt)
      }
    }
  }

  /** Runs `work` against one unchanging view of the database (repeatable read, read only). */
  async snapshot<T>(work: (db: Db, client: pg.PoolClient) => Promise<T>): Promise<T> {
    return await this.#begin('begin isolation level repeatable read read only', work)
  }

  /**
   * Gives `work` a connection of its own: session locks, LISTEN, COPY. `discard` closes it afterwards, however `work`
   * ends, and with it whatever its session holds.
   */
  async connection<T>(
    work: (db: Db, client: pg.PoolClient) => Promise<T>,
    afterwards: 'keep' | 'discard' = 'keep',
  ): Promise<T> {
    const client = await this.#connect()
    let broken = afterwards === 'discard'
    try {
      return await work(toDb(client, this.#answerMs), client)
    } catch (error) {
      broken ||= isConnectionLost(error)
      throw error
    } finally {
      this.#release(client, broken)
    }
  }

  /**
   * Runs `work` on a connection that is closed when `signal` is aborted: the server then ends the statement that runs on
   * it, and nobody waits for its rows. Throws `aborted`, and whatever the statements throw.
   */
  async abortable<T>(signal: AbortSignal, work: (db: Db) => Promise<T>): Promise<T> {
    const client = await this.#connect()
    const cut = () => void (client as unknown as pg.Client).end().catch(ignore)
    let broken = false
    try {
      if (signal.aborted) throw new ServiceError('aborted', 'the client has gone')
      signal.addEventListener('abort', cut, { once: true })
      return await work(toDb(client, this.#answerMs))
    } catch (error) {
      broken = isConnectionLost(error)
      throw error
    } finally {
      signal.removeEventListener('abort', cut)
      this.#release(client, broken || signal.aborted)
    }
  }

  /** Closes all connections; those that are still busy after 2 s are cut. */
  async close(): Promise<void> {
    if (this.#pool.ended) return
    const ended = this.#pool.end()
    const late = new AbortController()
    const cut = sleep(2000, undefined, { signal: late.signal }).then(
      () => Promise.allSettled([...this.#busy].map((client) => (client as unknown as pg.Client).end())),
      () => undefined,
    )
    await ended
    late.abort()
    await cut
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
  }

  async #connect(): Promise<pg.PoolClient> {
    try {
      const client = await this.#pool.connect()
      // The pool listens to idle connections only: one that breaks between two statements would end the process.
      client.on('error', ignore)
      this.#busy.add(client)
      return client
    } catch (error) {
      throw toStoreError(error)
    }
  }

  #release(client: pg.PoolClient, broken: boolean): void {
    this.#busy.delete(client)
    client.off('error', ignore)
    client.release(broken)
  }

  async #begin<T>(begin: string, work: (db: Db, client: pg.PoolClient) => Promise<T>): Promise<T> {
    const client = await this.#connect()
    const db = toDb(client, this.#answerMs)
    let failure: unknown
    try {
      await db.query(begin)
      const result = await work(db, client)
      await db.query('commit')
      return result
    } catch (error) {
      failure = error
      throw error
    } finally {
      this.#release(client, failure !== undefined && !(await isRolledBack(db, failure)))
    }
  }
}

const unlimited = 0

// The statement at hand fails by itself, and the connection is thrown away with it.
function ignore(): void {}

/** A connection that is lost, or cannot even roll back, is thrown away, not put back into the pool. */
async function isRolledBack(db: Db, failure: unknown): Promise<boolean> {
  if (isConnectionLost(failure)) return false
  try {
    await db.query('rollback')
    return true
  } catch {
    return false
  }
}

/** Opens the store at a PostgreSQL URL; connects lazily. `onError` hears of idle connections that broke. */
export function openStore(options: PoolOptions, onError: (error: Error) => void = () => undefined): Store {
  return new Store(createPool(options, onError))
}
