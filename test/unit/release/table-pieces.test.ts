import { describe, expect, it } from 'vitest'
import { type Element, element, textElement } from '../../../src/kernel/xml/element.js'
import { toActivityRows } from '../../../src/release/tables/table-pieces.js'

/** An activity with documents of these titles. */
function activity(titles: readonly string[]): Element {
  const links = titles.map((title) =>
    element('document-link', {}, [element('title', {}, [textElement('narrative', title)])]),
  )
  return element('iati-activity', {}, [textElement('iati-identifier', 'X-1'), ...links])
}

describe('the cells of CSV', () => {
  it.each([
    ['Wells', 'Wells'],
    ['Wells - für alle', 'Wells - für alle'],
    ['a "b"', '"a ""b"""'],
    ['a,b', '"a,b"'],
    ['a\nb', '"a\nb"'],
    [' a', '" a"'],
    ['a\t', '"a\t"'],
    ['=1', "'=1"],
    ['+1', "'+1"],
    ['-1', "'-1"],
    ['@a', "'@a"],
    ['|a', "'|a"],
    ['＝1', "'＝1"],
    ['＋1', "'＋1"],
    ['－1', "'－1"],
    ['＠a', "'＠a"],
    ['\ta', "'\ta"],
    ['=a,b', `"'=a,b"`],
    ['a\u0000b', 'ab'],
  ])('%j is %j', (title, cell) => {
    // Identifier, number, url, title, and columns that have no value.
    expect(toActivityRows(activity([title])).csv.toString()).toContain(`X-1,1,,${cell},,`)
  })
})

describe('the values of Parquet', () => {
  it.each(['a', 'é', 'a'.repeat(48), 'a'.repeat(49), `${'a'.repeat(47)}é`, `${'a'.repeat(60)}é`, 'a'.repeat(70_000)])(
    'have the bytes of a text after their number: %.60s',
    (title) => {
      const bytes = Buffer.from(title)
      const length = Buffer.alloc(4)
      length.writeUInt32LE(bytes.length)
      expect(toActivityRows(activity([title])).parquet.includes(Buffer.concat([length, bytes]))).toBe(true)
    },
  )

  it('are those of one activity, whatever was written before and after', () => {
    const [small, large] = [activity(['a', 'b']), activity(['c'.repeat(100_000)])]
    const first = toActivityRows(small)
    const copy = { ...first, csv: Buffer.from(first.csv), parquet: Buffer.from(first.parquet) }
    toActivityRows(large)
    expect(first).toEqual(copy)
    expect(toActivityRows(small)).toEqual(copy)
  })
})
