import { crc32 } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { innerCrc, joinedCrc } from '../../../src/release/bytes/crc.js'

const texts = ['', 'a', '<iati-activities>\n', 'ö'.repeat(1_000), '\0'.repeat(70_000)]

describe('the CRC-32 of texts that are not read again', () => {
  it.each(texts.map((text) => [text.slice(0, 5), text]))('is that of the texts around %j', (_name, text) => {
    const [bytes, crc] = [Buffer.byteLength(text), crc32(text)]
    for (const head of texts) {
      for (const tail of texts) {
        const whole = crc32(head + text + tail)
        expect(joinedCrc([head, { crc, bytes }, tail])).toBe(whole)
        expect(joinedCrc([{ crc: crc32(head), bytes: Buffer.byteLength(head) }, text, tail])).toBe(whole)
        expect(innerCrc(whole, bytes, { head, tail })).toBe(crc)
      }
    }
  })

  it('is that of more bytes than a CRC-32 has values', () => {
    const parts = Array.from({ length: 5 }, () => ({ crc: crc32('a'), bytes: 2 ** 30 + 1 }))
    const [first, ...others] = parts
    if (!first) throw new Error('no parts')
    // Joined from the right, the last four are one text of more than 2^32 bytes.
    const right = joinedCrc(others)
    expect(joinedCrc([first, { crc: right, bytes: 4 * (2 ** 30 + 1) }])).toBe(joinedCrc(parts))
  })
})
