/** What follows from a failure that passes by itself. */
type Transient = { readonly reason: string; readonly connection: 'lost' | 'kept' }

const lost = (reason: string): Transient => ({ reason, connection: 'lost' })
const kept = (reason: string): Transient => ({ reason, connection: 'kept' })

/** The state of a write that a read-only server refuses. */
export const readOnlyState = '25006'

/**
 * The one list of database failures that pass by themselves, by SQLSTATE or its first characters: a request is answered
 * with 503 and `Retry-After`, a job tries again. A lost connection is not used again.
 */
const transientStates: Readonly<Record<string, Transient>> = {
  '08': lost('the database cannot be reached'),
  // A new connection may reach the server that has taken over.
  [readOnlyState]: lost('the database is read-only, as during a failover or on a standby'),
  '25P03': lost('the transaction was idle for too long'),
  '40001': kept('the transaction collided with others'),
  '40P01': kept('the transaction was in a deadlock with others'),
  '53': lost('the database is out of connections, memory or disk space'),
  '55P03': kept('a lock was not free in time'),
  '57014': kept('the statement took too long'),
  '57P0': lost('the database is starting, stopping or in recovery'),
}

const unreachable = lost('the database cannot be reached')

const unreachableErrnos =
  /^(ECONNREFUSED|ECONNRESET|EPIPE|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|ENOTFOUND|EAI_AGAIN|EMFILE|ENFILE)$/

// The driver's own errors have no code.
const unreachableMessages =
  /Connection terminated|timeout exceeded when trying to connect|Client has encountered a connection error|Query read timeout|Client was closed|Connection ended|Cannot use a pool after calling end/

/** The entry of a failure with this SQLSTATE or errno, or this message of the driver; undefined when it does not pass. */
export function findTransient(code: string, message: string): Transient | undefined {
  for (const length of [5, 4, 2]) {
    const known = code.length === 5 ? transientStates[code.slice(0, length)] : undefined
    if (known) return known
  }
  return unreachableErrnos.test(code) || unreachableMessages.test(message) ? unreachable : undefined
}
