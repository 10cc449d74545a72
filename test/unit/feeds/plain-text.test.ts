import { describe, expect, it } from 'vitest'
import { plainText } from '../../../src/feeds/plain-text.js'

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
    ['nothing but markup is nothing', '<p> </p>', ''],
  ])('%s', (_, html, text) => {
    expect(plainText(html)).toBe(text)
  })

  // A parser that closes so many elements one by one takes minutes.
  it('is found in markup that nests without end', () => {
    expect(plainText(`one ${'<b>'.repeat(300_000)}two${'</i>'.repeat(300_000)}`)).toBe('one two')
  })
})
