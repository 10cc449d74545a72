import { join } from 'node:path'
import { joinedCrc } from '../bytes/crc.js'
import type { FileEnvelope, WrittenFile } from '../bytes/file-writer.js'
import type { Deflated, Span } from '../bytes/find-records.js'
import { endOfTwin, startOfTwin } from '../bytes/gzip.js'
import { hashBeside } from './hash-beside.js'
import type { JoinedFile, JoinedPart } from './joined-file.js'

/** The records of a file of a folder, and in its twin if it has one. */
export type RecordsOfFile = { readonly path: string; readonly identity: Span; readonly deflated?: Deflated }

/** Describes a file with these records in an envelope, and reads them for its hashes. It has a twin when all of them have. */
export async function joinFiles(
  directory: string,
  records: readonly RecordsOfFile[],
  { head, tail, stamp }: FileEnvelope,
  signal: AbortSignal,
): Promise<{ readonly joined: JoinedFile; readonly written: WrittenFile }> {
  const sizeOf = (spans: readonly Span[]) => spans.reduce((sum, [start, end]) => sum + end - start, 0)
  const bytes = Buffer.byteLength(head) + sizeOf(records.map(({ identity }) => identity)) + Buffer.byteLength(tail)
  const twins = records.flatMap(({ path, identity, deflated }) =>
    deflated ? [{ path: `${path}.gz`, ...deflated, bytes: sizeOf([identity]) }] : [],
  )
  const hasTwin = twins.length === records.length
  const spans = records.map(({ path, identity }) => ({ file: join(directory, path), span: identity }))
  const hashes = await hashBeside({ head, spans, tail, ...(stamp !== undefined && { stamp }) }, signal)
  const [start, end] = [startOfTwin(head), endOfTwin(tail, joinedCrc([head, ...twins, tail]), bytes)]
  return {
    joined: {
      identity: [base64(head), ...records.map(({ path, identity }): JoinedPart => [path, ...identity]), base64(tail)],
      gzip: hasTwin ? [base64(start), ...twins.map(({ path, span }): JoinedPart => [path, ...span]), base64(end)] : [],
    },
    written: {
      bytes,
      gzipBytes: hasTwin ? start.length + sizeOf(twins.map(({ span }) => span)) + end.length : 0,
      ...hashes,
    },
  }
}

function base64(bytes: string | Buffer): string {
  return Buffer.from(bytes).toString('base64')
}
