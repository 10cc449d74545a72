import fc from 'fast-check'
import { expect, it } from 'vitest'
import { searchHiddenTags } from '../../../../src/iati/validation/tag-search.js'

function hidden(text: string, sizes: readonly number[] = [text.length]): string[] {
  const found: string[] = []
  const search = searchHiddenTags((what, line) => found.push(`${what} ${line}`))
  const bytes = Buffer.from(text)
  for (let at = 0, turn = 0; at < bytes.length; turn += 1) {
    const size = Math.max(1, sizes[turn % sizes.length] ?? 1)
    search.read(bytes.subarray(at, at + size))
    at += size
  }
  return found
}

it.each<[string, string[]]>([
  ['<a><![CDATA[x</iati-activity>]]></a>', ['a CDATA section 1']],
  ['\n\n<!--\n<iati-organisation>\n--><!-- <iati-activity/> -->', ['a comment 3', 'a comment 5']],
  ['<!-- <![CDATA[ <iati-activity> ]]> -->', ['a comment 1']],
  ['<![CDATA[ <!-- ]]><iati-activity>-->', []],
  ['<iati-activity><!-- the iati-activity --></iati-activity>', []],
  ['<!--<iati-activities>-->', []],
  ['<!-- <iati-activity> <iati-activity> -->', ['a comment 1']],
])('%s', (text, expected) => {
  expect(hidden(text)).toEqual(expected)
})

it('finds the same however the bytes are cut', () => {
  const parts = [
    '<!--',
    '-->',
    '<![CDATA[',
    ']]>',
    '<iati-activity>',
    '</iati-organisation>',
    'words ',
    '\n',
    '-',
    ']',
    'é'.repeat(20),
  ]
  fc.assert(
    fc.property(
      fc.array(fc.constantFrom(...parts), { maxLength: 40 }),
      fc.array(fc.integer({ min: 1, max: 50 }), { minLength: 1 }),
      (chosen, sizes) => {
        expect(hidden(chosen.join(''), sizes)).toEqual(hidden(chosen.join('')))
      },
    ),
  )
})
