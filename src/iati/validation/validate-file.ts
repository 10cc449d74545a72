import { createReadStream } from 'node:fs'
import { ServiceError } from '../../kernel/errors.js'
import type { Notice, NoticeSummary } from '../../kernel/notice.js'
import { messageOf } from '../../kernel/system-errors.js'
import type { Attributes, Element } from '../../kernel/xml/element.js'
import { convertToUtf8 } from '../../kernel/xml/encoding.js'
import { streamElements } from '../../kernel/xml/reader.js'
import { iatiRecordLimits } from '../record-limits.js'
import { fileNotices } from './file-notices.js'
import { createFileValidator, type FileValidator, kindOfRoot } from './file-validator.js'
import { findingsAbout } from './findings.js'
import { noticeLog } from './notice-log.js'
import type { RecordKind } from './record.js'
import { createSchemaBatches, type SchemaBatches } from './schema-batches.js'
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

// The registry accepts no larger file; the official validator answers 413 a little above.
const mostBytes = 60_000_000
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
  const pass = (notice: Notice): void => {
    log.add(notice)
    onNotice?.(notice)
  }
  const note = (notice: Notice): void => (file?.schema ? file.schema.note(notice) : pass(notice))
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
        schema: SchemaBatches | undefined
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
      schema: xsd && createSchemaBatches(xsd, kind, namespacesOf(attributes), pass),
    }
    if (hasUnboundPrefix) file.validator.expectUnboundPrefixes()
    if (lateDeclaration !== undefined) {
      const detail = 'expected the XML declaration at the start of the document, got white space before it'
      aboutFile('xml-unreadable', detail, lateDeclaration)
    }
  }
  let lateDeclaration: number | undefined
  let hasUnboundPrefix = false
  let complete = true
  let source = ''
  try {
    for await (const element of streamElements(searched(), {
      limits: iatiRecordLimits,
      isConverted: true,
      onRoot,
      onLateDeclaration: (line) => {
        lateDeclaration = line
      },
      onStrayText: (line) => file?.validator.strayText(line),
      onOversize: ({ element, reason }) => file?.validator.oversize(element, reason),
      onUnboundPrefix: () => {
        hasUnboundPrefix = true
        file?.validator.expectUnboundPrefixes()
      },
      onSource: (text) => {
        source = text
      },
    })) {
      if (!file) break
      const isAsked = xsd !== undefined && source.length <= mostSchemaCharacters
      file.validator.record(element, isAsked)
      if (isAsked) await file.schema?.add(element, source)
      else if (xsd) noteSkipped(element)
      if (source.length > largeRecordCharacters) options.releaseMemory?.()
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
  const why = messageOf(cause)
  return new ServiceError('input-unusable', `cannot read ${path} as an IATI file: ${why}`, { cause })
}

function namespacesOf(attributes: Attributes): Record<string, string> {
  return Object.fromEntries(Object.entries(attributes).filter(([name]) => name.startsWith('xmlns:')))
}
