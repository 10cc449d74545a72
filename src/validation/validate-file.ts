import { createReadStream } from 'node:fs'
import { ServiceError } from '../domain/errors.js'
import type { Notice, NoticeSummary } from '../domain/notice.js'
import type { Attributes, Element } from '../xml/element.js'
import { convertToUtf8 } from '../xml/encoding.js'
import { streamElements, type XmlLimits } from '../xml/reader.js'
import { writeElement } from '../xml/writer.js'
import { detached } from './detached.js'
import { fileNotices } from './file-notices.js'
import { createFileValidator, type FileValidator, kindOfRoot } from './file-validator.js'
import { findingsAbout, identifierOf } from './findings.js'
import { noticeLog } from './notice-log.js'
import type { RecordKind } from './record.js'
import { isForeign } from './structure.js'
import { searchHiddenTags } from './tag-search.js'
import type { RecordContext } from './view.js'
import { type SchemaCheck, xsdNotices } from './xsd.js'

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
  /** The official schema, asked about every record. */
  readonly xsd?: Pick<SchemaCheck, 'validate'>
  /** Notices kept of each code (20); the counts stay exact. */
  readonly samplesPerCode?: number
  /** Called with every notice, kept or not. */
  readonly onNotice?: (notice: Notice) => void
  /** Called with the bytes read so far, once a chunk. */
  readonly onProgress?: (bytes: number) => void
  /** Called after a large record, for a process whose memory is limited. */
  readonly releaseMemory?: () => void
  readonly signal?: AbortSignal
  /** Read instead of the file; `path` then only names it. */
  readonly input?: AsyncIterable<Buffer>
}

const batchSize = 100
// Larger batches leave the young generation of the heap before they are freed, and libxml2 keeps the memory of its
// largest one: 280 MB at 1,000,000.
const batchBytes = 100_000
// The registry accepts no larger file; the official validator answers 413 a little above.
const mostBytes = 60_000_000
// Up to these limits a record is checked within 256 MB.
const recordLimits: XmlLimits = { depth: 64, elements: 200_000, attributes: 100, characters: 5_000_000 }
// libxml2 needs more memory than our own checks: a larger record is checked by them only.
const mostSchemaCharacters = 2_000_000
const largeRecordCharacters = 1_000_000

/**
 * Checks an IATI activity or organisation file of any size, one record at a time. Errors in the data are returned as
 * notices; `input-unusable` is thrown for a file that cannot be opened or is not IATI at all, `aborted` on the signal.
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
      yield chunk
      onProgress?.(bytes)
    }
  }
  async function* searched(): AsyncGenerator<Buffer> {
    for await (const chunk of convertToUtf8(chunks())) {
      hiddenTags.read(chunk)
      yield chunk
    }
  }

  const noteSkipped = (record: Element): void => {
    const detail = `expected a record of at most ${mostSchemaCharacters} characters, got a longer one`
    findingsAbout(record, note).add({ code: 'schema-skipped', ...xsdNotices['schema-skipped'] }, record, detail)
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
    if (hasUnboundPrefix) file.validator.expectUnboundPrefixes()
  }
  let hasUnboundPrefix = false
  let complete = true
  try {
    for await (const element of streamElements(searched(), {
      limits: recordLimits,
      isConverted: true,
      onRoot,
      onStrayText: (line) => file?.validator.strayText(line),
      onOversize: ({ element, reason }) => file?.validator.oversize(element, reason),
      onUnboundPrefix: () => {
        hasUnboundPrefix = true
        file?.validator.expectUnboundPrefixes()
      },
    })) {
      if (!file) break
      const isAsked = xsd !== undefined && !isLongerThan(element, mostSchemaCharacters)
      file.validator.record(element, isAsked)
      if (isAsked) await file.schema?.add(element)
      else if (xsd) noteSkipped(element)
      if (options.releaseMemory && isLongerThan(element, largeRecordCharacters)) options.releaseMemory()
    }
  } catch (error) {
    // An error before the root leaves nothing to report about; a file system error is a failure anywhere.
    if (!(error instanceof ServiceError)) throw unusable(path, error)
    if (!file) throw error.code === 'input-unusable' || error.code === 'aborted' ? error : unusable(path, error)
    if (error.code !== 'request-malformed' && error.code !== 'request-too-large') throw error
    complete = false
    const line = /\(line (\d+), column \d+\)$/.exec(error.message)?.[1]
    const code = error.code === 'request-too-large' ? 'record-too-large' : 'xml-unreadable'
    aboutFile(code, error.message, line === undefined ? undefined : Number(line))
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

/** Whether names, attributes and texts of an element have more characters than that. */
function isLongerThan(element: Element, most: number): boolean {
  return charactersLeft(element, most) < 0
}

/** What is left of so many characters after the element; negative as soon as there are none. */
function charactersLeft(element: Element, most: number): number {
  let left = most - 2 * element.name.length - element.text.length
  for (const name in element.attributes) left -= name.length + (element.attributes[name] ?? '').length
  for (const child of element.children) {
    if (left < 0) return left
    left = charactersLeft(child, left)
  }
  return left
}

function namespacesOf(attributes: Attributes): Record<string, string> {
  return Object.fromEntries(Object.entries(attributes).filter(([name]) => name.startsWith('xmlns:')))
}

type Batch = {
  /** Resolves when the next record may be added. */
  add(element: Element): Promise<void> | undefined
  finish(): Promise<void>
}

// Batches that may wait for the schema: it always has the next one, and memory stays bounded.
const mostBatches = 1

/**
 * Collects records into batches for the official schema, whose notices get the record's identifier and line. They come
 * batch by batch in the order of the file, whatever time the schema takes.
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
  const receive = async (): Promise<void> => {
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
      // Serialized and detached: a waiting element would keep the chunks that it was parsed from in memory.
      const text = Buffer.from(writeElement(element))
      waiting.push({ subject: detached(identifierOf(element)), line: element.line, text })
      bytes += text.length
      if (waiting.length < batchSize && bytes < batchBytes) return undefined
      ask()
      return asked.length > mostBatches ? receive() : undefined
    },
    async finish() {
      if (waiting.length > 0) ask()
      while (asked.length > 0) await receive()
    },
  }
}
