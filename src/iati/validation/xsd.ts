import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { XsdValidator as LibxmlValidator, XmlDocument, XmlLibError } from 'libxml2-wasm'
import { ServiceError } from '../../kernel/errors.js'
import type { Notice } from '../../kernel/notice.js'
import { ifThere } from '../../kernel/system-errors.js'
import { escapeAttribute } from '../../kernel/xml/writer.js'
import { standardVersion } from '../standard/version.js'
import { quoted } from './findings.js'
import type { RecordKind } from './record.js'
import { Shapes } from './shapes.js'

/** The verdict of the official schemas; holds WebAssembly memory until disposed. */
export type XsdValidator = {
  /** Names the schemas by their content. */
  readonly version: string
  /** What they have accepted of activities. */
  readonly shapes: Shapes
  /**
   * Checks records given as text (a buffer holds UTF-8) and returns the notices of each, in order. Any number may be
   * given; they are checked in batches of at most 100 and a quarter of a megabyte, because libxml2 keeps the memory that its
   * largest document took. `namespaces` are prefixes that the records use and their document declares.
   */
  validate(
    records: readonly (string | Buffer)[],
    kind: RecordKind,
    namespaces?: Readonly<Record<string, string>>,
  ): Notice[][]
  dispose(): void
}

/** The same as a file's check asks it: in the thread of its caller or in one of its own. */
export type SchemaCheck = {
  /** The notices of each record in UTF-8, in order. */
  validate(
    records: readonly Buffer[],
    kind: RecordKind,
    namespaces?: Readonly<Record<string, string>>,
  ): Notice[][] | Promise<Notice[][]>
  dispose(): void | Promise<void>
}

export const xsdNotices = {
  'xsd-invalid': {
    severity: 'error',
    official: ['0.3.1'],
    sentence: 'The official XML Schema refuses the record.',
  },
  'schema-skipped': {
    severity: 'info',
    official: [],
    sentence: 'The record is too large for the official schema and was checked by our own checks only.',
  },
} as const

const schemaFiles = {
  activity: 'iati-activities-schema.xsd',
  organisation: 'iati-organisations-schema.xsd',
} as const
const includedFiles = ['iati-common.xsd', 'xml.xsd'] as const

const schemaNames = [schemaFiles.activity, schemaFiles.organisation, ...includedFiles]

const mostRecords = 100
const mostBytes = 250_000

type Libxml = typeof import('libxml2-wasm')

/** Whether any file of the official XSDs is in `directory/schemas`. */
export function hasSchemas(directory: string): boolean {
  return schemaNames.some((name) => existsSync(join(directory, 'schemas', name)))
}

/**
 * The validator over the official XSDs in `directory/schemas`; undefined when they are not there. Throws
 * `standard-missing` when they are there but cannot be used.
 */
export async function createXsdValidator(directory: string): Promise<XsdValidator | undefined> {
  if (!hasSchemas(directory)) return undefined
  const texts = await Promise.all(schemaNames.map((name) => readIfThere(join(directory, 'schemas', name))))
  const files: Record<string, Uint8Array> = {}
  schemaNames.forEach((name, index) => {
    const text = texts[index]
    if (!text)
      throw new ServiceError(
        'standard-missing',
        `expected ${name} beside the other schemas in ${join(directory, 'schemas')}, got none`,
      )
    files[name] = text
  })
  // Loaded on use: a process that runs the schema in a thread does not need it.
  const libxml = await import('libxml2-wasm')
  const schemas = loadSchemas(libxml, files, directory)
  const version = createHash('sha256')
  for (const name of schemaNames) version.update(files[name] ?? '')
  return {
    version: version.digest('hex').slice(0, 16),
    shapes: new Shapes(),
    validate(records, kind, namespaces = {}) {
      return batchesOf(records.map((record) => (typeof record === 'string' ? Buffer.from(record) : record))).flatMap(
        (batch) => validateBatch(libxml, schemas[kind], batch, kind, namespaces),
      )
    },
    dispose() {
      schemas.activity.dispose()
      schemas.organisation.dispose()
    },
  }
}

async function readIfThere(path: string): Promise<Buffer | undefined> {
  try {
    return await ifThere(readFile(path))
  } catch (error) {
    throw new ServiceError('standard-missing', `cannot read ${path}`, { cause: error })
  }
}

function loadSchemas(
  { XmlBufferInputProvider, XmlDocument, XsdValidator, xmlCleanupInputProvider, xmlRegisterInputProvider }: Libxml,
  files: Record<string, Uint8Array>,
  directory: string,
): Record<RecordKind, LibxmlValidator> {
  // Includes are served from memory, so that libxml2 gets no access to the file system.
  xmlRegisterInputProvider(new XmlBufferInputProvider(files))
  const loaded: LibxmlValidator[] = []
  try {
    const load = (name: string): LibxmlValidator => {
      const document = XmlDocument.fromBuffer(files[name] ?? new Uint8Array(), { url: name })
      try {
        const validator = XsdValidator.fromDoc(document)
        loaded.push(validator)
        return validator
      } finally {
        document.dispose()
      }
    }
    return { activity: load(schemaFiles.activity), organisation: load(schemaFiles.organisation) }
  } catch (error) {
    for (const validator of loaded) validator.dispose()
    throw new ServiceError('standard-missing', `the schemas in ${join(directory, 'schemas')} cannot be used`, {
      cause: error,
    })
  } finally {
    xmlCleanupInputProvider()
  }
}

function batchesOf(records: readonly Buffer[]): Buffer[][] {
  const batches: Buffer[][] = []
  let batch: Buffer[] = []
  let bytes = 0
  for (const record of records) {
    if (batch.length >= mostRecords || (batch.length > 0 && bytes + record.length > mostBytes)) {
      batches.push(batch)
      batch = []
      bytes = 0
    }
    batch.push(record)
    bytes += record.length
  }
  if (batch.length > 0) batches.push(batch)
  return batches
}

function validateBatch(
  libxml: Libxml,
  schema: LibxmlValidator,
  records: readonly Buffer[],
  kind: RecordKind,
  namespaces: Readonly<Record<string, string>>,
): Notice[][] {
  const root = kind === 'activity' ? 'iati-activities' : 'iati-organisations'
  const declared = Object.entries(namespaces)
    .map(([name, value]) => ` ${name}="${escapeAttribute(value)}"`)
    .join('')
  const { ParseOption, XmlDocument, XmlLibError } = libxml
  // Records are foreign data: nothing outside the text may be loaded. CDATA is text, of which white space alone is none.
  const option =
    ParseOption.XML_PARSE_NO_XXE |
    ParseOption.XML_PARSE_NONET |
    ParseOption.XML_PARSE_BIG_LINES |
    ParseOption.XML_PARSE_NOCDATA
  let document: XmlDocument | undefined
  try {
    const open = Buffer.from(`<${root} version="${standardVersion}"${declared}>`)
    document = XmlDocument.fromBuffer(Buffer.concat([open, ...records, Buffer.from(`</${root}>`)]), { option })
    schema.validate(document)
    return records.map(() => [])
  } catch (error) {
    if (!(error instanceof XmlLibError)) throw error
    if (records.length === 1) return [toNotices(error, kind)]
    // Rare, so only now is the record at fault looked for.
    return records.flatMap((record) => validateBatch(libxml, schema, [record], kind, namespaces))
  } finally {
    document?.dispose()
  }
}

// Further notices add nothing about one record.
const mostNotices = 20

function toNotices(error: XmlLibError, kind: RecordKind): Notice[] {
  const name = kind === 'activity' ? 'iati-activity' : 'iati-organisation'
  const details = error.details.length > 0 ? error.details : [{ message: error.message, xpath: undefined }]
  return details.slice(0, mostNotices).map(({ message, xpath }) => ({
    code: 'xsd-invalid',
    severity: xsdNotices['xsd-invalid'].severity,
    subject: name,
    path: xpath?.replace(/^\/iati-(?:activities|organisations)/, '') || `/${name}`,
    detail: `the official schema says ${quoted(message.trim())}`,
  }))
}
