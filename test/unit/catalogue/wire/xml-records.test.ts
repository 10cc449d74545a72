import { describe, expect, it } from 'vitest'
import { organisationList } from '../../../../src/catalogue/wire/names.js'
import { fromElement } from '../../../../src/catalogue/wire/read/parsed-value.js'
import { xmlRecords } from '../../../../src/catalogue/wire/read/xml-records.js'
import { parseElement } from '../../../../src/kernel/xml/reader.js'

async function read(chunks: readonly string[], ...names: (typeof organisationList)[]) {
  async function* source() {
    for (const chunk of chunks) yield Buffer.from(chunk)
  }
  const found: unknown[] = []
  for await (const one of xmlRecords(source(), ...names)) found.push(one)
  return found
}

describe('the records of an XML document', () => {
  it('are the children of that name, each with its line', async () => {
    const text = '<projects>\n<project><id>1</id></project><other/>\n<project><id>2</id></project></projects>'
    expect(await read([text])).toEqual([
      { line: 2, value: { id: '1' } },
      { line: 3, value: { id: '2' } },
    ])
  })

  it('are a root of that name', async () => {
    expect(await read(['\n<project><id>1</id><title>a</title></project>'])).toEqual([
      { line: 2, value: { id: '1', title: 'a' } },
    ])
    expect(await read(['<project>', '<id>1</id>', '</project>'])).toEqual([{ line: 1, value: { id: '1' } }])
    expect(await read(['<organization><id>1</id></organization>'], organisationList)).toEqual([
      { line: 1, value: { id: '1' } },
    ])
  })

  it.each([
    [['<html/>'], 'expected the root element projects or project, got html'],
    [['<organizations/>'], 'expected the root element projects or project, got organizations'],
  ])('are not looked for in %j', async (chunks, message) => {
    await expect(read(chunks)).rejects.toThrow(expect.objectContaining({ code: 'input-unusable', message }))
  })

  it('may be large together, but not as the root', async () => {
    const title = `<title>${'x'.repeat(1_500_000)}</title>`
    expect(await read(['<projects>', ...Array(3).fill(`<project>${title}</project>`), '</projects>'])).toHaveLength(3)
    await expect(read(['<project>', title, title, title, '</project>'])).rejects.toThrow(
      expect.objectContaining({
        code: 'input-unusable',
        message: 'a single project must be smaller than 4194304 bytes',
      }),
    )
  })
})

describe('the value of an element', () => {
  it.each([
    ['<a>x</a>', 'x'],
    ['<a/>', ''],
    ['<a b="1">x</a>', { b: '1' }],
    ['<a b="1"><c>2</c><d>3</d><c>4</c></a>', { b: '1', c: ['2', '4'], d: '3' }],
    ['<a b="1"><b>2</b></a>', { b: '2' }],
    ['<a><b/></a>', { b: '' }],
  ])('of %s is %j', (text, value) => {
    expect(fromElement(parseElement(text))).toEqual(value)
  })

  it('keeps only what can be stored as text', () => {
    const attributes = { x: 'a\u0000b' }
    expect(fromElement({ name: 'a', attributes, children: [], text: '' })).toEqual({ x: 'ab' })
    expect(fromElement({ name: 'a', attributes: {}, children: [], text: 'a\u0000\ud800b\u{1F331}' })).toBe(
      'a\ufffdb\u{1F331}',
    )
  })
})
