import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { type ErrorCode, type FieldProblem, ServiceError } from '../domain/errors.js'
import { jsonRecords } from '../wire/read/json-reader.js'
import type { ParsedValue } from '../wire/read/parsed-value.js'
import { xmlRecords } from '../wire/read/xml-records.js'

/** Progress of reading; standard input has no `bytesTotal`. */
export type ReadProgress = { readonly file: string; readonly bytesRead: number; readonly bytesTotal?: number }

/** One record of a file, a problem of its text, or the reason why the rest of the file cannot be read. */
export type FileRecord =
  | { readonly line: number; readonly value: ParsedValue }
  | { readonly line: number; readonly problem: FieldProblem }
  | { readonly broken: string }

/**
 * Streams the records of a file in the wire format, `-` for standard input; its first character decides whether it is XML
 * or JSON. Never throws for its input: where a file cannot be opened or read on, one `broken` item is the last.
 */
export async function* readRecords(
  file: string,
  onProgress: (progress: ReadProgress) => void,
): AsyncGenerator<FileRecord> {
  try {
    const chunks = reported(file, onProgress, await sizeOf(file))
    const { first, rest } = await sniff(chunks)
    if (first === '<') {
      yield* xmlRecords(rest)
    } else if (first === '{' || first === '[') {
      yield* jsonRecords(rest)
    } else {
      yield { broken: first === undefined ? 'an empty file' : `a file that begins with ${JSON.stringify(first)}` }
    }
  } catch (error) {
    const isInput = error instanceof ServiceError ? unreadable.has(error.code) : isSystemError(error)
    if (!isInput) throw error
    yield { broken: error instanceof Error ? error.message : String(error) }
  }
}

const unreadable: ReadonlySet<ErrorCode> = new Set(['input-unusable', 'request-malformed', 'request-too-large'])

function isSystemError(error: unknown): boolean {
  return error instanceof Error && 'syscall' in error
}

async function sizeOf(file: string): Promise<number | undefined> {
  if (file === '-') return undefined
  const stats = await stat(file)
  if (stats.isDirectory()) throw new ServiceError('input-unusable', `${file} is a directory`)
  return stats.isFile() ? stats.size : undefined
}

async function* reported(
  file: string,
  onProgress: (progress: ReadProgress) => void,
  bytesTotal: number | undefined,
): AsyncGenerator<Buffer> {
  const input: AsyncIterable<Buffer> = file === '-' ? process.stdin : createReadStream(file)
  let bytesRead = 0
  for await (const chunk of input) {
    bytesRead += chunk.length
    yield chunk
    onProgress({ file, bytesRead, ...(bytesTotal !== undefined && { bytesTotal }) })
  }
}

/** The first character that is not blank (after a byte order mark), and all chunks from the beginning. */
async function sniff(
  chunks: AsyncIterable<Buffer>,
): Promise<{ readonly first: string | undefined; readonly rest: AsyncIterable<Buffer> }> {
  const iterator = chunks[Symbol.asyncIterator]()
  const seen: Buffer[] = []
  let first: string | undefined
  while (first === undefined) {
    const next = await iterator.next()
    if (next.done) break
    seen.push(next.value)
    first = /[^\s\u00ef\u00bb\u00bf]/.exec(next.value.toString('latin1'))?.[0]
  }
  async function* rest(): AsyncGenerator<Buffer> {
    yield* seen.splice(0)
    yield* { [Symbol.asyncIterator]: () => iterator }
  }
  return { first, rest: rest() }
}
