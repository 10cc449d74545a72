import { ServiceError } from '../domain/errors.js'

/** Returns the `errno` name (`ENOENT`, `EACCES`, ...) of a system error, or `undefined` for anything else. */
export function errnoOf(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('code' in error)) return undefined
  return typeof error.code === 'string' ? error.code : undefined
}

/** A `database-unavailable` error: the embedded server cannot be started or reached. */
export function unavailable(message: string, cause?: unknown): ServiceError {
  return new ServiceError('database-unavailable', message, { cause })
}

/** A `database-incompatible` error: the cluster was made by or for another PostgreSQL. */
export function incompatible(message: string, cause?: unknown): ServiceError {
  return new ServiceError('database-incompatible', message, { cause })
}

/** The advice that ends every message about a system on which no embedded server can run. */
export const useYourOwnServer = 'set DATABASE_URL to a PostgreSQL server of your own'

/** Turns a system error met while opening the database into one sentence; errors with a code pass unchanged. */
export function toOpenError(error: unknown, dataDir: string): ServiceError {
  if (error instanceof ServiceError) return error
  const path = error instanceof Error && 'path' in error && typeof error.path === 'string' ? error.path : dataDir
  switch (errnoOf(error)) {
    case 'ENOSPC':
    case 'EDQUOT':
      return unavailable(`The disk that holds ${path} is full: the database needs about 100 MB.`, error)
    case 'EACCES':
    case 'EPERM':
      return unavailable(
        `This user (id ${process.getuid?.() ?? 'unknown'}) may not use ${path}, which belongs to the database of ${dataDir}: run as the user who owns it.`,
        error,
      )
    case 'EROFS':
      return unavailable(`${path} is on a read-only file system: the database needs a writable data directory.`, error)
    case 'EEXIST':
    case 'ENOTDIR':
      return unavailable(`${path} is in the way: the data directory ${dataDir} must be a folder.`, error)
    default:
      return unavailable(
        `The database of ${dataDir} cannot be opened: ${error instanceof Error ? error.message : String(error)}.`,
        error,
      )
  }
}

const serverLine = /(?:FATAL|PANIC|ERROR|error): {1,2}(.+)$/m

/** Picks the sentence that says why from the output of initdb or postgres. */
export function reasonIn(output: string): string {
  const lines = output.trim().split('\n')
  return (serverLine.exec(output)?.[1] ?? lines[lines.length - 1] ?? '').trim() || 'no reason was given'
}

/** Turns the output of a failed initdb or postgres into one sentence; `doing` ends "PostgreSQL could not ...". */
export function toServerError(output: string, doing: string, clusterDir: string): ServiceError {
  if (/No space left on device|Disk quota exceeded/.test(output)) {
    return unavailable(`The disk that holds ${clusterDir} is full: PostgreSQL could not ${doing}.`)
  }
  if (/files are incompatible with server|initialized by PostgreSQL version/.test(output)) {
    return incompatible(`PostgreSQL could not ${doing} in ${clusterDir}: ${reasonIn(output)}.`)
  }
  return unavailable(`PostgreSQL could not ${doing} in ${clusterDir}: ${reasonIn(output)}.`)
}
