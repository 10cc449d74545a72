import { type FileHandle, open } from 'node:fs/promises'

/** A published file that is open for reading; `close` it once. */
export type OpenFile = { readonly handle: FileHandle; readonly size: number; close(): Promise<void> }

type SharedFile = { readonly opened: Promise<{ handle: FileHandle; size: number }>; readers: number }

const shared = new Map<string, SharedFile>()

/**
 * Opens a published file. All who read it at the same time share one descriptor: a path of a release always names the
 * same bytes. Throws like `open`.
 */
export async function openFile(path: string): Promise<OpenFile> {
  const file = shared.get(path) ?? { opened: openAlone(path), readers: 0 }
  shared.set(path, file)
  file.readers++
  const leave = () => {
    file.readers--
    if (file.readers === 0 && shared.get(path) === file) shared.delete(path)
    return file.readers === 0
  }
  try {
    const { handle, size } = await file.opened
    return { handle, size, close: async () => (leave() ? await handle.close() : undefined) }
  } catch (error) {
    leave()
    throw error
  }
}

async function openAlone(path: string): Promise<{ handle: FileHandle; size: number }> {
  const handle = await open(path)
  try {
    return { handle, size: (await handle.stat()).size }
  } catch (error) {
    await handle.close()
    throw error
  }
}
