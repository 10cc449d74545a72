import pg from 'pg'
import { type DatabaseAddress, readDatabaseAddress } from '../../kernel/database-address.js'
import { ServiceError } from '../../kernel/errors.js'
import { type Fence, type Lineage, timelineSql } from './fence.js'
import { isRefused, refusedConnection } from './refusal.js'
import { followingSocket, type Servers, serversOf } from './servers.js'
import { findTransient, readOnlyState } from './transient.js'
import { withoutNulls } from './without-nulls.js'

/** What functions with SQL need: a connection, a transaction or the pool itself. */
export type Db = {
  /**
   * Rows have the members of our types: the column `settled_at` is `settledAt`, and null is undefined, in JSON too. With a
   * `name` the statement is prepared once for each connection; one name always means one text.
   */
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

/** Whether connections to a pooler keep a server of their own between transactions. */
type Pooling = 'session' | 'transaction'

/** Options of a pool; durations in milliseconds. */
export type PoolOptions = {
  readonly url: string
  readonly max: number
  readonly applicationName: string
  /** After how long the server ends a statement; 0 or absent: never. */
  readonly statementTimeoutMs?: number
  /** Absent: a pooler that is found counts as one whose connections share servers. */
  readonly pooling?: Pooling | undefined
  /** Keeps writes from a primary that a failover has left behind; absent: none is known. */
  readonly fence?: Fence | undefined
}

const connectMs = 5_000

// How often the server checks that the client of a running statement is still connected; otherwise it ends the statement.
const clientCheck = 'client_connection_check_interval'
const clientCheckMs = 1_000

/** A pool with our column parsers, UTC sessions and bounded waits; `onError` gets the errors of idle connections. */
export function createPool(options: PoolOptions, onError: (error: Error) => void): pg.Pool {
  const address = readDatabaseAddress(options.url)
  if (!address) throw refusedConnection('it is not at an address of PostgreSQL', undefined)
  const servers = serversOf(address)
  const settings = {
    // Compiling a statement takes longer than all of ours together: the planner expects a hundred rows of each small object.
    jit: 'off',
    ...address.settings,
    timezone: 'UTC',
    statement_timeout: `${options.statementTimeoutMs ?? 0}`,
    idle_in_transaction_session_timeout: '600000',
  }
  const pool = new pg.Pool({
    max: options.max,
    application_name: options.applicationName,
    connectionTimeoutMillis: connectMs,
    idleTimeoutMillis: 30_000,
    keepAlive: true,
    ...(address.startOptions !== undefined && { options: address.startOptions }),
    Client: class extends pg.Client {
      constructor(given: pg.ClientConfig) {
        super({ ...given, connectionString: servers.current })
      }
    } as typeof pg.Client & (new () => pg.ClientBase),
    onConnect: (client) => settle(client, settings, address.target, options),
    types: { getTypeParser: columnParser as typeof pg.types.getTypeParser },
  })
  poolServers.set(pool, servers)
  pool.on('error', onError)
  return pool
}

const poolServers = new WeakMap<pg.Pool, Servers>()

/** A connection of the pool; where the address has several servers, of the first one that will do. Throws coded errors. */
export async function connect(pool: pg.Pool): Promise<pg.PoolClient> {
  const servers = poolServers.get(pool)
  for (let left = servers?.count ?? 1; ; ) {
    const server = servers?.current
    try {
      const client = await pool.connect()
      const fenced = fencedClients.get(client)
      if (fenced === undefined || !isOutdated(fenced)) return client
      client.release(true)
    } catch (error) {
      if (server !== undefined) servers?.failed(server)
      if (--left > 0) continue
      const { code, message } = { code: sqlState(error) ?? '', message: error instanceof Error ? error.message : '' }
      if (!(error instanceof ServiceError) && isRefused(code, message)) throw refusedConnection(message, error)
      throw toStoreError(error)
    }
  }
}

/** What a connection knew of its server, and what had been seen, when it was made. */
type Fenced = { readonly fence: Fence; readonly lineage: Lineage; readonly seen: number }

const fencedClients = new WeakMap<object, Fenced>()

/** Whether to replace the connection: a newer primary was seen since it opened, or an older one accepted. */
function isOutdated({ fence, lineage, seen }: Fenced): boolean {
  return fence.seen(lineage.system) !== seen
}

/** Notes what the connection leads to; `behind`: nothing is written over it. */
async function fenceOff(client: pg.ClientBase, fence: Fence | undefined): Promise<'behind' | 'fits'> {
  const ask = (text: string) => client.query<Lineage>({ text, query_timeout: connectMs } as pg.QueryConfig)
  const lineage = fence && (await lineageOf(ask))
  if (!fence || !lineage || lineage.timeline === 0) return 'fits'
  const isBehind = fence.noteServer(lineage)
  fencedClients.set(client, { fence, lineage, seen: fence.seen(lineage.system) })
  return isBehind ? 'behind' : 'fits'
}

const lineageText = `select (select system_identifier::text from pg_control_system()) as system, ${timelineSql} as timeline`

/** The lineage of the server that a connection leads to; undefined for one that tells nobody, as some managed services do. */
async function lineageOf(
  ask: (text: string) => Promise<{ readonly rows: readonly Lineage[] }>,
): Promise<Lineage | undefined> {
  try {
    return (await ask(lineageText)).rows[0]
  } catch (error) {
    if (/^(42501|42883|0A000)$/.test(sqlState(error) ?? '')) return undefined
    throw error
  }
}

/** The lineage of the database that these statements go to. */
export async function findLineage(db: Db): Promise<Lineage | undefined> {
  return await lineageOf(() => db.query<Lineage>(lineageText))
}

/**
 * The settings that each transaction gets on a connection that shares its server, as JSON and as statements, and the
 * timeline below which it may not write.
 */
const sharedSettings = new WeakMap<
  object,
  { readonly json: string; readonly statements: string; readonly timeline: number }
>()

type Settled = {
  readonly process: number
  readonly standby: boolean
  readonly readOnly: boolean
  readonly searchPath: string | null
}

/**
 * Gives a new connection its settings, and finds out whether a pooler is between: the server's process is then not the one
 * that the start of the connection named.
 */
async function settle(
  client: pg.ClientBase,
  settings: Readonly<Record<string, string>>,
  target: DatabaseAddress['target'],
  { pooling, fence }: Pick<PoolOptions, 'pooling' | 'fence'>,
): Promise<void> {
  let held: Readonly<Record<string, string>> = { ...settings, [clientCheck]: `${clientCheckMs}` }
  let found: Settled
  try {
    found = await look(client, held, pooling)
  } catch (error) {
    // A server on a system that has no such check refuses the setting.
    if (!(error instanceof Error && error.message.includes(clientCheck))) throw error
    held = settings
    found = await look(client, held, pooling)
  }
  const fenced = await fenceOff(client, fence)
  refuseOtherThan(target, { ...found, readOnly: found.readOnly || fenced === 'behind' }, fence)
  if (found.process === processOf(client) || pooling === 'session') {
    if (fenced === 'behind') await client.query('set default_transaction_read_only = on')
    return
  }
  // Where a pooler takes a server away after each statement, this is refused.
  for (const text of ['begin', 'rollback']) await client.query({ text, query_timeout: connectMs } as pg.QueryConfig)
  // Other programs may leave settings behind in the servers of the pooler: the path is that of a new session.
  const all = { ...(found.searchPath !== null && { search_path: found.searchPath }), ...held }
  const statements = Object.entries(all).map(([name, value]) => `set local ${name} = ${literal(name, value)}`)
  // The pooler may lead to another server later.
  const timeline = fencedClients.get(client)?.seen ?? 0
  sharedSettings.set(client, { json: JSON.stringify(all), statements: statements.join('; '), timeline })
}

/** Makes a transaction read-only on a server whose timeline is below this one. */
function guardText(timeline: number): string {
  return `select set_config('transaction_read_only', 'on', true) where ${isBelow(`${timeline}`)}`
}

function isBelow(timeline: string): string {
  return `${timelineSql} between 1 and ${timeline} - 1`
}

/** The value of a setting as SQL; a path is a list of names. */
function literal(name: string, value: string): string {
  if (name !== 'search_path') return pg.escapeLiteral(value)
  const names = value.match(/"(?:[^"]|"")*"|[^",\s]+/g) ?? []
  return names.map((one) => (one.startsWith('"') ? one : pg.escapeIdentifier(one.toLowerCase()))).join(', ') || "''"
}

/** The number of the server's process, as the start of the connection named it. */
function processOf(client: pg.ClientBase): number {
  return (client as unknown as { processID: number | null }).processID ?? 0
}

/** Asks what a new connection leads to, and gives it settings where it has the server for itself. */
async function look(
  client: pg.ClientBase,
  settings: Readonly<Record<string, string>>,
  pooling?: Pooling,
): Promise<Settled> {
  const values = [JSON.stringify(settings), processOf(client), pooling === 'session']
  const limited = { text: lookText, values, query_timeout: connectMs }
  const { rows } = await client.query<Settled>(limited as pg.QueryConfig)
  if (!rows[0]) throw new Error('the database said nothing of a new connection')
  return rows[0]
}

const lookText = `select pg_backend_pid() as process, pg_is_in_recovery() as standby,
    current_setting('transaction_read_only')::boolean as "readOnly",
    case when pg_backend_pid() <> $2 then (select reset_val from pg_settings where name = 'search_path') end as "searchPath",
    array(select set_config(key, value, pg_backend_pid() <> $2 and not $3) from json_each_text($1)) as settings`

function refuseOtherThan(
  target: DatabaseAddress['target'],
  { standby, readOnly }: Pick<Settled, 'standby' | 'readOnly'>,
  fence?: Fence,
): void {
  const is = standby ? 'standby' : readOnly ? 'read-only' : 'primary'
  const fits = {
    any: true,
    'read-write': !readOnly && !standby,
    'read-only': readOnly || standby,
    primary: !standby && fence?.refusal === undefined,
    standby,
  }
  if (fits[target]) return
  const message =
    fence?.refusal ?? `the database cannot be reached: the server is a ${is}, and DATABASE_URL asks for ${target}`
  throw new ServiceError('database-unavailable', message)
}

declare module 'pg' {
  interface Query {
    prepare(connection: Outgoing): void
    handleRowDescription(message: { readonly fields: { name: string }[] }): void
    handleCommandComplete(message: object, connection: object): void
  }
}

/** What the driver sends of the extended protocol. */
type Outgoing = { parse(what: object): void; bind(what: object): void; execute(what: object): void }

/**
 * How the driver, in the hands of another program (the queue), connects to this address for whole sessions. Throws
 * `configuration-invalid` behind a pooler.
 */
export function sessionOptions(url: string) {
  const address = readDatabaseAddress(url)
  if (!address) throw refusedConnection('it is not at an address of PostgreSQL', undefined)
  const servers = serversOf(address)
  const settings = Object.entries(address.settings).map(
    ([name, value]) => `-c ${name}=${value.replace(/[\\ ]/g, '\\$&')}`,
  )
  const options = [address.startOptions ?? [], settings].flat().join(' ')
  return {
    connectionString: address.servers[0],
    ...(options !== '' && { options }),
    ...(servers.count > 1 && { stream: () => followingSocket(servers) }),
    onConnect: async (client: pg.ClientBase) => {
      const server = servers.current
      const found = await look(client, {})
      if (found.process !== processOf(client)) throw needsSession(undefined)
      try {
        refuseOtherThan(address.target, found)
      } catch (error) {
        servers.failed(server)
        throw error
      }
    },
  }
}

/** The failure of a program that needs a session, where it is that a pooler refuses to begin one; otherwise undefined. */
export function asRefusedSession(error: unknown): ServiceError | undefined {
  return error instanceof Error && /unsupported startup parameter/.test(error.message) ? needsSession(error) : undefined
}

function needsSession(cause: unknown): ServiceError {
  const message =
    'DATABASE_URL leads to a pooler, but the queue in PostgreSQL needs sessions: set DATABASE_DIRECT_URL to the address of the server itself, or REDIS_URL'
  return new ServiceError('configuration-invalid', message, { cause })
}

type Callback = (error: Error | undefined, result: never) => void

/** A statement whose rows have the members of our types: `settled_at` is `settledAt`. */
class RowQuery extends pg.Query {
  constructor(config: pg.QueryConfig, callback: Callback) {
    super(config, callback)
    Object.assign(this, { query_timeout: (config as { query_timeout?: number }).query_timeout })
  }

  override handleRowDescription(message: { readonly fields: { name: string }[] }): void {
    for (const field of message.fields) {
      field.name = field.name.replace(/\B_([a-z])/g, (_, letter: string) => letter.toUpperCase())
    }
    super.handleRowDescription(message)
  }
}

/** A statement outside a transaction, on a server that is shared: one message has its settings and then the statement. */
class SettledQuery extends RowQuery {
  readonly #settings: string
  readonly #timeline: number
  #isSettled = false

  constructor(
    config: pg.QueryConfig,
    settings: { readonly json: string; readonly timeline: number },
    callback: Callback,
  ) {
    super({ ...config, queryMode: 'extended' } as pg.QueryConfig, callback)
    this.#settings = settings.json
    this.#timeline = settings.timeline
  }

  override prepare(connection: Outgoing): void {
    // The settings return no rows, since nobody reads them. CASE prevents evaluating set_config for excluded rows.
    const settings =
      this.#timeline === 0
        ? 'json_each_text($1)'
        : `(select key, value from json_each_text($1)
            union all select case when ${isBelow(`${this.#timeline}`)} then 'transaction_read_only' end, 'on') one`
    const set = `case when key is null then '' else set_config(key, value, true) end`
    connection.parse({ text: `select from ${settings} where ${set} is null` })
    connection.bind({ values: [this.#settings] })
    connection.execute({})
    super.prepare(connection)
  }

  override handleCommandComplete(message: object, connection: object): void {
    if (this.#isSettled) super.handleCommandComplete(message, connection)
    this.#isSettled = true
  }
}

/** Adapts a connection to `Db`; a statement without an answer after `answerMs` (0: no limit) fails. */
export function toDb(client: pg.PoolClient, answerMs: number): Db {
  return { query: (...statement) => runStatement(client, answerMs, ...statement) }
}

/** As `query` of `Db`, on this connection. */
export async function runStatement<Row extends object>(
  client: pg.PoolClient,
  answerMs: number,
  ...[text, values, name]: Parameters<Db['query']>
): Promise<{ rows: Row[]; rowCount: number }> {
  try {
    const limited = { text, values: [...(values ?? [])], query_timeout: answerMs } as pg.QueryConfig
    const result = await ask<Row>(client, limited, name)
    // A text of several statements, as migrations are, has no rows of its own.
    if (Array.isArray(result)) return { rows: [], rowCount: 0 }
    return { rows: result.rows.map(withoutNulls), rowCount: result.rowCount ?? 0 }
  } catch (error) {
    const refusal = sqlState(error) === readOnlyState && fencedClients.get(client)?.fence.refusal
    throw refusal ? new ServiceError('database-unavailable', refusal, { cause: error }) : toStoreError(error)
  }
}

async function ask<Row extends object>(
  client: pg.PoolClient,
  config: pg.QueryConfig,
  name: string | undefined,
): Promise<pg.QueryResult<Row>> {
  const settings = sharedSettings.get(client)
  const named = settings || name === undefined ? config : { ...config, name }
  if (settings && client.getTransactionStatus() === 'I' && /^begin\b/.test(config.text)) {
    // A view of another transaction is taken before any query; what only reads needs no guard.
    const guard = settings.timeline === 0 || /\bread only$/.test(config.text) ? [] : [guardText(settings.timeline)]
    return await client.query<Row>({ ...config, text: [config.text, settings.statements, ...guard].join('; ') })
  }
  return await new Promise((resolve, reject) => {
    const callback: Callback = (error, result) => (error ? reject(error) : resolve(result))
    const isSettled = settings && client.getTransactionStatus() === 'I'
    client.query(isSettled ? new SettledQuery(config, settings, callback) : new RowQuery(named, callback))
  })
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
    if (!isReadOnly(error)) throw error
  }
}

/** Whether a server refused a write since it is read-only. */
export function isReadOnly(error: unknown): boolean {
  return sqlState(error) === readOnlyState
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

/** Turns a failure that passes by itself into `database-unavailable`, and a missing right into `database-refused`. */
export function toStoreError(error: unknown): unknown {
  if (error instanceof ServiceError || !(error instanceof Error)) return error
  if (sqlState(error) === '42501') return refusedConnection(error.message, error)
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
