import { type FileHandle, open } from 'node:fs/promises'
import { innerCrc } from './crc.js'
import type { FileEnvelope } from './file-writer.js'
import { endOfTwin, startOfTwin } from './gzip.js'

/** The first byte, and the first one after the last. */
export type Span = readonly [start: number, end: number]

/** The compressed records in a twin, and the CRC-32 of what they unpack to. */
export type Deflated = { readonly span: Span; readonly crc: number }

/** Where the records of a written file are, and in its twin where that can be cut there. */
export type Records = { readonly identity: Span; readonly deflated: Deflated | undefined }

/** Finds the records of a file whose envelope has the length of `envelope`; the instant of generation never changes it. */
export async function findRecords(file: string, { head, tail }: FileEnvelope): Promise<Records> {
  const identity = await open(file)
  try {
    const twin = await open(`${file}.gz`)
    try {
      const { size } = await identity.stat()
      const ownHead = (await readAt(identity, 0, Buffer.byteLength(head))).toString('utf8')
      const [start, end] = [Buffer.byteLength(head), size - Buffer.byteLength(tail)]
      return {
        identity: [start, end],
        deflated: await recordsOfTwin(twin, { head: ownHead, tail }, end - start),
      }
    } finally {
      await twin.close()
    }
  } finally {
    await identity.close()
  }
}

/** The blocks between those of the envelope; undefined for a twin of an earlier version, which is one stream. */
async function recordsOfTwin(
  file: FileHandle,
  { head, tail }: FileEnvelope,
  bytes: number,
): Promise<Deflated | undefined> {
  const before = startOfTwin(head)
  // The last eight bytes are CRC-32 and size.
  const after = endOfTwin(tail, 0, 0).subarray(0, -8)
  const { size } = await file.stat()
  const start = before.length
  const end = size - after.length - 8
  if (end < start || !(await readAt(file, 0, start)).equals(before)) return undefined
  const last = await readAt(file, end, after.length + 8)
  if (!last.subarray(0, -8).equals(after)) return undefined
  return { span: [start, end], crc: innerCrc(last.readUInt32LE(after.length), bytes, { head, tail }) }
}

async function readAt(file: FileHandle, position: number, length: number): Promise<Buffer> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, position)
  return buffer.subarray(0, bytesRead)
}
