import path from 'node:path'
import { ServiceError } from '../../kernel/errors.js'
import type { FileReading } from '../sql/reading.js'
import { organisationList, projectList } from '../wire/names.js'
import { atomEntries } from '../wire/read/atom-entries.js'
import { jsonRecords, parseJson } from '../wire/read/json-reader.js'
import { isObject, type ParsedObject, valueLimits } from '../wire/read/parsed-value.js'
import { xmlRecords } from '../wire/read/xml-records.js'
import {
  askBefore,
  type CsvHeader,
  csvHeadBytes,
  csvRows,
  encodingOf,
  fitOfColumns,
  mapColumns,
  readCsvHeader,
} from './csv-rows.js'
import type { FileRecord } from './file-record.js'
import { iatiImporter, iatiKind, iatiOrganisationImporter, iatiRecords } from './iati-activities.js'
import { jsonLines } from './json-lines.js'
import type { Kind } from './kind.js'
import { reports } from './kinds/reports.js'
import { findKind, kinds } from './kinds.js'
import { importerOfKind, type RecordImporter, wireOrganisations, wireProjects } from './record-importer.js'

/** How the text of a file is arranged. */
export type FileForm = ({ readonly name: 'csv' } & CsvHeader) | { readonly name: 'ndjson' | 'other' }

/** How a file is read: its records, and what imports them. */
export type RecognisedFile = {
  readonly importer: RecordImporter
  readonly form: FileForm
  records(chunks: AsyncIterable<Buffer>): AsyncIterable<FileRecord>
  /** Throws `input-unusable` where a person must say first how it is meant; it reads the file once more. */
  ask?(chunks: AsyncIterable<Buffer>): Promise<void>
}

/**
 * Recognises the form and kind of a file by the kind asked for, its name (`gifts-2025.csv`) and its head: an XML root, a wire
 * document in JSON, the columns of a CSV header or the members of the first line of NDJSON. Throws `input-unusable` when
 * no kind, or more than one, fits. `isSheet`: it is the CSV of a sheet.
 */
export function recogniseFile(
  file: string,
  head: Buffer,
  asked: string | undefined,
  reading: FileReading = {},
  isSheet = false,
): RecognisedFile {
  const first = firstCharacterOf(head)
  if (first === undefined) throw new ServiceError('input-unusable', 'an empty file')
  const kind = asked ?? kindOfName(file)
  if (first === '<') return xmlFile(head, asked)
  if (asked === iatiKind) {
    const expected = 'IATI files are XML: a datastore gives the same activities as XML, too'
    throw new ServiceError('input-unusable', `a table or JSON; ${expected}`)
  }
  const text = new TextDecoder(encodingOf(head)).decode(head)
  if (first === '[') return wireJson(text, kind)
  if (first === '{') {
    if (isWireJson(text)) return wireJson(text, asked)
    const object = firstObject(text)
    const isLines = /\.(?:ndjson|jsonl)$/i.test(file)
    // A document that is not NDJSON may be a wire page that begins with unknown members.
    if (!isLines && (object === undefined || holdsWireRecords(object))) return wireJson(text, asked)
    const importer = importerOfKind(kindOf(kind, Object.keys(object ?? {})), 'other')
    return { importer, form: { name: 'ndjson' }, records: jsonLines }
  }
  const header = readCsvHeader(head, { ...reading, isSheet }, (columns) => fits(kind, columns, reading))
  const known = kindOf(kind, mapColumns(header.columns, reading), reading)
  return {
    importer: importerOfKind(known, 'csv'),
    form: { name: 'csv', ...header },
    records: (chunks) => csvRows(chunks, header, known.fields, reading),
    ask: (chunks) => askBefore(chunks, header, reading),
  }
}

/** Whether this is enough of a file to recognise it. */
export function isHeadComplete(head: Buffer): boolean {
  if (head.length >= csvHeadBytes) return true
  const first = firstCharacterOf(head)
  if (first === undefined) return false
  if (first === '<') return rootOf(head) !== undefined
  if (first === '[' || isWireJson(head.toString('utf8'))) return true
  // The header of CSV may stand below other lines.
  return first === '{' && head.includes(0x0a, head.indexOf(first))
}

/** The first character that is not blank, after a byte order mark. */
function firstCharacterOf(head: Buffer): string | undefined {
  return /[^\s\0]/.exec(new TextDecoder(encodingOf(head)).decode(head))?.[0]
}

/** The local name of an XML document's root. */
function rootOf(head: Buffer): string | undefined {
  return /<(?:[\w.-]+:)?([A-Za-z_][\w.-]*)[\s/>]/.exec(withoutComments(head))?.[1]
}

/** Whether it is HTML, whose elements html and head may be left out. */
function isWebPage(head: Buffer): boolean {
  return (
    /^(?:html|head|body|meta|title|script)$/i.test(rootOf(head) ?? '') ||
    /^[^<]*(?:<\?[^>]*>\s*)*<!doctype\s+html[\s>]/i.test(withoutComments(head))
  )
}

function withoutComments(head: Buffer): string {
  // UTF-16 may come without a byte order mark: of ASCII every other byte is then zero.
  return new TextDecoder(encodingOf(head))
    .decode(head)
    .replaceAll('\0', '')
    .replace(/<!--[\s\S]*?-->/g, '')
}

const form = { name: 'other' } as const

const spreadsheet = 'a spreadsheet as XML: save it as .xlsx, or as "CSV UTF-8"'

const tableAsPage = 'a table as a web page (HTML), whatever its name: open it, and save it as .xlsx or as "CSV UTF-8"'

/** Roots of documents that are never read, with what to do. */
const unread: ReadonlyMap<string, string> = new Map([
  ['Workbook', spreadsheet],
  ['document', spreadsheet],
  ['rss', 'an RSS feed: reports come as an Atom feed (WordPress has one at /feed/atom/), CSV or NDJSON'],
  ['table', tableAsPage],
  ['Document', 'a message of ISO 20022, such as a bank statement (CAMT): export it as CSV'],
])

function xmlFile(head: Buffer, asked: string | undefined): RecognisedFile {
  const root = rootOf(head)
  if (isWebPage(head)) {
    throw new ServiceError(
      'input-unusable',
      withoutComments(head).includes(':office:')
        ? tableAsPage
        : 'a web page (HTML), perhaps one to sign in, and no file of records',
    )
  }
  const why = unread.get(root ?? '')
  if (why) throw new ServiceError('input-unusable', why)
  if ((asked ?? iatiKind) === iatiKind && root === 'iati-organisations') {
    return { importer: iatiOrganisationImporter, form, records: (chunks) => iatiRecords(chunks, root) }
  }
  if (asked === iatiKind || (asked === undefined && /^iati-/.test(root ?? ''))) {
    return { importer: iatiImporter, form, records: (chunks) => iatiRecords(chunks, 'iati-activities') }
  }
  const isOrganisations = root === organisationList.list || root === organisationList.record
  const kind = asked ?? (isOrganisations ? 'organizations' : root === 'feed' ? 'reports' : 'projects')
  if (kind === 'organizations') {
    return { importer: wireOrganisations, form, records: (chunks) => xmlRecords(chunks, organisationList) }
  }
  if (kind === 'projects') return { importer: wireProjects, form, records: (chunks) => xmlRecords(chunks) }
  if (kind === 'reports') return { importer: importerOfKind(reports, 'other'), form, records: atomEntries }
  throw new ServiceError('input-unusable', `an XML file (${root}): ${kind} come as CSV or NDJSON`)
}

const wireMember = /^\s*\{\s*"(projects?|organizations?)"\s*:\s*[[{]/

function isWireJson(text: string): boolean {
  return wireMember.test(text.replace(/^\uFEFF/, ''))
}

function wireJson(text: string, asked: string | undefined): RecognisedFile {
  const [, member] = wireMember.exec(text.replace(/^\uFEFF/, '')) ?? []
  if (/^\s*\{\s*"(project|organization)s"\s*:\s*\{\s*"(?!\1")[^"]*"\s*:\s*\{(?![\s\S]*"\1"\s*:)/.test(text))
    throw new ServiceError(
      'input-unusable',
      `a JSON document whose ${member} are members of an object: write them as a list`,
    )
  // Whatever else they lack, records of the wire have a title or a name.
  const isOther = member === undefined && /^\s*\[\s*\{/.test(text) && !/"(?:title|name)"\s*:/.test(text)
  const kind = asked ?? (isOther ? 'its records' : member?.startsWith('organization') ? 'organizations' : 'projects')
  if (kind === 'organizations') {
    const records = (chunks: AsyncIterable<Buffer>) => jsonRecords(chunks, valueLimits, organisationList)
    return { importer: wireOrganisations, form, records }
  }
  if (kind === 'projects')
    return { importer: wireProjects, form, records: (chunks) => jsonRecords(chunks, valueLimits, projectList) }
  throw new ServiceError(
    'input-unusable',
    `a JSON document: ${kind} come as CSV or as NDJSON, one object on each line, as jq -c '.[]' FILE writes it`,
  )
}

/** The JSON object that the first line is. */
function firstObject(text: string): ParsedObject | undefined {
  const line = /^\s*([^\r\n]+)/.exec(text.replace(/^\uFEFF/, ''))?.[1] ?? ''
  try {
    const item = parseJson(Buffer.from(line), valueLimits)
    return 'value' in item && isObject(item.value) ? item.value : undefined
  } catch (error) {
    if (error instanceof ServiceError) return undefined
    throw error
  }
}

function holdsWireRecords(object: ParsedObject): boolean {
  const names = [projectList, organisationList].flatMap(({ list, record }) => [list, record])
  return names.some((name) => typeof object[name] === 'object' && object[name] !== null)
}

function kindOfName(file: string): string | undefined {
  const name = path.basename(file).toLowerCase().replace(/[_ ]/g, '-')
  return kinds.find((kind) => name.startsWith(kind.name) && !/^[a-z0-9]/.test(name.slice(kind.name.length)))?.name
}

/** The kinds of which columns have all that is needed, and nothing else. */
function kindsFitting(columns: readonly string[], reading?: FileReading): Kind[] {
  return kinds.filter(({ fields }) => {
    const { missing, isKnown } = fitOfColumns(columns, fields, reading)
    return missing.length === 0 && isKnown
  })
}

/** Whether a row may be the header of a kind, or of any. */
function fits(name: string | undefined, columns: readonly string[], reading: FileReading): boolean {
  let mapped: readonly string[]
  try {
    mapped = mapColumns(columns, reading)
  } catch (error) {
    if (error instanceof ServiceError) return false
    throw error
  }
  const kind = name === undefined ? undefined : findKind(name)
  if (kind) return fitOfColumns(mapped, kind.fields, reading).missing.length === 0
  return kindsFitting(mapped, reading).length > 0
}

function kindOf(name: string | undefined, columns: readonly string[], reading?: FileReading): Kind {
  const named = name === undefined ? undefined : findKind(name)
  if (named) return named
  const fitting = kindsFitting(columns, reading)
  const [only, ...others] = fitting
  if (only && others.length === 0) return only
  if (fitting.length === 0) throw ofNoKind(columns)
  const names = fitting.map((kind) => kind.name).join(', ')
  throw new ServiceError(
    'input-unusable',
    `a file that may hold ${names}: say which with --kind, or begin its name with it`,
  )
}

/** What is told of columns that are fields of no kind. */
export function ofNoKind(columns: readonly string[], sheets: readonly string[] = []): ServiceError {
  // Days, amounts and addresses are of a record, and of nobody's concern in a message.
  if (columns.some((column) => /^\d{1,4}[-./]\d{1,2}[-./]\d{1,4}|^\d+[.,]\d\d$|@/.test(column)))
    return new ServiceError('input-unusable', 'a table without a header: its first line has to name the columns')
  const names = kinds.map((kind) => kind.name).join(', ')
  const got = columns.slice(0, 20).join(', ').slice(0, 200)
  return new ServiceError(
    'input-unusable',
    `columns of no kind (${got}): name one of ${names} with --kind, or begin the file's name with it` +
      (sheets.length > 0 ? `; other sheets are ${sheets.slice(0, 20).join(', ')}: --sheet` : ''),
  )
}
