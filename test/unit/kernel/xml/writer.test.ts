import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { create } from 'xmlbuilder2'
import { type Element, element, textElement } from '../../../../src/kernel/xml/element.js'
import {
  enclose,
  escapeAttribute,
  escapeText,
  legalText,
  prewritten,
  writeElement,
} from '../../../../src/kernel/xml/writer.js'

/** Any UTF-16 text: control characters, markup, line breaks and lone surrogates included. */
const anyText = fc.oneof(
  fc.string({ unit: fc.integer({ min: 0, max: 0xffff }).map((code) => String.fromCharCode(code)) }),
  fc.string({ unit: fc.constantFrom('&', '<', '>', '"', "'", '\n', '\r', '\t', '\\', ']]>', '\u000b', '\ud800', 'é') }),
  fc.string({ unit: 'grapheme' }),
)

/** Reads one element back with an independent parser; the text and attribute that a consumer would see. */
function readBack(xml: string): { text: string; attribute: string } {
  const root = create({ skipWhitespaceOnlyText: false }, xml).root().node as unknown as {
    textContent: string
    getAttribute(name: string): string | null
  }
  return { text: root.textContent, attribute: root.getAttribute('a') ?? '' }
}

describe('the writer', () => {
  it('says the same as xmlbuilder2 for arbitrary text', () => {
    fc.assert(
      fc.property(anyText, anyText, (text, attribute) => {
        const ours = writeElement(textElement('t', text, { a: attribute }))
        // xmlbuilder2 refuses what XML forbids, so it is given what is left of the text.
        const theirs = create().ele('t', { a: legalText(attribute) })
        if (legalText(text) !== '') theirs.txt(legalText(text))
        const read = readBack(ours)
        expect(read).toEqual({ text: legalText(text), attribute: legalText(attribute) })
        // A carriage return that xmlbuilder2 writes raw comes back as a newline; ours survives.
        if (!/\r/.test(text + attribute) && !/[\t\n]/.test(attribute)) {
          expect(readBack(theirs.root().toString())).toEqual(read)
        }
      }),
      { numRuns: 1000 },
    )
  })

  it('never writes a character that XML forbids', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        for (const written of [escapeText(text), escapeAttribute(text)]) {
          for (const character of written) {
            const code = character.codePointAt(0) ?? 0
            const legal =
              code === 9 ||
              code === 10 ||
              code === 13 ||
              (code >= 0x20 && code < 0xd800) ||
              (code >= 0xe000 && code <= 0xfffd) ||
              code >= 0x10000
            expect(legal).toBe(true)
          }
        }
      }),
    )
  })

  it('keeps pairs of surrogates and drops lone ones', () => {
    expect(legalText('a\u{1F30D}b\ud83cc\udf0dd')).toBe('a\u{1F30D}bcd')
  })

  it('writes an empty element in the short form, and an enclosed one in the long form that clients need', () => {
    expect(writeElement(element('a', undefined, [element('b', undefined)]))).toBe('<a><b/></a>')
    expect(enclose('a', enclose('b', ''))).toBe('<a><b></b></a>')
    expect(enclose('a', 'x', { b: '"' })).toBe('<a b="&quot;">x</a>')
  })

  it('writes a prewritten element as it was', () => {
    const party = element('p', { ref: '"&' }, [textElement('n', 'a < b')])
    expect(writeElement(element('a', undefined, [prewritten(party), prewritten(party)]))).toBe(
      writeElement(element('a', undefined, [party, party])),
    )
  })

  it('writes a changed copy of a prewritten element anew', () => {
    const party = prewritten(element('p', { ref: '1' }))
    expect(writeElement({ ...party, attributes: { ref: '2' } })).toBe('<p ref="2"/>')
  })

  it('keeps the order of attributes and children', () => {
    const two: Element = element('a', { z: '1', b: '2' }, [textElement('y', '1'), undefined, textElement('x', '2')])
    expect(writeElement(two)).toBe('<a z="1" b="2"><y>1</y><x>2</x></a>')
  })

  it('protects white space that a parser would change', () => {
    expect(writeElement(textElement('a', 'x\ty\nz\rw', { b: 'x\ty\nz\rw' }))).toBe(
      '<a b="x&#x9;y&#xA;z&#xD;w">x\ty\nz&#xD;w</a>',
    )
  })
})
