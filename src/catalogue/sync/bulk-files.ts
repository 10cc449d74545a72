import { type ErrorCode, ServiceError } from '../../kernel/errors.js'
import { inBatches } from '../import/record-batches.js'
import type { SyncProblem } from '../sql/sync-runs.js'
import type { ListNames } from '../wire/names.js'
import type { ParsedValue } from '../wire/read/parsed-value.js'
import { readDownloadLink, unusable } from '../wire/read/upstream-documents.js'
import { xmlRecords } from '../wire/read/xml-records.js'
import { mostListRecords } from './refuse-endless.js'
import { accept, type SyncSession } from './sync-session.js'

/** A bulk file that was read to its end: when it was made, where the upstream says so; or why it was not. */
export type BulkReading = { readonly modified: Date | undefined } | { readonly problem: SyncProblem }

/**
 * Reads the file that a `download` operation links to, and hands its records in batches to `take`, without the first
 * `skip` ones. Undefined where the upstream offers no file.
 */
export async function readBulkFile(
  session: SyncSession,
  { path, names, skip = 0 }: { readonly path: string; readonly names: ListNames; readonly skip?: number },
  take: (records: ParsedValue[]) => Promise<void>,
): Promise<BulkReading | undefined> {
  const { client, signal } = session.deps
  const link = await findLink(session, path)
  if (link === undefined) return undefined
  try {
    const { chunks, modified } = await client.stream(link, signal)
    for await (const batch of inBatches(valuesAfter(xmlRecords(chunks, names), skip))) await take(batch)
    return { modified }
  } catch (error) {
    signal.throwIfAborted()
    if (!isBroken(error)) throw error
    const got = error.message.slice(0, 300)
    const subject = `bulk file of ${names.list}`
    return { problem: { subject, field: 'file', expected: 'a file that can be read to its end', got } }
  }
}

async function findLink({ deps: { client, signal } }: SyncSession, path: string): Promise<string | undefined> {
  const options = { accept, signal, expected: [400, 404, 410], tries: 1 }
  try {
    return await client.get(path, {}, options, ({ status, body }) =>
      status === 200 ? readDownloadLink(body) : undefined,
    )
  } catch (error) {
    // The file is optional: an offer that is broken or not ready yet counts as none.
    if (isBroken(error)) return undefined
    throw error
  }
}

const broken: ReadonlySet<ErrorCode> = new Set([
  'upstream-unavailable',
  'upstream-unusable',
  'upstream-refused',
  'address-refused',
  'request-malformed',
  'request-too-large',
  'input-unusable',
])

function isBroken(error: unknown): error is ServiceError {
  return error instanceof ServiceError && broken.has(error.code)
}

async function* valuesAfter(
  records: AsyncIterable<{ readonly value: ParsedValue }>,
  skip: number,
): AsyncGenerator<ParsedValue> {
  let met = 0
  for await (const { value } of records) {
    if (++met > mostListRecords) throw unusable(`a bulk file of more than ${mostListRecords} records`)
    if (met > skip) yield value
  }
}
