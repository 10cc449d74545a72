import { type FileHandle, open } from 'node:fs/promises'
import type { FileEnvelope, FilePart } from './file-writer.js'
import { gzipHead, gzipTail, storedBlock } from './gzip.js'

/** The records of a written file and, where its twin can be cut there, of the twin; leaving the scope closes both. */
export type Records = AsyncDisposable & { readonly identity: FilePart; readonly deflated: FilePart | undefined }

/** Opens the records of a file whose envelope has the length of `envelope`; the instant of generation never changes it. */
export async function openRecords(file: string, { head, tail }: FileEnvelope): Promise<Records> {
  const identity = await open(file)
  let twin: FileHandle | undefined
  const close = async () => void (await Promise.all([identity.close(), twin?.close()]))
  try {
    twin = await open(`${file}.gz`)
    const { size } = await identity.stat()
    const ownHead = (await readAt(identity, 0, Buffer.byteLength(head))).toString('utf8')
    return {
      identity: { file: identity, start: Buffer.byteLength(head), end: size - Buffer.byteLength(tail) },
      deflated: await recordsOfTwin(twin, ownHead, tail),
      [Symbol.asyncDispose]: close,
    }
  } catch (error) {
    await close()
    throw error
  }
}

/** The blocks between those of the envelope; undefined for a twin of an earlier version, which is one stream. */
async function recordsOfTwin(file: FileHandle, head: string, tail: string): Promise<FilePart | undefined> {
  const before = Buffer.concat([gzipHead, storedBlock(head)])
  const after = storedBlock(tail, 'last')
  const { size } = await file.stat()
  const start = before.length
  const end = size - after.length - gzipTail(0, 0).length
  if (end < start || !(await readAt(file, 0, start)).equals(before)) return undefined
  return (await readAt(file, end, after.length)).equals(after) ? { file, start, end } : undefined
}

async function readAt(file: FileHandle, position: number, length: number): Promise<Buffer> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, position)
  return buffer.subarray(0, bytesRead)
}
