import path from 'node:path'
import { ServiceError } from '../../kernel/errors.js'
import { organisationList, projectList } from '../wire/names.js'
import { atomEntries } from '../wire/read/atom-entries.js'
import { jsonRecords, parseJson } from '../wire/read/json-reader.js'
import { isObject, type ParsedObject, valueLimits } from '../wire/read/parsed-value.js'
import { xmlRecords } from '../wire/read/xml-records.js'
import { type CsvHeader, type CsvReading, csvRows, encodingOf, mapColumns, readCsvHeader } from './csv-rows.js'
import { missingFields } from './fields.js'
import { type FileRecord, whyColumn } from './file-record.js'
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
}

/**
 * Recognises the form and kind of a file by the kind asked for, its name (`gifts-2025.csv`) and its head: an XML root, a wire
 * document in JSON, the columns of a CSV header or the members of the first line of NDJSON. Throws `input-unusable` when
 * no kind, or more than one, fits.
 */
export function recogniseFile(
  file: string,
  head: Buffer,
  asked: string | undefined,
  csv: CsvReading = {},
): RecognisedFile {
  const first = firstCharacterOf(head)
  if (first === undefined) throw new ServiceError('input-unusable', 'an empty file')
  const kind = asked ?? kindOfName(file)
  if (first === '<') return xmlFile(head, asked)
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
  const header = readCsvHeader(head, csv.encoding)
  const known = kindOf(kind, mapColumns(header.columns, csv.map))
  return {
    importer: importerOfKind(known, 'csv'),
    form: { name: 'csv', ...header },
    records: (chunks) => csvRows(chunks, header, known.fields, csv),
  }
}

/** Enough of a file to recognise it: its first line, or this much. */
const headBytes = 65_536

/** Whether this is enough of a file to recognise it. */
export function isHeadComplete(head: Buffer): boolean {
  if (head.length >= headBytes) return true
  const first = firstCharacterOf(head)
  if (first === undefined) return false
  if (first === '<') return rootOf(head) !== undefined
  return first === '[' || isWireJson(head.toString('utf8')) || head.includes(0x0a, head.indexOf(first))
}

/** The first character that is not blank, after a byte order mark. */
function firstCharacterOf(head: Buffer): string | undefined {
  return /\S/.exec(new TextDecoder(encodingOf(head)).decode(head))?.[0]
}

/** The local name of an XML document's root. */
function rootOf(head: Buffer): string | undefined {
  return /<(?:[\w.-]+:)?([A-Za-z_][\w.-]*)[\s/>]/.exec(withoutComments(head))?.[1]
}

/** Whether it is HTML, whose element html may be left out. */
function isWebPage(head: Buffer): boolean {
  return (
    rootOf(head)?.toLowerCase() === 'html' ||
    /^[^<]*(?:<\?[^>]*>\s*)*<!doctype\s+html[\s>]/i.test(withoutComments(head))
  )
}

function withoutComments(head: Buffer): string {
  return head.toString('latin1').replace(/<!--[\s\S]*?-->/g, '')
}

const form = { name: 'other' } as const

function xmlFile(head: Buffer, asked: string | undefined): RecognisedFile {
  const root = rootOf(head)
  if (isWebPage(head)) {
    throw new ServiceError('input-unusable', 'a web page (HTML), perhaps one to sign in, and no file of records')
  }
  if ((asked ?? iatiKind) === iatiKind && root === 'iati-organisations') {
    return { importer: iatiOrganisationImporter, form, records: (chunks) => iatiRecords(chunks, root) }
  }
  if (asked === iatiKind || (asked === undefined && root === 'iati-activities')) {
    return { importer: iatiImporter, form, records: (chunks) => iatiRecords(chunks, 'iati-activities') }
  }
  const isOrganisations = root === organisationList.list || root === organisationList.record
  const kind = asked ?? (isOrganisations ? 'organizations' : root === 'feed' ? 'reports' : 'projects')
  if (kind === 'organizations') {
    return { importer: wireOrganisations, form, records: (chunks) => xmlRecords(chunks, organisationList) }
  }
  if (kind === 'projects') return { importer: wireProjects, form, records: (chunks) => xmlRecords(chunks) }
  if (kind === 'reports') return { importer: importerOfKind(reports, 'other'), form, records: atomEntries }
  throw new ServiceError('input-unusable', `an XML file: ${kind} come as CSV or NDJSON`)
}

const wireMember = /^\s*\{\s*"(projects?|organizations?)"\s*:\s*[[{]/

function isWireJson(text: string): boolean {
  return wireMember.test(text.replace(/^\uFEFF/, ''))
}

function wireJson(text: string, asked: string | undefined): RecognisedFile {
  const member = wireMember.exec(text.replace(/^\uFEFF/, ''))?.[1] ?? 'projects'
  const kind = asked ?? (member.startsWith('organization') ? 'organizations' : 'projects')
  if (kind === 'organizations') {
    const records = (chunks: AsyncIterable<Buffer>) => jsonRecords(chunks, valueLimits, organisationList)
    return { importer: wireOrganisations, form, records }
  }
  if (kind === 'projects')
    return { importer: wireProjects, form, records: (chunks) => jsonRecords(chunks, valueLimits, projectList) }
  throw new ServiceError('input-unusable', `a JSON document: ${kind} come as CSV or as NDJSON, one object on each line`)
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

function kindOf(name: string | undefined, columns: readonly string[]): Kind {
  const named = name === undefined ? undefined : findKind(name)
  if (named) return named
  const given = columns.map((column) => column.toLowerCase()).filter((column) => column !== whyColumn && column !== '')
  const fitting = kinds.filter(({ fields }) => {
    const names = Object.keys(fields)
    const lower = names.map((field) => field.toLowerCase())
    const missing = missingFields(fields, (field) => given.includes(field.toLowerCase()))
    return given.every((column) => lower.includes(column)) && missing.length === 0
  })
  const [only, ...others] = fitting
  if (only && others.length === 0) return only
  const names = (fitting.length > 0 ? fitting : kinds).map((kind) => kind.name).join(', ')
  const got = columns.slice(0, 20).join(', ').slice(0, 200)
  throw new ServiceError(
    'input-unusable',
    fitting.length > 0
      ? `a file that may hold ${names}: say which with --kind, or begin its name with it`
      : `columns of no kind (${got}): name one of ${names} with --kind, or begin the file's name with it`,
  )
}
