import { type FileHandle, open } from 'node:fs/promises'
import type { FileEnvelope } from './file-writer.js'
import { endOfTwin, startOfTwin } from './gzip.js'

/** The first byte, and the first one after the last. */
export type Span = readonly [start: number, end: number]

/** Where the records of a written file are, and where the twin can be cut there, in the twin. */
export type Records = { readonly identity: Span; readonly deflated: Span | undefined }

/** Finds the records of a file whose envelope has the length of `envelope`; the instant of generation never changes it. */
export async function findRecords(file: string, { head, tail }: FileEnvelope): Promise<Records> {
  const identity = await open(file)
  try {
    const twin = await open(`${file}.gz`)
    try {
      const { size } = await identity.stat()
      const ownHead = (await readAt(identity, 0, Buffer.byteLength(head))).toString('utf8')
      return {
        identity: [Buffer.byteLength(head), size - Buffer.byteLength(tail)],
        deflated: await recordsOfTwin(twin, ownHead, tail),
      }
    } finally {
      await twin.close()
    }
  } finally {
    await identity.close()
  }
}

/** The blocks between those of the envelope; undefined for a twin of an earlier version, which is one stream. */
async function recordsOfTwin(file: FileHandle, head: string, tail: string): Promise<Span | undefined> {
  const before = startOfTwin(head)
  // The last eight bytes are CRC-32 and size, which are not known.
  const after = endOfTwin(tail, 0, 0).subarray(0, -8)
  const { size } = await file.stat()
  const start = before.length
  const end = size - after.length - 8
  if (end < start || !(await readAt(file, 0, start)).equals(before)) return undefined
  return (await readAt(file, end, after.length)).equals(after) ? [start, end] : undefined
}

async function readAt(file: FileHandle, position: number, length: number): Promise<Buffer> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, position)
  return buffer.subarray(0, bytesRead)
}
