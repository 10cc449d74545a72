import { ServiceError } from '../../kernel/errors.js'
import { isErrno } from '../../kernel/system-errors.js'

const storageReasons: Readonly<Record<string, string>> = {
  ENOSPC: 'the disk is full',
  EDQUOT: 'the disk quota is used up',
  EROFS: 'the file system is read-only',
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  EIO: 'the disk reports an input/output error',
  ENOTDIR: 'something that is not a folder is in the way',
  EMFILE: 'too many files are open',
}

const operations: Readonly<Record<string, string>> = {
  link: 'hard links',
  symlink: 'symbolic links',
  rename: 'renaming of files',
  fsync: 'way to sync files and folders to disk (fsync)',
}

/** The operation that the file system does not have; undefined for any other failure. */
function missingOperation(error: Error & { readonly syscall?: unknown }): string | undefined {
  const operation = String(error.syscall)
  // Either the call does not exist, or it fails as link(2), symlink(2) and fsync(2) describe for such a file system.
  const isMissing =
    isErrno(error, 'ENOSYS', 'ENOTSUP') ||
    (operation === 'symlink' && isErrno(error, 'EPERM')) ||
    (operation === 'fsync' && isErrno(error, 'EINVAL'))
  return isMissing ? operations[operation] : undefined
}

/** A file system failure as `storage-failed` with one clear sentence; any other error is returned as it is. */
export function toStorageError(error: unknown, where: string, failed = 'write to'): unknown {
  if (!(error instanceof Error) || error instanceof ServiceError || !('code' in error)) return error
  const missing = missingOperation(error)
  // A folder of another owner refuses links by the same error.
  const denied = isErrno(error, 'EPERM') ? 'permission denied, or ' : ''
  const reason =
    missing === undefined ? storageReasons[String(error.code)] : `${denied}its file system has no ${missing}`
  if (!reason) return error
  return new ServiceError('storage-failed', `cannot ${failed} ${where}: ${reason}`, { cause: error })
}
