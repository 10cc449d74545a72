import { createHash } from 'node:crypto'
import { open, rename, rm } from 'node:fs/promises'
import { ServiceError } from '../../kernel/errors.js'

const blockBytes = 256 * 1024

/** Size and hash of a file that is complete. */
export type WholeFile = { readonly bytes: number; readonly hash: string }

/**
 * Writes a file under a temporary name and gives it its own name once it is complete and on the disk. Waits for each block
 * to be written. A private file can be read by its owner only.
 */
export async function writeWhole(
  path: string,
  chunks: AsyncIterable<Buffer> | Iterable<Buffer>,
  options: { readonly isPrivate: boolean },
): Promise<WholeFile> {
  const temporary = `${path}.part`
  const hash = createHash('sha256')
  let bytes = 0
  try {
    const file = await open(temporary, 'wx', options.isPrivate ? 0o600 : 0o666)
    try {
      let block: Buffer[] = []
      let size = 0
      const flush = async () => {
        const joined = Buffer.concat(block, size)
        hash.update(joined)
        bytes += size
        for (let at = 0; at < joined.length; ) at += (await file.write(joined, at)).bytesWritten
        block = []
        size = 0
      }
      for await (const chunk of chunks) {
        block.push(chunk)
        size += chunk.length
        if (size >= blockBytes) await flush()
      }
      await flush()
      await file.sync()
    } finally {
      await file.close()
    }
    await rename(temporary, path)
  } catch (error) {
    await rm(temporary, { force: true })
    if (!(error instanceof Error && 'syscall' in error)) throw error
    throw new ServiceError('storage-failed', `cannot write ${path}: ${error.message}`, { cause: error })
  }
  return { bytes, hash: `sha256:${hash.digest('hex')}` }
}
