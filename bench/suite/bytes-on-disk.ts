import { readdir, stat } from 'node:fs/promises'
import path from 'node:path'

/** What the files of a folder take on the disk; a file with several names counts once. */
export async function bytesOnDisk(folder: string): Promise<number> {
  const seen = new Set<number>()
  let bytes = 0
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue
    const { ino, blocks } = await stat(path.join(entry.parentPath, entry.name))
    if (!seen.has(ino)) bytes += blocks * 512
    seen.add(ino)
  }
  return bytes
}
