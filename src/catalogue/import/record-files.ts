import { createReadStream } from 'node:fs'
import { addAbortSignal } from 'node:stream'
import { type ErrorCode, ServiceError } from '../../kernel/errors.js'
import type { FileRecord } from './file-record.js'
import { isHeadComplete, recogniseFile } from './recognise-file.js'
import type { RecordImporter } from './record-importer.js'
import { sizeOfRegularFile } from './regular-file.js'

/** Progress of reading; standard input has no `bytesTotal`. */
export type ReadProgress = { readonly file: string; readonly bytesRead: number; readonly bytesTotal?: number }

/** A record with its importer, or the reason why the rest of the file cannot be read. */
export type FileItem = (FileRecord & { readonly importer: RecordImporter }) | { readonly broken: string }

/**
 * Streams the records of a file, `-` for standard input; its content decides about form and kind where `kind` is not given.
 * Never throws for its input: where a file cannot be opened, recognised or read on, one `broken` item is the last. Throws
 * `aborted` when `signal` is, also while nothing comes from standard input.
 */
export async function* readRecords(
  file: string,
  kind: string | undefined,
  onProgress: (progress: ReadProgress) => void,
  signal?: AbortSignal,
): AsyncGenerator<FileItem> {
  try {
    const bytesTotal = file === '-' ? undefined : await sizeOfRegularFile(file)
    const chunks = reported(file, onProgress, bytesTotal, signal)
    const { head, rest } = await sniff(chunks)
    const { importer, records } = recogniseFile(file, head, kind)
    for await (const record of records(rest)) yield { ...record, importer }
  } catch (error) {
    if (signal?.aborted) throw new ServiceError('aborted', 'the import was interrupted')
    const isInput = error instanceof ServiceError ? unreadable.has(error.code) : isSystemError(error)
    if (!isInput) throw error
    yield { broken: error instanceof Error ? error.message : String(error) }
  }
}

const unreadable: ReadonlySet<ErrorCode> = new Set(['input-unusable', 'request-malformed', 'request-too-large'])

function isSystemError(error: unknown): boolean {
  return error instanceof Error && 'syscall' in error
}

async function* reported(
  file: string,
  onProgress: (progress: ReadProgress) => void,
  bytesTotal: number | undefined,
  signal: AbortSignal | undefined,
): AsyncGenerator<Buffer> {
  const input = file === '-' ? process.stdin : createReadStream(file)
  if (signal) addAbortSignal(signal, input)
  let bytesRead = 0
  for await (const chunk of input as AsyncIterable<Buffer>) {
    bytesRead += chunk.length
    yield chunk
    onProgress({ file, bytesRead, ...(bytesTotal !== undefined && { bytesTotal }) })
  }
}

/** The beginning of the input, enough to recognise it, and all chunks from the beginning. */
async function sniff(
  chunks: AsyncIterable<Buffer>,
): Promise<{ readonly head: Buffer; readonly rest: AsyncIterable<Buffer> }> {
  const iterator = chunks[Symbol.asyncIterator]()
  const seen: Buffer[] = []
  let head = Buffer.alloc(0)
  while (!isHeadComplete(head)) {
    const next = await iterator.next()
    if (next.done) break
    seen.push(next.value)
    head = Buffer.concat([head, next.value])
  }
  async function* rest(): AsyncGenerator<Buffer> {
    yield* seen.splice(0)
    yield* { [Symbol.asyncIterator]: () => iterator }
  }
  return { head, rest: rest() }
}
