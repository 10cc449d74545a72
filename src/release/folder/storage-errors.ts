import { ServiceError } from '../../kernel/errors.js'

const storageReasons: Readonly<Record<string, string>> = {
  ENOSPC: 'the disk is full',
  EDQUOT: 'the disk quota is used up',
  EROFS: 'the file system is read-only',
  EACCES: 'this user may not write there',
  EPERM: 'this user may not write there',
  EIO: 'the disk reports an input/output error',
  ENOTDIR: 'something that is not a folder is in the way',
  EMFILE: 'too many files are open',
}

/** A file system failure as `storage-failed` with one clear sentence; any other error is returned as it is. */
export function toStorageError(error: unknown, where: string): unknown {
  if (!(error instanceof Error) || error instanceof ServiceError || !('code' in error)) return error
  const reason = storageReasons[String(error.code)]
  if (!reason) return error
  return new ServiceError('storage-failed', `cannot write to ${where}: ${reason}`, { cause: error })
}

/** True when the error has one of these codes of the operating system. */
export function isErrno(error: unknown, ...codes: string[]): boolean {
  return error instanceof Error && 'code' in error && codes.includes(String(error.code))
}
