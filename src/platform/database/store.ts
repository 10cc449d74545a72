import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import { ServiceError } from '../../kernel/errors.js'
import {
  connect,
  createPool,
  type Db,
  isConnectionLost,
  isReadOnly,
  isRepeatable,
  isTimedOut,
  type PoolOptions,
  runStatement,
  toDb,
} from './connection.js'

/** Another server that a read may go to, and who is told when that fails; undefined: there is none now. */
type Elsewhere = () => { readonly store: Store; readonly failed: (error: unknown) => void } | undefined

/** Runs `work` as a whole: when it throws, nothing of it stays. */
export type Transact = <T>(work: (db: Db) => Promise<T>) => Promise<T>

/**
 * Owns the connections to the database. Each room has its SQL in its folder `sql/`, in functions that take a `Db` of this
 * class.
 */
export class Store implements AsyncDisposable {
  /** For single statements outside a transaction. */
  readonly db: Db
  readonly #pool: pg.Pool
  readonly #answerMs: number
  readonly #busy: Set<pg.PoolClient>
  readonly #elsewhere: Elsewhere | undefined

  constructor(pool: pg.Pool, answerMs = unlimited, busy = new Set<pg.PoolClient>(), elsewhere?: Elsewhere) {
    this.#pool = pool
    this.#answerMs = answerMs
    this.#busy = busy
    this.#elsewhere = elsewhere
    this.db = {
      query: (...statement) =>
        this.#read((other) =>
          (other ?? this).connection((_db, client) => runStatement(client, answerMs, ...statement)),
        ),
    }
  }

  /**
   * The same store for reads, which go to the server that `elsewhere` names. A read that fails because of that server is repeated
   * here, and writes are done here, since no standby takes them.
   */
  reading(elsewhere: Elsewhere): Store {
    return new Store(this.#pool, this.#answerMs, this.#busy, elsewhere)
  }

  /** The most connections at a time. */
  get connections(): number {
    return this.#pool.options.max
  }

  /**
   * The same store, but a statement without an answer after `answerMs` fails as `database-unavailable`: nothing else
   * detects a connection that stalls. COPY has no such limit.
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

  /** Runs `work` in a transaction that is rolled back at the end; within it, `transact` runs what else were a transaction. */
  async rehearsal<T>(work: (transact: Transact) => Promise<T>): Promise<T> {
    return await this.connection(async (db) => {
      await db.query('begin')
      try {
        return await work((part) => inSavepoint(db, part))
      } finally {
        await db.query('rollback')
      }
    })
  }

  /** Runs `work` against one unchanging view of the database (repeatable read, read only). */
  async snapshot<T>(work: (db: Db, client: pg.PoolClient) => Promise<T>): Promise<T> {
    const begin = 'begin isolation level repeatable read read only'
    return await this.#read((store) => (store ? store.snapshot(work) : this.#begin(begin, work)))
  }

  /** As `snapshot`, on a second connection with the view that `db`, of a snapshot that is still open, has. */
  async besideSnapshot<T>(db: Db, work: (db: Db, client: pg.PoolClient) => Promise<T>): Promise<T> {
    const { rows } = await db.query<{ id: string }>('select pg_export_snapshot() as id')
    return await this.snapshot(async (second, client) => {
      // A parameter is not allowed here; the server gave the name.
      await second.query(`set transaction snapshot '${rows[0]?.id}'`)
      return await work(second, client)
    })
  }

  /** Reads what follows in this transaction without processes that help: to start them costs more than a few thousand rows. */
  async readAlone(db: Db): Promise<void> {
    await db.query('set local max_parallel_workers_per_gather = 0')
  }

  /**
   * Gives `work` a connection of its own, for session locks, LISTEN and COPY. `discard` closes it afterwards, and so ends
   * everything that its session holds.
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
    return await this.#read((store) => (store ? store.abortable(signal, work) : this.#abortableHere(signal, work)))
  }

  async #abortableHere<T>(signal: AbortSignal, work: (db: Db) => Promise<T>): Promise<T> {
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

  /** Closes all connections; cuts those that are still busy after 2 s, and waits for none that does not answer. */
  async close(): Promise<void> {
    if (this.#pool.ended) return
    const late = new AbortController()
    const ended = this.#pool.end().then(() => late.abort())
    await sleep(2000, undefined, { signal: late.signal }).catch(() => undefined)
    if (late.signal.aborted) return
    for (const client of this.#busy) (client as unknown as pg.Client).end().catch(ignore)
    await Promise.race([ended, sleep(200)])
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
  }

  /** Does it elsewhere, and here where there is no such place, or it fails for a reason of the server. */
  async #read<T>(work: (store: Store | undefined) => Promise<T>): Promise<T> {
    const other = this.#elsewhere?.()
    if (!other) return await work(undefined)
    try {
      return await work(other.store)
    } catch (error) {
      if (!(error instanceof ServiceError) || !/^database-(unavailable|refused)$/.test(error.code)) throw error
      if (isTimedOut(error)) throw error
      if (isConnectionLost(error) && !isReadOnly(error)) other.failed(error)
      return await work(undefined)
    }
  }

  async #connect(): Promise<pg.PoolClient> {
    const client = await connect(this.#pool)
    // The pool handles errors of idle connections only: a busy one that breaks between two statements would end the process.
    client.on('error', ignore)
    this.#busy.add(client)
    return client
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

async function inSavepoint<T>(db: Db, work: (db: Db) => Promise<T>): Promise<T> {
  await db.query('savepoint part')
  try {
    const result = await work(db)
    await db.query('release part')
    return result
  } catch (error) {
    await db.query('rollback to part')
    throw error
  }
}

const unlimited = 0

// The running statement fails too, and the connection is discarded with it.
function ignore(): void {}

/** Whether the connection may go back into the pool: it is not lost, and its transaction is rolled back. */
async function isRolledBack(db: Db, failure: unknown): Promise<boolean> {
  if (isConnectionLost(failure)) return false
  try {
    await db.query('rollback')
    return true
  } catch {
    return false
  }
}

/** Opens the store at a PostgreSQL URL; connects lazily. `onError` gets the errors of idle connections that break. */
export function openStore(options: PoolOptions, onError: (error: Error) => void = () => undefined): Store {
  return new Store(createPool(options, onError))
}
