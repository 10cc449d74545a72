import { join } from 'node:path'
import { ServiceError } from '../../kernel/errors.js'
import { joinedCrc } from '../bytes/crc.js'
import type { FileEnvelope, WrittenFile } from '../bytes/file-writer.js'
import type { Deflated, Span } from '../bytes/find-records.js'
import { endOfTwin, startOfTwin } from '../bytes/gzip.js'
import type { Hasher } from './hash-beside.js'
import type { JoinedFile, JoinedPart } from './joined-file.js'

/** The records of a file of a folder, and in its twin if it has one. */
export type RecordsOfFile = { readonly path: string; readonly identity: Span; readonly deflated?: Deflated }

/**
 * Describes a file with these records in an envelope, and reads them for its hashes. It has a twin when all of them have. Throws
 * `release-corrupt` when it checks the records and they do not have their CRC-32.
 */
export async function joinFiles(
  directory: string,
  records: readonly RecordsOfFile[],
  { envelope, isChecked }: { readonly envelope: FileEnvelope; readonly isChecked: boolean },
  { hasher, signal }: { readonly hasher: Hasher; readonly signal: AbortSignal },
): Promise<{ readonly joined: JoinedFile; readonly written: WrittenFile }> {
  const { head, tail, stamp } = envelope
  const sizeOf = (spans: readonly Span[]) => spans.reduce((sum, [start, end]) => sum + end - start, 0)
  const bytes = Buffer.byteLength(head) + sizeOf(records.map(({ identity }) => identity)) + Buffer.byteLength(tail)
  const twins = records.flatMap(({ path, identity, deflated }) =>
    deflated ? [{ path: `${path}.gz`, ...deflated, bytes: sizeOf([identity]) }] : [],
  )
  const hasTwin = twins.length === records.length
  const spans = records.map(({ path, identity }) => ({ file: join(directory, path), span: identity }))
  const order = { head, spans, tail, ...(stamp !== undefined && { stamp }), isChecked }
  const { crc: found, ...hashes } = await hasher.hash(order, signal)
  const crc = joinedCrc([head, ...twins, tail])
  if (isChecked && found !== crc) throw notAsPublished(records)
  const [start, end] = [startOfTwin(head), endOfTwin(tail, crc, bytes)]
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

/** Else broken bytes would be published under a hash that fits them. */
function notAsPublished(records: readonly RecordsOfFile[]): ServiceError {
  const files = [...new Set(records.map(({ path }) => path))].join(', ')
  return new ServiceError(
    'release-corrupt',
    `one of ${files} of the live release is not what was published; giving publish --force writes its records again`,
  )
}

function base64(bytes: string | Buffer): string {
  return Buffer.from(bytes).toString('base64')
}
