// Without name and time, so that the same content gives the same bytes.
const gzipHead = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 4, 0xff])

/** A twin up to its records. */
export function startOfTwin(head: string): Buffer {
  return head === '' ? gzipHead : Buffer.concat([gzipHead, storedBlock(head, 'between')])
}

/** A twin behind its records; CRC-32 and size are those of the whole content. */
export function endOfTwin(tail: string, crc: number, bytes: number): Buffer {
  const check = Buffer.alloc(8)
  check.writeUInt32LE(crc, 0)
  check.writeUInt32LE(bytes % 2 ** 32, 4)
  return Buffer.concat([storedBlock(tail, 'last'), check])
}

/** The text as an uncompressed deflate block (RFC 1951, 3.2.4), whose size is known beforehand. */
function storedBlock(text: string, place: 'between' | 'last'): Buffer {
  const content = Buffer.from(text)
  const head = Buffer.alloc(5)
  head.writeUInt8(place === 'last' ? 1 : 0, 0)
  head.writeUInt16LE(content.length, 1)
  head.writeUInt16LE(~content.length & 0xffff, 3)
  return Buffer.concat([head, content])
}
