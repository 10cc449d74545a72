import { describe, expect, it } from 'vitest'
import { convertToUtf8 } from '../../../../src/kernel/xml/encoding.js'

async function converted(...chunks: Buffer[]): Promise<string> {
  async function* from() {
    yield* chunks
  }
  const parts: Buffer[] = []
  for await (const part of convertToUtf8(from())) parts.push(part)
  return Buffer.concat(parts).toString('utf8')
}

const declaring = (encoding: string, text: string) => `<?xml version="1.0" encoding="${encoding}"?>${text}`
const utf16be = (text: string) => Buffer.from(text, 'utf16le').swap16()

const readable: readonly [what: string, bytes: Buffer, text: string][] = [
  ['UTF-8 without a declaration', Buffer.from('<a>é𝄞</a>'), '<a>é𝄞</a>'],
  ['UTF-8 with a mark', Buffer.from('\uFEFF<a>é</a>'), '\uFEFF<a>é</a>'],
  ['UTF-16 in little-endian order', Buffer.from('\uFEFF<a>é𝄞</a>', 'utf16le'), '<a>é𝄞</a>'],
  ['UTF-16 in big-endian order', utf16be('\uFEFF<a>é𝄞</a>'), '<a>é𝄞</a>'],
  [
    'declared UTF-16 without a mark',
    Buffer.from(declaring('UTF-16', '<a>é</a>'), 'utf16le'),
    declaring('UTF-16', '<a>é</a>'),
  ],
  ['declared UTF-16BE', utf16be(declaring('utf-16be', '<a>é</a>')), declaring('utf-16be', '<a>é</a>')],
  [
    'ISO-8859-1, controls included',
    Buffer.from(declaring('ISO-8859-1', '<a>é\u0080</a>'), 'latin1'),
    declaring('ISO-8859-1', '<a>é\u0080</a>'),
  ],
  [
    'windows-1252',
    Buffer.from(declaring('Windows-1252', '<a>é\u0080\u0093</a>'), 'latin1'),
    declaring('Windows-1252', '<a>é€“</a>'),
  ],
  [
    'ISO-8859-15',
    Buffer.from(declaring('iso-8859-15', '<a>\u00A4</a>'), 'latin1'),
    declaring('iso-8859-15', '<a>€</a>'),
  ],
  [
    'Shift_JIS',
    Buffer.concat([Buffer.from(declaring('Shift_JIS', '<a>')), Buffer.from([0x93, 0xfa]), Buffer.from('</a>')]),
    declaring('Shift_JIS', '<a>日</a>'),
  ],
  [
    'ASCII, up to its last character',
    Buffer.from(declaring('ascii', '<a>\u007F</a>')),
    declaring('ascii', '<a>\u007F</a>'),
  ],
  ['US-ASCII', Buffer.from(declaring('US-ASCII', '<a/>')), declaring('US-ASCII', '<a/>')],
  ['no byte at all', Buffer.alloc(0), ''],
]

describe('a document is converted to UTF-8', () => {
  it.each(readable)('from %s', async (_what, bytes, text) => {
    expect(await converted(bytes)).toBe(text)
  })

  it.each(readable)('from %s, wherever its chunks are cut', async (_what, bytes, text) => {
    for (let cut = 1; cut < bytes.length; cut += 1) {
      expect(await converted(bytes.subarray(0, cut), bytes.subarray(cut))).toBe(text)
    }
  })
})

describe('a document is refused', () => {
  const contradicts = (declared: string, actual: string) =>
    `the document declares the encoding ${declared}, but its bytes are ${actual}`
  const unknown = (name: string) => `the encoding of the document is ${name}, which cannot be decoded`
  const invalid = (name: string, offset: number) =>
    `the document is not ${name}: a byte at offset ${offset} or after it is not valid`
  const marked = (encoding: string) => `\uFEFF${declaring(encoding, '<a/>')}`

  it.each<[string, Buffer, string]>([
    ['an unknown encoding', Buffer.from(declaring('x-none', '<a/>')), unknown('x-none')],
    ['UTF-7', Buffer.from(declaring('UTF-7', '<a/>')), unknown('UTF-7')],
    ['marked UTF-32', Buffer.from([0, 0, 0xfe, 0xff, 0, 0, 0, 0x3c]), unknown('UTF-32')],
    ['marked UTF-32 in little-endian order', Buffer.from([0xff, 0xfe, 0, 0]), unknown('UTF-32')],
    ['UTF-32', Buffer.from([0, 0, 0, 0x3c]), unknown('UTF-32')],
    ['UTF-32 in little-endian order', Buffer.from([0x3c, 0, 0, 0]), unknown('UTF-32')],
    ['EBCDIC', Buffer.from([0x4c, 0x6f, 0xa7, 0x94]), unknown('EBCDIC')],
    [
      'bytes that are not UTF-16 as declared',
      Buffer.from(declaring('UTF-16', '<a/>')),
      contradicts('UTF-16', 'of one byte a character'),
    ],
    ['UTF-16 that declares another encoding', Buffer.from(marked('UTF-8'), 'utf16le'), contradicts('UTF-8', 'UTF-16')],
    ['big-endian UTF-16 that declares another encoding', utf16be(marked('UTF-8')), contradicts('UTF-8', 'UTF-16')],
    [
      'UTF-16 that declares one of a similar name',
      Buffer.from(marked('x-utf-16'), 'utf16le'),
      contradicts('x-utf-16', 'UTF-16'),
    ],
    [
      'UTF-16 that declares one of a longer name',
      Buffer.from(marked('utf-16x'), 'utf16le'),
      contradicts('utf-16x', 'UTF-16'),
    ],
    ['marked UTF-8 that declares another encoding', Buffer.from(marked('koi8-r')), contradicts('koi8-r', 'UTF-8')],
    ['half a surrogate pair', Buffer.from('\uFEFF<a>\uD834</a>', 'utf16le'), invalid('UTF-16', 0)],
    ['half a big-endian pair', utf16be('\uFEFF<a>\uD834</a>'), invalid('UTF-16', 0)],
    ['half a character at the end', Buffer.from('\uFEFF<a/>', 'utf16le').subarray(0, -1), invalid('UTF-16', 9)],
    ['a byte above ASCII', Buffer.from(declaring('us-ascii', '<a>\u007Fé</a>')), invalid('us-ascii', 45)],
    ['a byte above ASCII by its other name', Buffer.from(declaring('ascii', '<a>é</a>')), invalid('ascii', 41)],
    [
      'a byte that windows-1252 does not have',
      Buffer.from(declaring('cp1252', '<a>\u0081</a>'), 'latin1'),
      invalid('cp1252', 0),
    ],
  ])('for %s', async (_what, bytes, message) => {
    await expect(converted(bytes)).rejects.toMatchObject({ code: 'request-malformed', message })
  })

  it.each([
    ['us-ascii', 64],
    ['cp1252', 63],
    ['shift_jis', 65],
  ] as const)('at the offset of the wrong byte of a later chunk, in %s', async (encoding, offset) => {
    const head = declaring(encoding, '<a>').padEnd(60, '.')
    const chunks = [head, '...', '.\u0081', '\u00FF\u00FF'].map((text) => Buffer.from(text, 'latin1'))
    await expect(converted(...chunks)).rejects.toThrow(`at offset ${offset} `)
  })
})

describe('a document without a mark', () => {
  it.each([
    [[0x61, 0, 0x62, 0]],
    [[0x3c, 0x61, 0x62, 0]],
    [[0x3c, 0, 0x61, 0x62]],
    [[0x61, 0x3c, 0, 0x61]],
    [[0, 0x61, 0, 0x61]],
    [[0, 0x3c, 0x61, 0x61]],
    [[0, 0x3c, 0, 0]],
  ])('is not UTF-16 where it begins with the bytes %o', async (bytes) => {
    expect(await converted(Buffer.from(bytes))).toBe(Buffer.from(bytes).toString())
  })

  it('is decoded as soon as its declaration must have ended', async () => {
    async function* from() {
      yield Buffer.from('x'.repeat(1024))
      throw new Error('read on')
    }
    const first = await convertToUtf8(from()).next()
    expect(first.value).toHaveLength(1024)
  })
})
