import { createHash } from 'node:crypto'
import { readSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { joiningFiles, refuseAborted } from '../../kernel/refuse-aborted.js'
import type { FileEnvelope, WrittenFile } from '../bytes/file-writer.js'
import type { Span } from '../bytes/find-records.js'
import { pieceBytes } from '../bytes/pieces.js'
import { tooShort } from './body.js'

/** What a file consists of: a text, spans of other files, a text. */
export type SpansOrder = FileEnvelope & { readonly spans: readonly { readonly file: string; readonly span: Span }[] }

/** Of the file, and of its content without the stamp where it has one. */
export type SpansHash = Pick<WrittenFile, 'sha256' | 'contentSha256'>

/** How spans are read: `alone` in a thread that does nothing else. */
type SpanOptions = { readonly alone: boolean; readonly signal?: AbortSignal }

/** Reads the spans once for their SHA-256. Throws `aborted` on the signal. */
export async function hashSpans(
  { head, stamp, spans, tail }: SpansOrder,
  { alone, signal }: SpanOptions,
): Promise<SpansHash> {
  const whole = createHash('sha256').update(head)
  const content = stamp === undefined ? undefined : createHash('sha256').update(head.replace(stamp, ''))
  const chunk = Buffer.allocUnsafeSlow(pieceBytes)
  for (const { file, span } of spans) {
    for await (const bytes of bytesOf(file, span, chunk, alone)) {
      refuseAborted(signal, joiningFiles)
      whole.update(bytes)
      content?.update(bytes)
    }
  }
  return {
    sha256: whole.update(tail).digest('hex'),
    ...(content && { contentSha256: content.update(tail).digest('hex') }),
  }
}

/** A span of a file, in views of one chunk of memory. */
async function* bytesOf(file: string, [start, end]: Span, chunk: Buffer, alone: boolean): AsyncGenerator<Buffer> {
  const handle = await open(file)
  try {
    for (let at = start; at < end; ) {
      const length = Math.min(chunk.length, end - at)
      const bytesRead = alone
        ? readSync(handle.fd, chunk, 0, length, at)
        : (await handle.read(chunk, 0, length, at)).bytesRead
      if (bytesRead === 0) throw tooShort(file, at, end)
      yield chunk.subarray(0, bytesRead)
      at += bytesRead
    }
  } finally {
    await handle.close()
  }
}
