import { describe, expect, it } from 'vitest'
import { convertToUtf8 } from '../../../src/xml/encoding.js'

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
  it.each<[string, Buffer, string]>([
    ['an unknown encoding', Buffer.from(declaring('x-none', '<a/>')), 'x-none, which cannot be decoded'],
    ['UTF-7', Buffer.from(declaring('UTF-7', '<a/>')), 'UTF-7'],
    ['UTF-32', Buffer.from([0, 0, 0xfe, 0xff, 0, 0, 0, 0x3c]), 'UTF-32'],
    ['EBCDIC', Buffer.from([0x4c, 0x6f, 0xa7, 0x94]), 'EBCDIC'],
    ['bytes that are not UTF-16 as declared', Buffer.from(declaring('UTF-16', '<a/>')), 'UTF-16'],
    ['UTF-16 that declares another encoding', Buffer.from(`\uFEFF${declaring('UTF-8', '<a/>')}`, 'utf16le'), 'UTF-8'],
    ['marked UTF-8 that declares another encoding', Buffer.from(`\uFEFF${declaring('koi8-r', '<a/>')}`), 'koi8-r'],
    ['half a surrogate pair', Buffer.from('\uFEFF<a>\uD834</a>', 'utf16le'), 'not UTF-16'],
    ['half a character at the end', Buffer.from('\uFEFF<a/>', 'utf16le').subarray(0, -1), 'not UTF-16'],
    ['a byte above ASCII', Buffer.from(declaring('us-ascii', '<a>é</a>')), 'offset 44'],
    ['a byte that windows-1252 does not have', Buffer.from(declaring('cp1252', '<a>\u0081</a>'), 'latin1'), 'cp1252'],
  ])('for %s', async (_what, bytes, reason) => {
    await expect(converted(bytes)).rejects.toMatchObject({
      code: 'request-malformed',
      message: expect.stringContaining(reason),
    })
  })
})
