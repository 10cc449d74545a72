import { isAscii } from 'node:buffer'
import { TextDecoder } from 'node:util'
import { ServiceError } from '../errors.js'

// The declaration ends within so many bytes, in UTF-16 as well.
const mostDeclarationBytes = 1024
const declarationPattern = /^\uFEFF?\s*<\?xml\s[^>]*?\sencoding\s*=\s*["']([A-Za-z][\w.-]*)["'][^>]*\?>/

/**
 * Converts the bytes of an XML document to UTF-8. The encoding is found as XML 1.0 Appendix F describes: from a byte order
 * mark, the first bytes, and the declaration. An encoding that is not known, a declaration that contradicts the bytes,
 * and bytes that are not valid in the encoding throw `request-malformed`. UTF-8 passes through as it is.
 */
export async function* convertToUtf8(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let decode: Decode | undefined
  let head: Buffer = Buffer.alloc(0)
  for await (const chunk of chunks) {
    if (decode) {
      yield decode(chunk)
      continue
    }
    head = head.length === 0 ? chunk : Buffer.concat([head, chunk])
    if (head.length < mostDeclarationBytes && !head.includes('>')) continue
    decode = decoderOf(head)
    yield decode(head)
  }
  if (!decode) {
    decode = decoderOf(head)
    yield decode(head)
  }
  yield decode(undefined)
}

/** Converts a chunk; undefined ends the document. */
type Decode = (chunk: Buffer | undefined) => Buffer

function decoderOf(head: Buffer): Decode {
  const family = familyOf(head)
  const start = head.subarray(0, mostDeclarationBytes)
  const text = family === 'utf-16be' ? Buffer.from(start.subarray(0, start.length & ~1)).swap16() : start
  const declared = declarationPattern.exec(text.toString(family.startsWith('utf-16') ? 'utf16le' : 'utf8'))?.[1]
  if (family === 'utf-16le' || family === 'utf-16be') {
    if (declared !== undefined && !isUtf16(declared)) throw contradiction(declared, 'UTF-16')
    return throughTextDecoder(family, 'UTF-16')
  }
  const name = declared?.toLowerCase() ?? 'utf-8'
  if (name === 'utf-8') return asItIs
  if (declared === undefined || isUtf16(declared)) throw contradiction(declared ?? '', 'of one byte a character')
  if (family === 'utf-8') throw contradiction(declared, 'UTF-8')
  if (name === 'us-ascii' || name === 'ascii') return refuseOthers(declared)
  if (latin1Names.has(name)) return (chunk) => (chunk ? Buffer.from(chunk.toString('latin1')) : noBytes)
  return windows1252Names.has(name) ? fromWindows1252(declared) : throughTextDecoder(name, declared)
}

const noBytes = Buffer.alloc(0)
// TextDecoder reads ISO-8859-1 as windows-1252 (Encoding Standard), and windows-1252 as ISO-8859-1 (Node 20): both are
// decoded here.
const latin1Names = new Set(['iso-8859-1', 'iso_8859-1', 'latin1', 'l1', 'cp819', 'ibm819'])
const windows1252Names = new Set(['windows-1252', 'cp1252', 'x-cp1252'])
// The characters of the bytes 80 to 9F; the five bytes that windows-1252 does not define are U+FFFD.
const windows1252 = '€\uFFFD‚ƒ„…†‡ˆ‰Š‹Œ\uFFFDŽ\uFFFD\uFFFD‘’“”•–—˜™š›œ\uFFFDžŸ'

function fromWindows1252(declared: string): Decode {
  let offset = 0
  return (chunk = noBytes) => {
    const text = chunk
      .toString('latin1')
      .replace(/[\x80-\x9F]/g, (control) => windows1252[control.charCodeAt(0) - 0x80] ?? control)
    if (text.includes('\uFFFD')) throw invalid(declared, offset)
    offset += chunk.length
    return Buffer.from(text)
  }
}

function isUtf16(declared: string): boolean {
  return /^(?:utf-16(?:le|be)?|iso-10646-ucs-2)$/i.test(declared)
}

/** What the first bytes tell of the encoding; `ascii` for every encoding that contains ASCII, marked UTF-8 aside. */
function familyOf(head: Buffer): 'utf-16le' | 'utf-16be' | 'utf-8' | 'ascii' {
  const [a, b, c, d] = head
  const starts = (...bytes: number[]) => bytes.every((byte, index) => head[index] === byte)
  if (starts(0, 0, 0xfe, 0xff) || starts(0xff, 0xfe, 0, 0)) throw unknown('UTF-32')
  if (starts(0, 0, 0, 0x3c) || starts(0x3c, 0, 0, 0)) throw unknown('UTF-32')
  if (starts(0x4c, 0x6f, 0xa7, 0x94)) throw unknown('EBCDIC')
  if (starts(0xff, 0xfe) || (a === 0x3c && b === 0 && d === 0)) return 'utf-16le'
  if (starts(0xfe, 0xff) || (a === 0 && b === 0x3c && c === 0 && d !== 0)) return 'utf-16be'
  return starts(0xef, 0xbb, 0xbf) ? 'utf-8' : 'ascii'
}

function asItIs(chunk: Buffer | undefined): Buffer {
  return chunk ?? noBytes
}

function refuseOthers(declared: string): Decode {
  let offset = 0
  return (chunk = noBytes) => {
    if (!isAscii(chunk)) throw invalid(declared, offset + chunk.findIndex((byte) => byte > 0x7f))
    offset += chunk.length
    return chunk
  }
}

function throughTextDecoder(label: string, declared: string): Decode {
  let decoder: TextDecoder
  try {
    decoder = new TextDecoder(label, { fatal: true })
  } catch {
    throw unknown(declared)
  }
  let offset = 0
  return (chunk) => {
    try {
      const text = chunk ? decoder.decode(chunk, { stream: true }) : decoder.decode()
      offset += chunk?.length ?? 0
      return Buffer.from(text)
    } catch {
      throw invalid(declared, offset)
    }
  }
}

function malformed(what: string): ServiceError {
  return new ServiceError('request-malformed', what)
}

function unknown(name: string): ServiceError {
  return malformed(`the encoding of the document is ${name}, which cannot be decoded`)
}

function contradiction(declared: string, actual: string): ServiceError {
  return malformed(`the document declares the encoding ${declared}, but its bytes are ${actual}`)
}

function invalid(declared: string, offset: number): ServiceError {
  return malformed(`the document is not ${declared}: a byte at offset ${offset} or after it is not valid`)
}
