// biome-ignore-all lint/suspicious/noControlCharactersInRegex: XML forbids control characters
import fc from 'fast-check'
import { XMLParser } from 'fast-xml-parser'
import { describe, expect, it } from 'vitest'
import { type Element, element as elementOf, textElement } from '../../../../src/kernel/xml/element.js'
import { type Fields, parseFields } from '../../../../src/kernel/xml/fields.js'
import { parseElement } from '../../../../src/kernel/xml/reader.js'
import { writeElement } from '../../../../src/kernel/xml/writer.js'

const read = (text: string) =>
  parseFields(Buffer.from(text), { depth: 64, elements: 10_000, attributes: 100, characters: 65_536 })
type FieldValue = Fields['value']

/** What the strict reader alone makes of the same document. */
function byElements(element: Element): FieldValue {
  if (element.children.length === 0) return element.text
  const fields = Object.create(null) as Record<string, FieldValue | FieldValue[]>
  for (const child of element.children) {
    const value = byElements(child)
    const earlier = fields[child.name]
    fields[child.name] = earlier === undefined ? value : Array.isArray(earlier) ? [...earlier, value] : [earlier, value]
  }
  return fields
}

/** What the lenient parser makes of the document with its texts in their places. */
function byLenientParser(root: Element): FieldValue {
  const plain = ({ name, children, text }: Element): Element =>
    children.length > 0 ? elementOf(name, undefined, children.map(plain)) : textElement(name, text)
  const parser = new XMLParser({
    ...{ ignoreAttributes: true, parseTagValue: false, trimValues: false, processEntities: true, htmlEntities: true },
  })
  return parser.parse(writeElement(plain(root)))[root.name] ?? ''
}

const escapeMarkup = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
const legal = fc
  .string({ unit: 'binary', maxLength: 12 })
  .map((text) => text.replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, ''))

const layoutAroundSection = /^[ \t\r\n]*(?:<!\[CDATA\[(?:(?!\]\]>).)*\]\]>)+[ \t\r\n]*$/s

// Comments and instructions, but for those that are the text of a section.
const markup = /<!\[CDATA\[.*?\]\]>|<!--.*?-->|<\?.*?\?>/gs
const onlySections = (part: string) => (part.startsWith('<![') ? '<![CDATA[]]>' : '')

// Every way to write a piece of text that a client may use.
const someText = fc
  .array(
    fc.oneof(
      legal.map(escapeMarkup),
      fc
        .string({ unit: fc.constantFrom('<', '>', '&', ']', 'a', ' ', '\n', '"', ';', '#'), maxLength: 8 })
        .map(escapeMarkup),
      legal.filter((text) => !text.includes(']]>')).map((text) => `<![CDATA[${text}]]>`),
      fc.constantFrom(
        '<![CDATA[<b>&amp;&#65;</b>]]>',
        '<![CDATA[]]>',
        '<![CDATA[]]]]><![CDATA[>]]>',
        '<![CDATA[<!--]]>',
      ),
      fc.constantFrom('&#65;', '&#x1F600;', '&#x3c;', '&#38;amp;', '&amp;lt;', '&#13;', '\r\n', '\r', ' 007 ', '1e3'),
      fc.constantFrom('<!-- <x> & -->', '<?pi <y>?>', '<!-- a > b -->', '<?xml-stylesheet href="a>b"?>'),
    ),
    { maxLength: 5 },
  )
  .map((parts) => parts.join(''))
  // The one thing that the strict reader cannot tell apart has a test of its own.
  .filter((text) => !layoutAroundSection.test(text.replace(markup, onlySections).replaceAll('&#13;', '\r')))

const name = fc.constantFrom(
  'a',
  'b',
  'user',
  'api_key',
  'É-1',
  'stop.node',
  'toString_',
  'script',
  'length',
  '_',
  'valueOf1',
)
const attributes = fc.constantFrom(
  '',
  ' x="1"',
  ` x='">' y="a/>b"`,
  ' xml:lang="en"',
  ' x="&lt;b/&gt;"',
  '\n\tx = "]]>"\n',
  ' ',
)
const tree: fc.Arbitrary<string> = fc.letrec<{ node: string }>((tie) => ({
  node: fc.oneof(
    { depthSize: 'small' },
    fc.tuple(name, attributes, someText).map(([tag, extra, text]) => `<${tag}${extra}>${text}</${tag}>`),
    fc.tuple(name, attributes).map(([tag, extra]) => `<${tag}${extra}/>`),
    fc
      .tuple(
        name,
        attributes,
        fc.array(fc.oneof(tie('node'), fc.constantFrom(' ', '\n', '<!--x-->')), { maxLength: 4 }),
      )
      .map(([tag, extra, children]) => `<${tag}${extra}>${children.join('')}</${tag} >`),
  ),
})).node
const document = fc
  .tuple(fc.constantFrom('', '\uFEFF', '<?xml version="1.0" encoding="UTF-8"?>\n', '<!-- x -->\n'), tree)
  .map((parts) => parts.join(''))

describe('the fields of a request body', () => {
  it('are texts by name, as they were written', () => {
    expect(
      read('<?xml version="1.0"?><r a="1"><n> 007 </n><t>&amp;lt;&#65;<![CDATA[<b>&amp;]]></t><e/><e>2</e></r>'),
    ).toEqual({ root: 'r', value: { n: ' 007 ', t: '&lt;A<b>&amp;', e: ['', '2'] } })
  })

  it('leave out the layout around a CDATA section, and nothing else', () => {
    const text = '<r><p>\n  <![CDATA[ a b ]]>\n</p><q> x<![CDATA[y]]> </q><s><![CDATA[1]]> <![CDATA[2]]></s></r>'
    expect(read(text).value).toEqual({ p: ' a b ', q: ' xy ', s: '1 2' })
  })

  it('leave out the layout around sections that follow one another, of which a text with ]]> has two', () => {
    const text = '<r><p>\n  <![CDATA[ a]]]]><![CDATA[>b ]]>\n</p><q>\n <![CDATA[ ]]>x</q></r>'
    expect(read(text).value).toEqual({ p: ' a]]>b ', q: '\n  x' })
  })

  it('are all there, whatever quotes instructions and comments have', () => {
    for (const [open, close] of [
      ["<?p ' ?>", "<?p ' ?>"],
      ['<?p " ?>', '<?p " ?>'],
      ["<?p ' ?>", "<!-- ' -->"],
      ['<?p ">?>', '<?p "?>'],
    ]) {
      expect(read(`<r>${open}<api_key>k</api_key>${close}<a>1</a></r>`).value).toEqual({ api_key: 'k', a: '1' })
    }
  })

  it('go by names without their prefix', () => {
    expect(read('<g:r xmlns:g="urn:g" g:x="1"><g:a>1</g:a><b>2</b></g:r>')).toEqual({
      root: 'r',
      value: { a: '1', b: '2' },
    })
  })

  it('are the same from both readers, however the document is written', () => {
    fc.assert(
      fc.property(document, (text) => {
        const element = parseElement(Buffer.from(text))
        expect(read(text)).toEqual({ root: element.name, value: byElements(element) })
        expect(read(text).value).toEqual(byLenientParser(element))
      }),
      { numRuns: 1_000 },
    )
  })

  it('are whole where a text is long and made of signs alone', () => {
    for (const [written, meant] of [
      ['&amp;', '&'],
      ['>', '>'],
      ['&#1055;', 'П'],
      ['&#13;', '\r'],
      ['0', '0'],
    ] as const) {
      const times = Math.floor(60_000 / written.length)
      expect(read(`<r><a>0</a><n>${written.repeat(times)}</n><a>1</a></r>`).value).toEqual({
        a: ['0', '1'],
        n: meant.repeat(times),
      })
    }
  })

  it.each([
    ['a DOCTYPE', '<!DOCTYPE a [<!ENTITY x "y">]><a>&x;</a>'],
    ['an unknown entity', '<a>&nbsp;</a>'],
    ['two roots', '<a/><b/>'],
    ['crossed tags', '<a><b></a></b>'],
    ['U+0000', '<a>\u0000</a>'],
    ['an inner DOCTYPE', '<a><!DOCTYPE b></a>'],
    ['nothing', ''],
    ['a name that would reach the prototype', '<a><__proto__>1</__proto__></a>'],
    ['such a name behind a prefix', '<a xmlns:g="urn:g"><g:__proto__>1</g:__proto__></a>'],
    ['a prefix that is not bound', '<g:a/>'],
  ])('are refused for %s', (_what, text) => {
    expect(() => read(text)).toThrow(expect.objectContaining({ code: 'request-malformed' }))
  })

  it('name what is wrong with a name that would reach the prototype', () => {
    expect(() => read('<a><__proto__>1</__proto__></a>')).toThrow(
      expect.objectContaining({
        message: 'the document uses an element name that is not accepted',
        cause: expect.any(Error),
      }),
    )
  })

  it('change no prototype', () => {
    for (const bad of ['__proto__', 'constructor', 'prototype', 'hasOwnProperty', '__defineGetter__']) {
      try {
        read(`<a><${bad}><polluted>1</polluted></${bad}></a>`)
      } catch {
        // Refusing it is fine too.
      }
    }
    expect(({} as Record<string, unknown>).polluted).toBeUndefined()
    expect(Object.getPrototypeOf({})).toBe(Object.prototype)
  })
})
