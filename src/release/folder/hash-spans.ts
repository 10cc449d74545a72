import { createHash } from 'node:crypto'
import { readSync } from 'node:fs'
import { type FileHandle, open as openFile } from 'node:fs/promises'
import { crc32 } from 'node:zlib'
import { joiningFiles, refuseAborted } from '../../kernel/refuse-aborted.js'
import type { FileEnvelope, WrittenFile } from '../bytes/file-writer.js'
import type { Span } from '../bytes/find-records.js'
import { pieceBytes } from '../bytes/pieces.js'
import { tooShort } from './body.js'

/** What a file consists of: a text, spans of other files, a text. */
export type SpansOrder = FileEnvelope & {
  readonly spans: readonly { readonly file: string; readonly span: Span }[]
  /** Their CRC-32 is wanted too. */
  readonly isChecked?: boolean
}

/** Of the file, and of its content without the stamp where it has one. */
export type SpansHash = Pick<WrittenFile, 'sha256' | 'contentSha256'> & { readonly crc?: number }

/** How spans are read: `alone` in a thread that does nothing else. */
type SpanOptions = { readonly alone: boolean; readonly signal?: AbortSignal }

/** Reads the spans once for their SHA-256. Throws `aborted` on the signal. */
export async function hashSpans(
  { head, stamp, spans, tail, isChecked = false }: SpansOrder,
  { alone, signal }: SpanOptions,
): Promise<SpansHash> {
  const whole = createHash('sha256').update(head)
  const content = stamp === undefined ? undefined : createHash('sha256').update(head.replace(stamp, ''))
  let crc = crc32(head)
  const chunk = Buffer.allocUnsafeSlow(pieceBytes)
  for await (const bytes of bytesOf(spans, chunk, alone)) {
    refuseAborted(signal, joiningFiles)
    whole.update(bytes)
    content?.update(bytes)
    if (isChecked) crc = crc32(bytes, crc)
  }
  return {
    sha256: whole.update(tail).digest('hex'),
    ...(content && { contentSha256: content.update(tail).digest('hex') }),
    ...(isChecked && { crc: crc32(tail, crc) }),
  }
}

// A file joined from layers goes to and fro between about so many.
const mostOpen = 12

/** The spans one after the other, in views of one chunk of memory. */
async function* bytesOf(spans: SpansOrder['spans'], chunk: Buffer, alone: boolean): AsyncGenerator<Buffer> {
  const open = new Map<string, FileHandle>()
  try {
    for (const { file, span } of spans) {
      const [start, end] = span
      const handle = open.get(file) ?? (await openFile(file))
      // The one that was read last is the last to be closed.
      open.delete(file)
      open.set(file, handle)
      const [oldest] = open.size > mostOpen ? open : []
      if (oldest) {
        open.delete(oldest[0])
        await oldest[1].close()
      }
      for (let at = start; at < end; ) {
        const length = Math.min(chunk.length, end - at)
        const bytesRead = alone
          ? readSync(handle.fd, chunk, 0, length, at)
          : (await handle.read(chunk, 0, length, at)).bytesRead
        if (bytesRead === 0) throw tooShort(file, at, end)
        yield chunk.subarray(0, bytesRead)
        at += bytesRead
      }
    }
  } finally {
    await Promise.all([...open.values()].map((handle) => handle.close()))
  }
}
