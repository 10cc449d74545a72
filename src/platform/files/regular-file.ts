import { stat } from 'node:fs/promises'
import { ServiceError } from '../../kernel/errors.js'

/** A file's size. Throws `input-unusable` for folders, pipes and devices, whose reading may never end. */
export async function sizeOfRegularFile(file: string): Promise<number> {
  const stats = await stat(file)
  if (stats.isFile()) return stats.size
  const what = stats.isDirectory() ? 'a directory' : 'no regular file: give what a pipe brings as standard input, -'
  throw new ServiceError('input-unusable', `${file} is ${what}`)
}
