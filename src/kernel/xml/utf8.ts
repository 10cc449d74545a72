import { isUtf8 } from 'node:buffer'
import { ServiceError } from '../errors.js'

const noBytes = Buffer.alloc(0)

/**
 * Turns the byte chunks of one document into text. Only UTF-8 is read; anything else is
 * `request-malformed`, naming the offset of the first wrong byte, never a silent U+FFFD.
 */
export type Utf8Decoder = {
  /** The text of the bytes so far that are whole characters. */
  decode(chunk: Buffer): string
  /** Ends the document and returns what was still held back; an unfinished character is an error. */
  end(): string
}

export function createUtf8Decoder(): Utf8Decoder {
  let carried = noBytes
  let offset = 0
  let started = false

  return {
    decode(chunk) {
      const bytes = carried.length === 0 ? chunk : Buffer.concat([carried, chunk])
      if (!started) {
        if (bytes.length < 2) {
          carried = Buffer.from(bytes)
          return ''
        }
        started = true
        refuseUtf16(bytes)
      }
      const whole = bytes.length - unfinishedTail(bytes)
      const complete = bytes.subarray(0, whole)
      // Copied: the caller may reuse its buffer.
      carried = whole === bytes.length ? noBytes : Buffer.from(bytes.subarray(whole))
      if (!isUtf8(complete)) throw notUtf8(offset + firstInvalid(complete))
      offset += whole
      return complete.toString()
    },
    end() {
      if (!isUtf8(carried)) throw notUtf8(offset)
      return carried.toString()
    },
  }
}

function notUtf8(offset: number): ServiceError {
  return new ServiceError('request-malformed', `the document is not UTF-8: the byte at offset ${offset} is not valid`)
}

function refuseUtf16(bytes: Buffer): void {
  const first = bytes[0]
  const second = bytes[1]
  const marked = (first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff)
  // Without a mark, the `<` that begins every document shows as one zero and one non-zero byte.
  const unmarked = (first === 0x3c && second === 0) || (first === 0 && second === 0x3c)
  if (marked || unmarked) throw new ServiceError('request-malformed', 'the document is UTF-16; only UTF-8 is read')
}

/** How many bytes at the end are the beginning of a character that the next chunk may finish. */
function unfinishedTail(bytes: Buffer): number {
  for (let back = 1; back <= 3; back += 1) {
    const byte = bytes[bytes.length - back] ?? 0
    if (byte < 0x80) return 0
    if (byte >= 0xc0) return sequenceLength(byte) > back ? back : 0
  }
  return 0
}

function sequenceLength(lead: number): number {
  if (lead >= 0xf0) return 4
  return lead >= 0xe0 ? 3 : 2
}

/** The offset of the first character that is not valid. */
function firstInvalid(bytes: Buffer): number {
  let at = 0
  while (at < bytes.length) {
    const lead = bytes[at] ?? 0
    const length = lead < 0x80 ? 1 : sequenceLength(lead)
    if (!isUtf8(bytes.subarray(at, at + length))) return at
    at += length
  }
  return at
}
