import { isErrno } from '../../kernel/system-errors.js'

/** Does work on the live release; again where a sweep removed the release meanwhile, since the next look-up finds the new one. */
export async function afterSweep<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (!isErrno(error, 'ENOENT')) throw error
    return await work()
  }
}
