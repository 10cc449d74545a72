import { writeFile } from 'node:fs/promises'
import { ServiceError } from '../../kernel/errors.js'
import { messageOf } from '../../kernel/system-errors.js'

/** Writes a new file that only its owner can read. Throws `request-invalid` where there is one, or it cannot be written. */
export async function writePrivately(file: string, bytes: Buffer): Promise<void> {
  try {
    await writeFile(file, bytes, { mode: 0o600, flag: 'wx' })
  } catch (cause) {
    throw new ServiceError('request-invalid', `cannot write ${file}, which must not exist yet: ${messageOf(cause)}`, {
      cause,
    })
  }
}
