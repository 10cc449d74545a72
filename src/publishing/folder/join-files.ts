import { createHash } from 'node:crypto'
import { open } from 'node:fs/promises'
import path from 'node:path'
import { crc32 } from 'node:zlib'
import type { FileEnvelope, WrittenFile } from '../files/file-writer.js'
import type { Span } from '../files/find-records.js'
import { endOfTwin, startOfTwin } from '../files/gzip.js'
import { pieceBytes } from '../files/pieces.js'
import { tooShort } from './body.js'
import type { JoinedFile, JoinedPart } from './joined-file.js'
import { refuseAborted } from './refuse-aborted.js'

/** The records of a file of a folder, and in its twin if it has one. */
export type RecordsOfFile = { readonly address: string; readonly identity: Span; readonly deflated?: Span }

/** Describes a file with these records in an envelope, and reads them once for its hash. It has a twin when all of them have. */
export async function joinFiles(
  directory: string,
  records: readonly RecordsOfFile[],
  { head, tail, stamp }: FileEnvelope,
  signal: AbortSignal,
): Promise<{ readonly joined: JoinedFile; readonly written: WrittenFile }> {
  const hash = createHash('sha256').update(head)
  const contentHash = stamp === undefined ? undefined : createHash('sha256').update(head.replace(stamp, ''))
  let crc = crc32(head)
  const chunk = Buffer.allocUnsafeSlow(pieceBytes)
  for (const { address, identity } of records) {
    for await (const bytes of bytesOf(path.join(directory, address), identity, chunk)) {
      refuseAborted(signal, 'joining files')
      hash.update(bytes)
      contentHash?.update(bytes)
      crc = crc32(bytes, crc)
    }
  }
  const sizeOf = (spans: readonly Span[]) => spans.reduce((sum, [start, end]) => sum + end - start, 0)
  const bytes = Buffer.byteLength(head) + sizeOf(records.map(({ identity }) => identity)) + Buffer.byteLength(tail)
  const twins = records.flatMap(({ address, deflated }) => (deflated ? [{ address: `${address}.gz`, deflated }] : []))
  const [start, end] = [startOfTwin(head), endOfTwin(tail, crc32(tail, crc), bytes)]
  const hasTwin = twins.length === records.length
  const contentSha256 = contentHash?.update(tail).digest('hex')
  return {
    joined: {
      identity: [
        base64(head),
        ...records.map(({ address, identity }): JoinedPart => [address, ...identity]),
        base64(tail),
      ],
      gzip: hasTwin
        ? [base64(start), ...twins.map(({ address, deflated }): JoinedPart => [address, ...deflated]), base64(end)]
        : [],
    },
    written: {
      bytes,
      gzipBytes: hasTwin ? start.length + sizeOf(twins.map(({ deflated }) => deflated)) + end.length : 0,
      sha256: hash.update(tail).digest('hex'),
      ...(contentSha256 !== undefined && { contentSha256 }),
    },
  }
}

/** A span of a file, in views of one chunk of memory. */
async function* bytesOf(file: string, [start, end]: Span, chunk: Buffer): AsyncGenerator<Buffer> {
  const handle = await open(file)
  try {
    for (let at = start; at < end; ) {
      const { bytesRead } = await handle.read(chunk, 0, Math.min(chunk.length, end - at), at)
      if (bytesRead === 0) throw tooShort(file, at, end)
      yield chunk.subarray(0, bytesRead)
      at += bytesRead
    }
  } finally {
    await handle.close()
  }
}

function base64(bytes: string | Buffer): string {
  return Buffer.from(bytes).toString('base64')
}
