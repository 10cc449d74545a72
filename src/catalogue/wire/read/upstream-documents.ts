import { ServiceError } from '../../../kernel/errors.js'
import type { Attributes, Element } from '../../../kernel/xml/element.js'
import { type StreamOptions, streamElements, type XmlLimits } from '../../../kernel/xml/reader.js'
import type { ListNames } from '../names.js'
import { parseLargeJson } from './json-reader.js'
import {
  fromContent,
  fromElement,
  isObject,
  objectsOf,
  type ParsedObject,
  type ParsedValue,
  type ValueLimits,
  valueLimits,
} from './parsed-value.js'

// Elements, attributes and JSON members of one answer; a page of 100 projects has some 13,000. Its bytes are limited where
// it is fetched.
const mostNodes = 200_000
const jsonLimits: ValueLimits = { depth: 64, elements: mostNodes, characters: 64 * 1024 * 1024 }
const childLimits: XmlLimits = { ...jsonLimits, elements: valueLimits.elements, attributes: 100 }

/**
 * Reads an answer, XML or JSON by its first character (labels are often wrong), as one object whose only key is the
 * root's name. Yields to other work. Throws `upstream-unusable` when the answer is neither, damaged, too
 * large, or not UTF-8.
 */
export async function readDocument(body: Buffer): Promise<ParsedObject> {
  const first = firstCharacter(body)
  if (first === '<') return await readXml(body)
  if (first !== '{') {
    throw unusable(first === undefined ? 'nothing' : `text that begins with ${JSON.stringify(first)}`)
  }
  const item = await asUpstream(() => parseLargeJson(body, jsonLimits))
  if ('value' in item && isObject(item.value)) return item.value
  throw unusable(`JSON that is not accepted: ${'problem' in item ? item.problem.expected : 'not an object'}`)
}

async function readXml(body: Buffer): Promise<ParsedObject> {
  const document = await parseXml(body, ({ name, ...child }) => [name, fromElement({ name, ...child })] as const)
  return { [document.name]: fromContent(document.attributes, document.children, document.text) }
}

/** An XML answer: its root and what `read` makes of each child. */
export type XmlAnswer<Child> = {
  readonly name: string
  readonly attributes: Attributes
  readonly children: readonly Child[]
  /** Text beside the children, shortened to a word. */
  readonly text: string
}

/** Reads an XML answer, yielding to other work. Throws `upstream-unusable`. */
export async function parseXml<Child>(
  body: Buffer,
  read: (child: Element) => Child,
  isMixed = false,
): Promise<XmlAnswer<Child>> {
  const answer = { name: '', attributes: {} as Attributes, text: '' }
  const children: Child[] = []
  let nodes = 0
  await asUpstream(async () => {
    const options: StreamOptions = {
      limits: childLimits,
      isMixed,
      onRoot: (name, attributes) => Object.assign(answer, { name, attributes }),
      onStrayText: () => {
        answer.text = 'text'
      },
    }
    for await (const child of streamElements(inOnePiece(body), options)) {
      nodes += countNodes(child)
      if (nodes > mostNodes) throw unusable(`XML with more than ${mostNodes} elements and attributes`)
      children.push(read(child))
    }
  })
  return { ...answer, children }
}

async function* inOnePiece(body: Buffer): AsyncGenerator<Buffer> {
  yield body
}

function countNodes({ attributes, children }: Element): number {
  return children.reduce((sum, child) => sum + countNodes(child), 1 + Object.keys(attributes).length)
}

async function asUpstream<T>(parse: () => Promise<T>): Promise<T> {
  try {
    return await parse()
  } catch (error) {
    if (error instanceof ServiceError && error.code !== 'upstream-unusable') throw unusable(error.message)
    throw error
  }
}

/** The first character that is not blank, after a byte order mark; also of UTF-16, whose other bytes are zero. */
export function firstCharacter(body: Buffer): string | undefined {
  return /[^\s\0\u00ef\u00bb\u00bf\u00ff\u00fe]/.exec(body.subarray(0, 1024).toString('latin1'))?.[0]
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
export async function readPage(body: Buffer, names: ListNames): Promise<Page> {
  const list = (await readDocument(body))[names.list]
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
export async function readDownloadLink(body: Buffer): Promise<string | undefined> {
  const { download } = await readDocument(body)
  const url = isObject(download) ? download.url : undefined
  return typeof url === 'string' && url.trim() !== '' ? url.trim() : undefined
}

/** The objects of a wrapper: a list, one object in its place, or nothing. */
export async function readList(body: Buffer, wrapper: string, name: string): Promise<ParsedObject[]> {
  const list = (await readDocument(body))[wrapper]
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
