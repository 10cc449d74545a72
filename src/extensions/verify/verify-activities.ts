import { hash, randomInt } from 'node:crypto'
import {
  objectType,
  ofOthers,
  readObject,
  type TypeOf,
  textType,
  utcType,
  wholeType,
} from '../../kernel/read-object.js'
import { elementJson } from '../../kernel/xml/element-json.js'
import { parseElement, recordLimits } from '../../kernel/xml/reader.js'
import { jsonOf } from '../../platform/outgoing/http-client.js'
import type { AddressAnswer, ReadOptions } from './read-address.js'

/** What the signed index says of an activity, as far as a document of it is checked by it. */
type IndexEntry = TypeOf<typeof entryShape>

const entryShape = objectType({ identifier: textType(1), length: wholeType(), hash: textType(), changed: utcType })

/** A random sample of the lines of a list, so that nobody knows beforehand which are compared. */
export class ActivitySample {
  /** Lines that were offered. */
  of = 0
  readonly lines: string[] = []
  readonly #size: number

  constructor(size: number) {
    this.#size = size
  }

  offer(line: string): void {
    const at = this.of++ < this.#size ? this.lines.length : randomInt(this.of)
    if (at < this.#size) this.lines[at] = line
  }
}

/** Whether a line of the index is that of an activity. */
export function isEntry(line: string): boolean {
  return line.startsWith('{"identifier":')
}

/** The entry of a line; undefined when it is not one. */
export function readEntry(line: string): IndexEntry | undefined {
  return readObject(entryShape, jsonOf(line.replace(/,$/, '')), ofOthers).value
}

type Read = (address: string, options: Pick<ReadOptions, 'maxBytes' | 'keep'>) => Promise<AddressAnswer>
type Fault = { readonly address: string; readonly answer: AddressAnswer; readonly expected: string }

// More than the declaration, the root and `last-updated-datetime` have.
const envelopeBytes = 1_000

/**
 * Compares the documents of one activity (iati.md 14.4), in XML and in JSON, with its entry. Nothing may differ: the time in the
 * root and in the record is that of the entry, and the rest of the record has its hash. Returns the first that differs.
 */
export async function findAltered(entry: IndexEntry, read: Read): Promise<Fault | undefined> {
  const base = `/iati/activities/${encodeURIComponent(entry.identifier)}`
  const xml = await read(`${base}.xml`, { maxBytes: entry.length + envelopeBytes, keep: true })
  const [expected, text] = [`sha256 ${entry.hash} of the record, changed ${entry.changed}`, xml.text ?? '']
  if (xml.status !== 200 || !isDocumentOf(entry, text)) return { address: `${base}.xml`, answer: xml, expected }
  const root = parseElement(text, recordLimits)
  const made = `${JSON.stringify({ [root.name]: elementJson(root) })}\n`
  const json = await read(`${base}.json`, { maxBytes: Buffer.byteLength(made) + 1, keep: true })
  if (json.status !== 200 || json.text !== made)
    return { address: `${base}.json`, answer: json, expected: `sha256 ${hash('sha256', made)}, as the XML says` }
  return undefined
}

function isDocumentOf({ hash: recordHash, changed }: IndexEntry, text: string): boolean {
  const open = '<iati-activity '
  const head = `<?xml version="1.0" encoding="UTF-8"?>\n<iati-activities version="2.03" generated-datetime="${changed}">\n${open}last-updated-datetime="${changed}" `
  const tail = '\n</iati-activities>\n'
  if (!text.startsWith(head) || !text.endsWith(tail)) return false
  return hash('sha256', open + text.slice(head.length, -tail.length), 'base64url') === recordHash
}
