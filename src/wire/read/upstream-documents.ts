import { TextDecoder } from 'node:util'
import { ServiceError } from '../../domain/errors.js'
import { parseElement, type XmlLimits } from '../../xml/reader.js'
import { isObject } from './record-fields.js'
import { fromElement, fromJsonText, type WireObject, type WireValue } from './wire-value.js'

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
export function readDocument(body: Buffer): WireObject {
  const first = firstCharacter(body)
  if (first === '<') {
    const root = parseXml(body)
    return { [root.name]: fromElement(root) }
  }
  if (first !== '{') {
    throw unusable(first === undefined ? 'nothing' : `text that begins with ${JSON.stringify(first)}`)
  }
  const text = decodeUtf8(body)
  if (nestsDeeper(text, documentLimits.depth)) throw unusable(`JSON deeper than ${documentLimits.depth} levels`)
  const reading = fromJsonText(text)
  if ('problem' in reading || !isObject(reading.value)) {
    throw unusable(
      `what is no JSON object (${'problem' in reading ? (reading.problem.got ?? reading.problem.field) : ''})`,
    )
  }
  return reading.value
}

/** The root element of an XML answer. Throws `upstream-unusable`. */
export function parseXml(body: Buffer) {
  try {
    return parseElement(body, documentLimits)
  } catch (error) {
    if (error instanceof ServiceError) throw unusable(error.message)
    throw error
  }
}

/** The first character that is not blank, after a byte order mark. */
export function firstCharacter(body: Buffer): string | undefined {
  return /[^\s\u00ef\u00bb\u00bf]/.exec(body.subarray(0, 1024).toString('latin1'))?.[0]
}

/** The names of a list: what is around the records, a record, and the key of the cursor. */
export type PageNames = { readonly list: string; readonly record: string; readonly cursor: string }

export const projectPage: PageNames = { list: 'projects', record: 'project', cursor: 'nextProjectId' }
export const organisationPage: PageNames = { list: 'organizations', record: 'organization', cursor: 'nextOrgId' }

/** One page of a list, its records not yet read. */
export type Page = {
  readonly records: readonly WireValue[]
  /** Where the next page begins; undefined on the last one. */
  readonly next?: number
  readonly numberFound?: number
}

/**
 * Reads a page (wire.md 4.2, 4.3) as real servers write it: `hasNext` absent or true or text, one record in place
 * of a list, no record at all. Throws `upstream-unusable` for another document.
 */
export function readPage(body: Buffer, names: PageNames): Page {
  const list = readDocument(body)[names.list]
  if (list === '' || list === null) return { records: [] }
  if (list === undefined || !isObject(list)) throw unusable(`a document without ${names.list}`)
  const inner = list[names.record]
  const records: readonly WireValue[] =
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

/** The id of a record that may be unreadable otherwise. */
export function idOf(record: WireValue): number | undefined {
  return isObject(record) ? toCount(record.id) : undefined
}

/** The address in the answer of a `download` operation; undefined when it offers none. */
export function readDownloadLink(body: Buffer): string | undefined {
  const download = readDocument(body).download
  const url = download !== undefined && isObject(download) ? download.url : undefined
  return typeof url === 'string' && url.trim() !== '' ? url.trim() : undefined
}

/** The objects of a wrapper: a list, one object in its place, or nothing. */
export function readList(body: Buffer, wrapper: string, name: string): WireObject[] {
  const list = readDocument(body)[wrapper]
  if (list === undefined) throw unusable(`a document without ${wrapper}`)
  if (!isObject(list)) return []
  const inner = list[name]
  const items: readonly (WireValue | undefined)[] = Array.isArray(inner) ? inner : [inner]
  return items.filter((item): item is WireObject => item !== undefined && isObject(item))
}

function toCount(value: WireValue | undefined): number | undefined {
  if (typeof value !== 'string' || !/^\d{1,15}$/.test(value.trim())) return undefined
  return Number(value)
}

export function decodeUtf8(body: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(body)
  } catch {
    throw unusable('bytes that are not UTF-8')
  }
}

/** Told before parsing: what reads the values is recursive. */
export function nestsDeeper(text: string, limit: number): boolean {
  let depth = 0
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === 0x22) {
      for (at++; at < text.length && text.charCodeAt(at) !== 0x22; at++) if (text.charCodeAt(at) === 0x5c) at++
    } else if (code === 0x7b || code === 0x5b) {
      if (++depth > limit) return true
    } else if (code === 0x7d || code === 0x5d) depth--
  }
  return false
}

export function unusable(what: string): ServiceError {
  return new ServiceError('upstream-unusable', `expected an answer in the wire format, got ${what}`)
}
