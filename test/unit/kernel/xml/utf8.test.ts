import { describe, expect, it } from 'vitest'
import { createUtf8Decoder } from '../../../../src/kernel/xml/utf8.js'

/** What the decoder gives for each chunk and at the end. */
function decoded(...chunks: (string | number[])[]): string[] {
  const decoder = createUtf8Decoder()
  const texts = chunks.map((chunk) => decoder.decode(Buffer.from(chunk as string)))
  return [...texts, decoder.end()]
}

describe('text in UTF-8', () => {
  it.each<[(string | number[])[], string[]]>([
    [['ab'], ['ab', '']],
    [['a<'], ['a<', '']],
    [['aé'], ['aé', '']],
    [
      [[0x61, 0xc3], [0xa9]],
      ['a', 'é', ''],
    ],
    [
      [[0x61, 0xe0], [0xa0], [0x80]],
      ['a', '', '\u0800', ''],
    ],
    [
      [[0x61, 0xe2, 0x80], [0x90]],
      ['a', '\u2010', ''],
    ],
    [
      [
        [0x61, 0xf0],
        [0x9d, 0x84],
        [0x9e, 0x62],
      ],
      ['a', '', '𝄞b', ''],
    ],
    [
      [[0x3c], [0x61]],
      ['', '<a', ''],
    ],
    [[[0x3c]], ['', '<']],
    [[], ['']],
    // Only the first bytes of a document tell UTF-16 from UTF-8.
    [
      ['ab', [0x3c, 0]],
      ['ab', '<\0', ''],
    ],
    [[[0x61, 0]], ['a\0', '']],
    [[[0, 0x61]], ['\0a', '']],
  ])('is given as soon as its characters are whole: %o', (chunks, texts) => {
    expect(decoded(...chunks)).toEqual(texts)
  })

  it('is kept when the caller uses its buffer again', () => {
    const decoder = createUtf8Decoder()
    const buffer = Buffer.from([0x61, 0xc3])
    expect(decoder.decode(buffer)).toBe('a')
    buffer.fill(0x62)
    expect(decoder.decode(Buffer.from([0xa9]))).toBe('é')
  })
})

describe('other bytes', () => {
  const utf16 = 'the document is UTF-16; only UTF-8 is read'
  const wrong = (offset: number) => `the document is not UTF-8: the byte at offset ${offset} is not valid`

  it.each<[number[][], string]>([
    [[[0xff, 0xfe]], utf16],
    [[[0xfe, 0xff]], utf16],
    [[[0x3c, 0]], utf16],
    [[[0, 0x3c]], utf16],
    [[[0], [0x3c]], utf16],
    [[[0xff, 0x61]], wrong(0)],
    [[[0xff, 0xff]], wrong(0)],
    [[[0xfe, 0xfe]], wrong(0)],
    [[[0x61, 0xfe, 0x61]], wrong(1)],
    [[[0x61, 0x80]], wrong(1)],
    [
      [
        [0x61, 0x62],
        [0x63, 0xe2, 0x61],
      ],
      wrong(3),
    ],
    [[[0x61, 0xc3, 0xa9, 0xe0, 0xa0, 0x80, 0xf0, 0x9d, 0x84, 0x9e, 0xff, 0x61]], wrong(10)],
    [[[0x61, 0xed, 0xa0, 0x80]], wrong(1)],
  ])('are refused at once: %o', (chunks, message) => {
    const decoder = createUtf8Decoder()
    const last = chunks.length - 1
    for (const chunk of chunks.slice(0, last)) decoder.decode(Buffer.from(chunk))
    expect(() => decoder.decode(Buffer.from(chunks[last] ?? []))).toThrow(
      expect.objectContaining({ code: 'request-malformed', message }),
    )
  })

  it('are refused at the end of an unfinished character', () => {
    expect(() => decoded([0x61, 0xe2, 0x82])).toThrow(wrong(1))
  })
})
