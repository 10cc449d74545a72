/** The first bytes of a twin; without name and time, so that the same content gives the same bytes. */
export const gzipHead = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 4, 0xff])

/** The last bytes of a twin: CRC-32 and size of the content. */
export function gzipTail(crc: number, bytes: number): Buffer {
  const tail = Buffer.alloc(8)
  tail.writeUInt32LE(crc, 0)
  tail.writeUInt32LE(bytes % 2 ** 32, 4)
  return tail
}

/** The text as an uncompressed deflate block (RFC 1951, 3.2.4), whose size is known beforehand. */
export function storedBlock(text: string, place: 'between' | 'last' = 'between'): Buffer {
  const content = Buffer.from(text)
  const head = Buffer.alloc(5)
  head.writeUInt8(place === 'last' ? 1 : 0, 0)
  head.writeUInt16LE(content.length, 1)
  head.writeUInt16LE(~content.length & 0xffff, 3)
  return Buffer.concat([head, content])
}
