import { ServiceError } from '../../kernel/errors.js'
import { errnoOf, messageOf } from '../../kernel/system-errors.js'

/** A `database-unavailable` error: our own server cannot be started or reached. */
export function unavailable(message: string, cause?: unknown): ServiceError {
  return new ServiceError('database-unavailable', message, { cause })
}

/** A `database-incompatible` error: the cluster was made by or for another PostgreSQL. */
export function incompatible(message: string, cause?: unknown): ServiceError {
  return new ServiceError('database-incompatible', message, { cause })
}

/** The advice in messages about systems that cannot run a server of our own. */
export const useYourOwnServer = 'set DATABASE_URL to a PostgreSQL server of your own'

/** A system error met while opening the database, as one sentence; a `ServiceError` stays as it is. */
export function toOpenError(error: unknown, dataDir: string): ServiceError {
  if (error instanceof ServiceError) return error
  const path = error instanceof Error && 'path' in error && typeof error.path === 'string' ? error.path : dataDir
  switch (errnoOf(error)) {
    case 'ENOSPC':
    case 'EDQUOT':
      return unavailable(`the disk that holds ${path} is full: the database needs about 100 MB`, error)
    case 'EACCES':
    case 'EPERM':
      return unavailable(
        `this user (id ${process.getuid?.() ?? 'unknown'}) may not use ${path}, which belongs to the database of ${dataDir}: run as the user who owns it`,
        error,
      )
    case 'EROFS':
      return unavailable(`${path} is on a read-only file system: the database needs a writable data directory`, error)
    case 'EEXIST':
    case 'ENOTDIR':
      return unavailable(`${path} is in the way: the data directory ${dataDir} must be a folder`, error)
    default:
      return unavailable(`the database of ${dataDir} cannot be opened: ${messageOf(error)}`, error)
  }
}

const serverLine = /(?:FATAL|PANIC|ERROR|error): {1,2}(.+)$/m

/** The reason in the output of initdb or postgres. */
function reasonIn(output: string): string {
  const lines = output.trim().split('\n')
  return (serverLine.exec(output)?.[1] ?? lines[lines.length - 1] ?? '').trim() || 'no reason was given'
}

/** The failure of initdb or postgres as one sentence; `doing` completes "PostgreSQL could not ...". */
export function toServerError(output: string, doing: string, clusterDir: string): ServiceError {
  if (/No space left on device|Disk quota exceeded/.test(output)) {
    return unavailable(`the disk that holds ${clusterDir} is full: PostgreSQL could not ${doing}`)
  }
  if (/files are incompatible with server|initialized by PostgreSQL version/.test(output)) {
    return incompatible(`PostgreSQL could not ${doing} in ${clusterDir}: ${reasonIn(output)}`)
  }
  return unavailable(`PostgreSQL could not ${doing} in ${clusterDir}: ${reasonIn(output)}`)
}
