import { ServiceError } from '../../domain/errors.js'
import type { Element } from '../../xml/element.js'
import { parseElement, type XmlLimits } from '../../xml/reader.js'
import type { ListNames } from '../names.js'
import { parseJson } from './json-reader.js'
import { fromElement, isObject, objectsOf, type ParsedObject, type ParsedValue } from './parsed-value.js'

/** Limits of one answer; its bytes are limited where they are read. */
export const documentLimits: XmlLimits = {
  depth: 64,
  elements: 1_000_000,
  attributes: 100,
  characters: 64 * 1024 * 1024,
}

/**
 * Reads an answer, XML or JSON by its first character (labels are often wrong), as one object whose only key is the
 * root's name. Throws `upstream-unusable` when it is neither, damaged, or not UTF-8.
 */
export function readDocument(body: Buffer): ParsedObject {
  const first = firstCharacter(body)
  if (first === '<') {
    const root = parseXml(body)
    return { [root.name]: fromElement(root) }
  }
  if (first !== '{') {
    throw unusable(first === undefined ? 'nothing' : `text that begins with ${JSON.stringify(first)}`)
  }
  const item = asUpstream(() => parseJson(body, documentLimits))
  if ('value' in item && isObject(item.value)) return item.value
  throw unusable(`JSON that is not accepted: ${'problem' in item ? item.problem.got : 'not an object'}`)
}

/** The root element of an XML answer. Throws `upstream-unusable`. */
export function parseXml(body: Buffer): Element {
  return asUpstream(() => parseElement(body, documentLimits))
}

function asUpstream<T>(parse: () => T): T {
  try {
    return parse()
  } catch (error) {
    if (error instanceof ServiceError) throw unusable(error.message)
    throw error
  }
}

/** The first character that is not blank, after a byte order mark. */
export function firstCharacter(body: Buffer): string | undefined {
  return /[^\s\u00ef\u00bb\u00bf]/.exec(body.subarray(0, 1024).toString('latin1'))?.[0]
}

/** One page of a list, with its records unread. */
export type Page = {
  readonly records: readonly ParsedValue[]
  /** Where the next page begins; undefined on the last one. */
  readonly next?: number
  readonly numberFound?: number
}

/**
 * Reads a page (wire.md 4.2, 4.3) as real servers write it: `hasNext` may be absent, a boolean or a text, and one record may
 * stand in place of a list. Throws `upstream-unusable` for another document.
 */
export function readPage(body: Buffer, names: ListNames): Page {
  const list = readDocument(body)[names.list]
  if (list === '' || list === null) return { records: [] }
  if (!isObject(list)) throw unusable(`a document without ${names.list}`)
  const inner = list[names.record]
  const records: readonly ParsedValue[] =
    inner === undefined || inner === null || inner === '' ? [] : Array.isArray(inner) ? inner : [inner]
  const hasNext = list.hasNext === undefined ? undefined : String(list.hasNext).trim() === 'true'
  const stated = toCount(list[names.cursor])
  if (hasNext && stated === undefined) throw unusable(`a page that has a next one but no ${names.cursor}`)
  const numberFound = toCount(list.numberFound)
  return {
    records,
    ...(hasNext !== false && stated !== undefined && { next: stated }),
    ...(numberFound !== undefined && { numberFound }),
  }
}

/** The id of a record, whether or not the rest of it can be read. */
export function idOf(record: ParsedValue): number | undefined {
  return isObject(record) ? toCount(record.id) : undefined
}

/** The address in the answer of a `download` operation; undefined when it offers none. */
export function readDownloadLink(body: Buffer): string | undefined {
  const download = readDocument(body).download
  const url = isObject(download) ? download.url : undefined
  return typeof url === 'string' && url.trim() !== '' ? url.trim() : undefined
}

/** The objects of a wrapper: a list, one object in its place, or nothing. */
export function readList(body: Buffer, wrapper: string, name: string): ParsedObject[] {
  const list = readDocument(body)[wrapper]
  if (list === undefined) throw unusable(`a document without ${wrapper}`)
  if (!isObject(list)) return []
  return objectsOf(list[name])
}

function toCount(value: ParsedValue | undefined): number | undefined {
  if (typeof value !== 'string' || !/^\d{1,15}$/.test(value.trim())) return undefined
  return Number(value)
}

export function unusable(what: string): ServiceError {
  return new ServiceError('upstream-unusable', `expected an answer in the wire format, got ${what}`)
}
