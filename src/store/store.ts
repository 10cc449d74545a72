import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import { ServiceError } from '../domain/errors.js'
import { createPool, type Db, isRepeatable, type PoolOptions, toDb, toStoreError } from './connection.js'

/**
 * The database: the only owner of its pool. SQL lives beside its aggregate (`projects.ts`, `runs.ts`, ...) in functions
 * that take a `Db`; this class gives them one.
 */
export class Store implements AsyncDisposable {
  /** For single statements outside a transaction. */
  readonly db: Db
  readonly #pool: pg.Pool

  constructor(pool: pg.Pool) {
    this.#pool = pool
    this.db = toDb(pool)
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

  /** Gives `work` a connection of its own: session locks, LISTEN, COPY. */
  async connection<T>(work: (db: Db, client: pg.PoolClient) => Promise<T>): Promise<T> {
    const client = await this.#connect()
    let broken = false
    try {
      return await work(toDb(client), client)
    } catch (error) {
      broken = toStoreError(error) instanceof ServiceError
      throw error
    } finally {
      client.release(broken)
    }
  }

  /** Closes all connections, waiting for the busy ones. */
  async close(): Promise<void> {
    if (!this.#pool.ended) await this.#pool.end()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
  }

  async #connect(): Promise<pg.PoolClient> {
    try {
      return await this.#pool.connect()
    } catch (error) {
      throw toStoreError(error)
    }
  }

  async #begin<T>(begin: string, work: (db: Db, client: pg.PoolClient) => Promise<T>): Promise<T> {
    const client = await this.#connect()
    const db = toDb(client)
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
      // A connection that cannot even roll back is thrown away, not put back into the pool.
      const rolledBack =
        failure === undefined ||
        (await db.query('rollback').then(
          () => true,
          () => false,
        ))
      client.release(!rolledBack)
    }
  }
}

/** Opens the store at a PostgreSQL URL; connects lazily. `onError` hears of idle connections that broke. */
export function openStore(options: PoolOptions, onError: (error: Error) => void = () => undefined): Store {
  return new Store(createPool(options, onError))
}
