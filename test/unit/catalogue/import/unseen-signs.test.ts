import { expect, it } from 'vitest'
import { signsAtQuotes, withoutUnseenSigns } from '../../../../src/catalogue/import/unseen-signs.js'

function read(pieces: readonly string[]): string {
  const text = signsAtQuotes()
  return [...pieces.map((piece) => text(piece)), text()].join('')
}

const rtl = '\u200F'
const bom = '\uFEFF'
const nbsp = '\u00A0'

it.each([
  [`a,${rtl}"b"${nbsp},c`, 'a,"b",c'],
  [`"a"${rtl} ${bom}\n${bom}"b"${rtl}`, '"a"\n"b"'],
  [`"a ""${rtl}b${rtl}"""${rtl},"${nbsp}c${rtl}"`, `"a ""${rtl}b${rtl}""","${nbsp}c${rtl}"`],
  [`${rtl}a${nbsp}b${rtl},c${rtl}`, `${rtl}a${nbsp}b${rtl},c${rtl}`],
  [`""${rtl},${rtl}""`, '"",""'],
  ['"می\u200Cخواهم"\u200C', '"می\u200Cخواهم"\u200C'],
])('removes unseen signs beside quotes only, wherever the text is cut: %j', (text, expected) => {
  expect(read([text])).toBe(expected)
  for (let first = 0; first <= text.length; first++) {
    for (let second = first; second <= text.length; second++) {
      expect(read([text.slice(0, first), text.slice(first, second), text.slice(second)])).toBe(expected)
    }
  }
})

it('holds no more of a file of such signs than a person would write', () => {
  const text = signsAtQuotes()
  const given = Array.from({ length: 50 }, () => text(rtl.repeat(1000))).join('').length
  expect(given).toBe(49_000)
})

it('takes them from the ends of a cell, and leaves those within it', () => {
  expect(withoutUnseenSigns(`${rtl}\u202A12${nbsp}5\u202C${rtl}`)).toBe(`12${nbsp}5`)
  expect(withoutUnseenSigns(rtl)).toBe('')
  expect(withoutUnseenSigns(` ${rtl} plain ${bom}`)).toBe('plain')
})
