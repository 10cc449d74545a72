import { createReadStream } from 'node:fs'
import { ServiceError } from '../domain/errors.js'
import type { Notice, NoticeSummary } from '../domain/notice.js'
import type { Attributes, Element } from '../xml/element.js'
import { streamElements } from '../xml/reader.js'
import { writeElement } from '../xml/writer.js'
import { detached } from './detached.js'
import { createFileValidator, type FileValidator, fileNotices, kindOfRoot } from './file-validator.js'
import { identifierOf } from './findings.js'
import { noticeLog } from './notice-log.js'
import type { RecordKind } from './record.js'
import { isForeign } from './structure.js'
import { searchHiddenTags } from './tag-search.js'
import type { RecordContext } from './view.js'
import type { SchemaCheck } from './xsd.js'

export type FileReport = {
  readonly kind: RecordKind
  /** As the root element says it. */
  readonly version: string | undefined
  readonly records: number
  readonly bytes: number
  /** Exact counts. */
  readonly summary: NoticeSummary
  /** The first notices of each code. */
  readonly samples: readonly Notice[]
  /** False when the file could not be read to its end. */
  readonly complete: boolean
}

export type ValidateFileOptions = {
  readonly context: RecordContext
  /** Also asks the official schema. */
  readonly xsd?: Pick<SchemaCheck, 'validate'>
  /** Notices kept of each code (20); the counts stay exact. */
  readonly samplesPerCode?: number
  /** Called with every notice, kept or not. */
  readonly onNotice?: (notice: Notice) => void
  /** Called now and then with the bytes read so far. */
  readonly onProgress?: (bytes: number) => void
  readonly signal?: AbortSignal
  /** Read instead of the file; `path` then only names it. */
  readonly input?: AsyncIterable<Buffer>
}

const batchSize = 100
// What one batch takes must die young: with larger ones both libxml2's memory and the heap grow (280 MB at 1,000,000).
const batchBytes = 100_000
// The registry stopped here; the official validator answers 413 a little above.
const mostBytes = 60_000_000

/**
 * Checks an IATI activity or organisation file of any size, a record at a time. What is wrong with the data comes back
 * as notices; `input-unusable` is thrown for a file that cannot be opened or is not IATI at all, `aborted` on the signal.
 */
export async function validateFile(path: string, options: ValidateFileOptions): Promise<FileReport> {
  const { context, xsd, onNotice, onProgress, signal } = options
  const log = noticeLog(options.samplesPerCode ?? 20)
  const note = (notice: Notice): void => {
    log.add(notice)
    onNotice?.(notice)
  }
  let bytes = 0
  const aboutFile = (code: keyof typeof fileNotices, detail: string, line?: number): void => {
    const name = file?.root ?? 'the file'
    const { severity } = fileNotices[code]
    note({ code, severity, subject: name, path: `/${name}`, detail, ...(line !== undefined && { line }) })
  }
  const hiddenTags = searchHiddenTags((what, line) =>
    aboutFile('record-tag-hidden', `expected no tag of a record in ${what}, got one`, line),
  )
  async function* chunks(): AsyncGenerator<Buffer> {
    for await (const chunk of options.input ?? createReadStream(path)) {
      if (signal?.aborted) throw new ServiceError('aborted', 'validation was interrupted')
      bytes += chunk.length
      hiddenTags.read(chunk)
      yield chunk
      onProgress?.(bytes)
    }
  }

  let file:
    | {
        kind: RecordKind
        root: string
        version: string | undefined
        validator: FileValidator
        schema: Batch | undefined
      }
    | undefined
  const onRoot = (root: string, attributes: Attributes, line: number): void => {
    const kind = kindOfRoot(root)
    if (!kind || attributes.xmlns) {
      const got = attributes.xmlns ? `${root} in the namespace ${attributes.xmlns}` : root
      throw new ServiceError(
        'input-unusable',
        `expected the root element iati-activities or iati-organisations, got ${got}`,
      )
    }
    file = {
      kind,
      root,
      version: attributes.version,
      validator: createFileValidator({ name: root, attributes, line }, context, note),
      schema: xsd && createBatch(xsd, kind, namespacesOf(attributes), note),
    }
  }
  let complete = true
  try {
    for await (const element of streamElements(chunks(), {
      onRoot,
      onStrayText: (line) => file?.validator.strayText(line),
    })) {
      file?.validator.record(element)
      await file?.schema?.add(element)
    }
  } catch (error) {
    // Before the root there is nothing to report about; a file system error is a failure wherever it comes.
    if (!(error instanceof ServiceError)) throw unusable(path, error)
    if (!file) throw error.code === 'input-unusable' || error.code === 'aborted' ? error : unusable(path, error)
    if (error.code !== 'request-malformed' && error.code !== 'request-too-large') throw error
    complete = false
    const line = /\(line (\d+), column \d+\)$/.exec(error.message)?.[1]
    aboutFile('xml-unreadable', error.message, line === undefined ? undefined : Number(line))
  }
  if (!file) throw new ServiceError('input-unusable', `expected an IATI file, got one without any element: ${path}`)
  await file.schema?.finish()
  if (bytes > mostBytes) aboutFile('file-too-large', `expected at most ${mostBytes} bytes, got ${bytes}`)
  const records = file.validator.finish()
  return { kind: file.kind, version: file.version, records, bytes, complete, ...log.report() }
}

function unusable(path: string, cause: unknown): ServiceError {
  const why = cause instanceof Error ? cause.message : String(cause)
  return new ServiceError('input-unusable', `cannot read ${path} as an IATI file: ${why}`, { cause })
}

function namespacesOf(attributes: Attributes): Record<string, string> {
  return Object.fromEntries(Object.entries(attributes).filter(([name]) => name.startsWith('xmlns:')))
}

type Batch = {
  /** Resolves when the file may go on. */
  add(element: Element): Promise<void> | undefined
  finish(): Promise<void>
}

// Batches that the schema may lag behind: it has work when the next is ready, and memory stays bounded.
const mostBatches = 1

/**
 * Gathers records for the official schema; its notices get the record's identifier and line. They come batch by batch in
 * the order of the file, at the same places however long the schema takes.
 */
function createBatch(
  xsd: Pick<SchemaCheck, 'validate'>,
  kind: RecordKind,
  namespaces: Record<string, string>,
  note: (notice: Notice) => void,
): Batch {
  type Waiting = { subject: string; line: number | undefined; text: Buffer }[]
  let waiting: Waiting = []
  let bytes = 0
  const asked: { batch: Waiting; verdicts: Promise<Notice[][]> }[] = []
  const hear = async (): Promise<void> => {
    const [oldest] = asked
    if (!oldest) return
    const verdicts = await oldest.verdicts
    asked.shift()
    oldest.batch.forEach(({ subject, line }, index) => {
      for (const notice of verdicts[index] ?? []) note({ ...notice, subject, ...(line !== undefined && { line }) })
    })
  }
  const ask = (): void => {
    const batch = waiting
    waiting = []
    bytes = 0
    const texts = batch.map(({ text }) => text)
    const verdicts = (async () => await xsd.validate(texts, kind, namespaces))()
    verdicts.catch(() => undefined)
    asked.push({ batch, verdicts })
  }
  return {
    add(element) {
      if (isForeign(element)) return undefined
      // As bytes and detached: while a record waits, nothing that it was made from may be kept by it.
      const text = Buffer.from(writeElement(element))
      waiting.push({ subject: detached(identifierOf(element)), line: element.line, text })
      bytes += text.length
      if (waiting.length < batchSize && bytes < batchBytes) return undefined
      ask()
      return asked.length > mostBatches ? hear() : undefined
    },
    async finish() {
      if (waiting.length > 0) ask()
      while (asked.length > 0) await hear()
    },
  }
}
