import pg from 'pg'
import { ServiceError } from '../../kernel/errors.js'
import { findTransient, readOnlyState } from './transient.js'

/** What functions with SQL need: a connection, a transaction or the pool itself. */
export type Db = {
  /** With a `name` the statement is prepared once for each connection; one name always means one text. */
  query<Row extends object>(
    text: string,
    values?: readonly unknown[],
    name?: string,
  ): Promise<{ rows: Row[]; rowCount: number }>
}

/** A connection of its own, for COPY; opaque outside this room. */
export type Connection = pg.PoolClient

const { builtins } = pg.types

/**
 * Column parsers of our own pool, not of the driver for the whole process: `date` and `numeric` stay text, bigint becomes a
 * number, which must hold it exactly.
 */
function columnParser(oid: number, format?: 'text' | 'binary') {
  if (format !== 'binary') {
    if (oid === builtins.DATE || oid === builtins.NUMERIC) return (text: string) => text
    if (oid === builtins.INT8) return parseBigint
  }
  return pg.types.getTypeParser(oid, format as 'text')
}

function parseBigint(text: string): number {
  const value = Number(text)
  if (!Number.isSafeInteger(value)) throw new RangeError(`bigint ${text} does not fit a number`)
  return value
}

/** Options of a pool; durations in milliseconds. */
export type PoolOptions = {
  readonly url: string
  readonly max: number
  readonly applicationName: string
  /** After how long the server ends a statement; 0 or absent: never. */
  readonly statementTimeoutMs?: number
}

const connectMs = 5_000

// How often the server looks whether the client of a running statement is still there, and ends the statement if not.
const clientCheckMs = 1_000

/** A pool with our column parsers, UTC sessions and bounded waits; `onError` gets the errors of idle connections. */
export function createPool(options: PoolOptions, onError: (error: Error) => void): pg.Pool {
  const pool = new pg.Pool({
    connectionString: options.url,
    max: options.max,
    application_name: options.applicationName,
    connectionTimeoutMillis: connectMs,
    idleTimeoutMillis: 30_000,
    keepAlive: true,
    onConnect: watchClient,
    types: { getTypeParser: columnParser as typeof pg.types.getTypeParser },
    options: `-c timezone=UTC -c statement_timeout=${options.statementTimeoutMs ?? 0} -c idle_in_transaction_session_timeout=600000`,
  })
  pool.on('error', onError)
  return pool
}

async function watchClient(client: pg.ClientBase): Promise<void> {
  const text = `set client_connection_check_interval = ${clientCheckMs}`
  try {
    await client.query({ text, query_timeout: connectMs } as pg.QueryConfig)
  } catch (error) {
    // A server on a system that has no such check refuses the setting.
    if (sqlState(error) === undefined) throw error
  }
}

/** Adapts a pg client or pool to `Db`; a statement without an answer after `answerMs` (0: no limit) fails. */
export function toDb(client: pg.Pool | pg.PoolClient, answerMs: number): Db {
  return {
    query: async <Row extends object>(text: string, values?: readonly unknown[], name?: string) => {
      try {
        const result = await client.query<Row>({
          text,
          values: [...(values ?? [])],
          ...(name !== undefined && { name }),
          query_timeout: answerMs,
        } as pg.QueryConfig)
        return { rows: result.rows, rowCount: result.rowCount ?? 0 }
      } catch (error) {
        throw toStoreError(error)
      }
    },
  }
}

/** Whether a transaction that failed like this may be repeated: a serialisation failure or a deadlock. */
export function isRepeatable(error: unknown): boolean {
  const code = sqlState(error)
  return code === '40001' || code === '40P01'
}

/** Whether the database refused the data (class 22: data exception, 23: constraint violation). */
export function isDataError(error: unknown): boolean {
  return /^(22|23)/.test(sqlState(error) ?? '')
}

/** Whether the server ended a statement that took too long. */
export function isTimedOut(error: unknown): boolean {
  return sqlState(error) === '57014'
}

/** Runs a write that only saves work later, and ignores its failure when the database is read-only. */
export async function unlessReadOnly(write: () => Promise<unknown>): Promise<void> {
  try {
    await write()
  } catch (error) {
    if (sqlState(error) !== readOnlyState) throw error
  }
}

/** Whether a statement gave up waiting for a lock (`lock_timeout`). */
export function isLockTimeout(error: unknown): boolean {
  return sqlState(error) === '55P03'
}

/** The SQLSTATE or errno of a driver error, if it has one. */
export function sqlState(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null) return undefined
  if ('code' in error && typeof error.code === 'string' && !(error instanceof ServiceError)) return error.code
  return 'cause' in error ? sqlState(error.cause) : undefined
}

/** Turns a failure that passes by itself into `database-unavailable`; every other error is returned as it is. */
export function toStoreError(error: unknown): unknown {
  if (error instanceof ServiceError || !(error instanceof Error)) return error
  const transient = findTransient(sqlState(error) ?? '', error.message)
  if (!transient) return error
  return new ServiceError('database-unavailable', `${transient.reason}: ${error.message}`, { cause: error })
}

/** Whether the connection of a statement that failed like this must not be used again. */
export function isConnectionLost(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  const { message } = error instanceof ServiceError && error.cause instanceof Error ? error.cause : error
  return findTransient(sqlState(error) ?? '', message)?.connection === 'lost'
}
