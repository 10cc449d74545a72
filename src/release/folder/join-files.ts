import { join } from 'node:path'
import type { FileEnvelope, WrittenFile } from '../bytes/file-writer.js'
import type { Span } from '../bytes/find-records.js'
import { endOfTwin, startOfTwin } from '../bytes/gzip.js'
import { hashBeside } from './hash-beside.js'
import { hashSpans } from './hash-spans.js'
import type { JoinedFile, JoinedPart } from './joined-file.js'

/** The records of a file of a folder, and in its twin if it has one. */
export type RecordsOfFile = { readonly path: string; readonly identity: Span; readonly deflated?: Span }

/** Describes a file with these records in an envelope, and reads them for its hashes. It has a twin when all of them have. */
export async function joinFiles(
  directory: string,
  records: readonly RecordsOfFile[],
  { head, tail, stamp }: FileEnvelope,
  signal: AbortSignal,
): Promise<{ readonly joined: JoinedFile; readonly written: WrittenFile }> {
  const sizeOf = (spans: readonly Span[]) => spans.reduce((sum, [start, end]) => sum + end - start, 0)
  const bytes = Buffer.byteLength(head) + sizeOf(records.map(({ identity }) => identity)) + Buffer.byteLength(tail)
  const twins = records.flatMap(({ path, deflated }) => (deflated ? [{ path: `${path}.gz`, deflated }] : []))
  const hasTwin = twins.length === records.length
  const spans = records.map(({ path, identity }) => ({ file: join(directory, path), span: identity }))
  // Each reads the bytes for itself, one of them in a thread; a second thread would take as much memory again.
  const [whole, content] = await Promise.all([
    hashBeside({ head, spans, tail, withCrc: hasTwin }, signal),
    stamp === undefined
      ? undefined
      : hashSpans({ head: head.replace(stamp, ''), spans, tail, withCrc: false }, { alone: false, signal }),
  ])
  const [start, end] = [startOfTwin(head), endOfTwin(tail, whole.crc, bytes)]
  return {
    joined: {
      identity: [base64(head), ...records.map(({ path, identity }): JoinedPart => [path, ...identity]), base64(tail)],
      gzip: hasTwin
        ? [base64(start), ...twins.map(({ path, deflated }): JoinedPart => [path, ...deflated]), base64(end)]
        : [],
    },
    written: {
      bytes,
      gzipBytes: hasTwin ? start.length + sizeOf(twins.map(({ deflated }) => deflated)) + end.length : 0,
      sha256: whole.sha256,
      ...(content && { contentSha256: content.sha256 }),
    },
  }
}

function base64(bytes: string | Buffer): string {
  return Buffer.from(bytes).toString('base64')
}
