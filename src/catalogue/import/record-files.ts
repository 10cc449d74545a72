import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { addAbortSignal, type Readable } from 'node:stream'
import { type ErrorCode, type FieldProblem, ServiceError } from '../../kernel/errors.js'
import { messageOf } from '../../kernel/system-errors.js'
import { sizeOfRegularFile } from '../../platform/files/regular-file.js'
import type { FileReading } from '../sql/reading.js'
import type { FileRecord } from './file-record.js'
import { iatiKind } from './iati-activities.js'
import { kinds } from './kinds.js'
import { findPacked, isPacked, type PackedFile } from './packed-file.js'
import { type FileForm, isHeadComplete, recogniseFile } from './recognise-file.js'
import type { RecordImporter } from './record-importer.js'
import type { Sheet } from './workbook.js'

/** Progress of reading; standard input has no `bytesTotal`. */
export type ReadProgress = { readonly file: string; readonly bytesRead: number; readonly bytesTotal?: number }

/** The reason why a file, or the rest of it, cannot be read. */
type Broken = { readonly broken: string }

/** What a person must know of a file that was read to its end. */
type Remark = { readonly line: number; readonly remark: FieldProblem }

/** A file whose form and kind are known. */
export type ReadableFile<Row = unknown, Prepared = unknown> = {
  readonly file: string
  readonly importer: RecordImporter<Row, Prepared>
  readonly form: FileForm
  /** Undefined: standard input. */
  readonly bytes: number | undefined
  /** The hash of its content, once all of it was read. */
  hash(): { readonly sha256?: string }
  /** Its records; where it cannot be read on, one `broken` item is the last. */
  records(onProgress: (progress: ReadProgress) => void): AsyncGenerator<FileRecord | Broken | Remark>
}

/** How files are read; standard input is that of the process where none is given. */
type Opening = {
  readonly kind: string | undefined
  readonly reading?: FileReading | undefined
  readonly stdin?: Readable | undefined
}

/**
 * Recognises files, `-` for standard input, and puts them in the order in which the store needs their kinds; their contents
 * decide about form and kind where `kind` is not given. Those that cannot be opened or recognised come first. Never throws
 * for its input. Throws `aborted` when `signal` is, also while nothing comes from standard input.
 */
export async function openFiles(
  files: readonly string[],
  opening: Opening,
  signal: AbortSignal | undefined,
): Promise<(ReadableFile | (Broken & { readonly file: string }))[]> {
  const opened: (ReadableFile | (Broken & { readonly file: string }))[] = []
  for (const file of files) {
    try {
      opened.push(await recognise(file, opening, signal))
    } catch (error) {
      opened.push({ file, ...toBroken(error, signal) })
    }
  }
  // Files of IATI find the projects that have their identifiers already.
  const order = kinds.flatMap(({ name }): string[] => (name === 'projects' ? [name, iatiKind] : [name]))
  const placeOf = (one: (typeof opened)[number]) => ('broken' in one ? -1 : order.indexOf(one.importer.kind))
  return opened.sort((a, b) => placeOf(a) - placeOf(b))
}

async function recognise(
  file: string,
  { kind, reading, stdin }: Opening,
  signal: AbortSignal | undefined,
): Promise<ReadableFile> {
  const bytesTotal = file === '-' ? undefined : await sizeOfRegularFile(file)
  const packed = bytesTotal === undefined ? undefined : await findPacked(file, reading)
  const chunks = () => packed?.chunks(signal) ?? chunksOf(file, stdin, signal)
  const { head, rest, close } = await sniff(chunks())
  if (file === '-' && isPacked(head))
    throw new ServiceError('input-unusable', 'an archive or a workbook on standard input: give it as a file')
  if (isPacked(head) || head.toString('latin1', 257, 262) === 'ustar')
    throw new ServiceError('input-unusable', 'an archive or a workbook in an archive: unpack it, and give the file')
  // Files are opened one after the other; standard input cannot be opened again.
  if (bytesTotal !== undefined) await close()
  const {
    importer,
    form,
    records: read,
    ask,
  } = recogniseFile(packed?.name ?? file, head, kind, reading, packed?.sheet !== undefined)
  // What comes from standard input is asked about while it is read.
  if (bytesTotal !== undefined) await ask?.(chunks())
  let sha256: string | undefined
  async function* hashed(input: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    const content = createHash('sha256')
    for await (const chunk of input) {
      content.update(chunk)
      yield chunk
    }
    sha256 = content.digest('hex')
  }
  async function* records(onProgress: (progress: ReadProgress) => void): AsyncGenerator<FileRecord | Broken | Remark> {
    const input = hashed(bytesTotal === undefined ? rest : chunks())
    try {
      yield* read(reported(file, input, onProgress, bytesTotal))
      if (packed?.sheet && packed.sheet.hidden.rows > 0) yield remarkOn(packed.sheet.hidden)
    } catch (error) {
      yield toBroken(error, signal)
    }
  }
  return { file, importer, form, bytes: bytesTotal, records, hash: () => (sha256 === undefined ? {} : { sha256 }) }
}

function remarkOn({ rows, first }: Sheet['hidden']): Remark {
  return {
    line: first,
    remark: { field: 'row', expected: 'rows that are seen', got: `${rows} hidden rows, which are read` },
  }
}

/**
 * The bytes of a regular file, unpacked where it is an archive with one file; of a workbook the sheet that the reading names,
 * else the first one. Throws `input-unusable` for other archives.
 */
export async function openBytes(file: string, reading?: FileReading): Promise<PackedFile> {
  await sizeOfRegularFile(file)
  return (
    (await findPacked(file, reading, 'first')) ?? { name: file, chunks: (signal) => chunksOf(file, undefined, signal) }
  )
}

/** The first bytes of an input, enough to recognise it. */
export async function headOf(chunks: AsyncGenerator<Buffer>): Promise<Buffer> {
  const { head, close } = await sniff(chunks)
  await close()
  return head
}

function toBroken(error: unknown, signal: AbortSignal | undefined): Broken {
  if (signal?.aborted) throw new ServiceError('aborted', 'the import was interrupted')
  const isInput = error instanceof ServiceError ? unreadable.has(error.code) : isSystemError(error)
  if (!isInput) throw error
  return { broken: messageOf(error) }
}

const unreadable: ReadonlySet<ErrorCode> = new Set(['input-unusable', 'request-malformed', 'request-too-large'])

function isSystemError(error: unknown): boolean {
  return error instanceof Error && 'syscall' in error
}

async function* chunksOf(
  file: string,
  stdin: Opening['stdin'],
  signal: AbortSignal | undefined,
): AsyncGenerator<Buffer> {
  const input = file === '-' ? (stdin ?? process.stdin) : createReadStream(file)
  if (signal) addAbortSignal(signal, input)
  yield* input as AsyncIterable<Buffer>
}

async function* reported(
  file: string,
  input: AsyncIterable<Buffer>,
  onProgress: (progress: ReadProgress) => void,
  bytesTotal: number | undefined,
): AsyncGenerator<Buffer> {
  let bytesRead = 0
  for await (const chunk of input) {
    bytesRead += chunk.length
    yield chunk
    onProgress({ file, bytesRead, ...(bytesTotal !== undefined && { bytesTotal }) })
  }
}

/** The beginning of the input, enough to recognise it, all chunks from the beginning, and how to close it. */
async function sniff(iterator: AsyncGenerator<Buffer>): Promise<{
  readonly head: Buffer
  readonly rest: AsyncIterable<Buffer>
  close(): Promise<unknown>
}> {
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
    yield* iterator
  }
  return { head, rest: rest(), close: () => iterator.return(undefined) }
}
