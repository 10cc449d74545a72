import { describe, expect, it } from 'vitest'
import { leadOf, plainText } from '../../../src/iati/plain-text.js'

describe('plain text', () => {
  it.each([
    ['words stay', 'Four wells', 'Four wells'],
    ['tags go, entities are decoded', '<b>Food</b> &amp; water &#233;t&eacute;', 'Food & water été'],
    ['paragraphs become lines', '<p>One</p><p>Two<br>Three</p>', 'One\nTwo\nThree'],
    ['white space folds', '  a \t b \n\n c\u00a0d ', 'a b\nc d'],
    ['carriage returns are line breaks', 'a\r\nb\rc', 'a\nb\nc'],
    ['what only looks like markup stays', 'a < b & c', 'a < b & c'],
    ['scripts vanish', 'x<script>alert(1)</script>y<style>p{}</style>z', 'xyz'],
    ['composed form', 'e\u0301', '\u00e9'],
    ['backslashes stay', 'C:\\temp\\n', 'C:\\temp\\n'],
    ['right to left', 'مياه نظيفة', 'مياه نظيفة'],
    ['an end of a paragraph is an end of a line', '<p>a</p>b<p>c', 'a\nb\nc'],
    ['other tags break no word', 'a<b>b</b>c', 'abc'],
    ['what is hidden in hidden elements vanishes', 'a<object>b<object>c</object>d</object>e', 'ae'],
    ['nothing but markup is nothing', '<p> </p>', ''],
  ])('%s', (_, html, text) => {
    expect(plainText(html)).toBe(text)
  })

  // A parser that closes so many elements one by one takes minutes.
  it('is found in markup that nests without end', () => {
    expect(plainText(`one ${'<b>'.repeat(300_000)}two${'</i>'.repeat(300_000)}`)).toBe('one two')
  })
})

describe('the lead of a text', () => {
  it.each([
    ['', 5, ''],
    ['abcde', 5, 'abcde'],
    ['abcdef', 5, 'abcd…'],
    ['abc de fg', 8, 'abc de…'],
    ['abc\nde fg', 7, 'abc\nde…'],
    // A blank in the first half is no place to cut.
    ['ab cdefgh', 6, 'ab cd…'],
    ['abc defgh', 6, 'abc d…'],
    ['abcd efgh', 6, 'abcd…'],
    ['a bcd', 3, 'a…'],
    ['abc\u{10000}def', 5, 'abc…'],
    ['ab\u{10000}def', 5, 'ab\u{10000}…'],
    ['abc🌍def', 5, 'abc…'],
    ['ab🌍def', 5, 'ab🌍…'],
    ['abc\ue000def', 5, 'abc\ue000…'],
    ['<p>abc</p><p>def ghi</p>', 8, 'abc\ndef…'],
    ['<p>cafe\u0301</p>', 9, 'caf\u00e9'],
    ['cafe\u0301', 9, 'caf\u00e9'],
  ])('%j of %i characters is %j', (text, most, lead) => {
    expect(leadOf(text, most)).toBe(lead)
  })

  it('is read from the beginning of a long text', () => {
    expect(leadOf(`${' '.repeat(100)}word`, 5)).toBe('')
    expect(leadOf(`${'<br>'.repeat(5_000)}word`, 5)).toBe('')
    const lead = leadOf(`<p>${'word '.repeat(2_000)}`, 5_000)
    expect([lead.length, lead.endsWith('word…')]).toEqual([4_995, true])
    expect(leadOf('word '.repeat(100_000), 12)).toBe('word word…')
  })
})
