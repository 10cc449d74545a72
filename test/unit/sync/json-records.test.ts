import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { cutJsonRecords, type JsonCut, recordLimits } from '../../../src/wire/read/json-records.js'

async function cut(
  document: string | Buffer,
  sizes: readonly number[] = [],
  limits = recordLimits,
): Promise<JsonCut[]> {
  const bytes = Buffer.from(document)
  async function* chunks() {
    let at = 0
    for (let turn = 0; at < bytes.length; turn++) {
      const size = sizes.length === 0 ? bytes.length : (sizes[turn % sizes.length] ?? 1)
      yield bytes.subarray(at, at + size)
      at += size
    }
  }
  const cuts: JsonCut[] = []
  for await (const found of cutJsonRecords(chunks(), limits)) cuts.push(found)
  return cuts
}

async function values(document: string): Promise<unknown[]> {
  return (await cut(document)).map((found) => ('text' in found ? JSON.parse(found.text) : found.tooLarge))
}

describe('cutting JSON documents into records', () => {
  it('finds the same records however the bytes are chunked', async () => {
    const record = fc.dictionary(fc.string({ unit: 'grapheme' }), fc.jsonValue({ maxDepth: 4 }), { maxKeys: 5 })
    const spacing = fc.constantFrom(undefined, 1, '\t')
    const sizes = fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 5 })
    await fc.assert(
      fc.asyncProperty(
        fc.array(record, { maxLength: 6 }),
        fc.jsonValue(),
        spacing,
        sizes,
        async (records, other, space, sizes) => {
          const page = JSON.stringify(
            { a: other, projects: { hasNext: true, x: other, project: records, n: 1 } },
            null,
            space,
          )
          const cuts = await cut(page, sizes)
          expect(cuts.map((found) => 'text' in found && JSON.parse(found.text))).toEqual(
            JSON.parse(JSON.stringify(records)),
          )
          expect(cuts).toEqual(await cut(page))
        },
      ),
      { numRuns: 200 },
    )
  })

  it.each([
    ['a page', '{"projects":{"project":[{"id":1},{"id":2}],"numberFound":2}}', [{ id: 1 }, { id: 2 }]],
    ['a bare object for a list', '{"projects":{"project":{"id":1}}}', [{ id: 1 }]],
    ['a single project', ' {"project":{"id":1}} ', [{ id: 1 }]],
    ['a top-level array', '[{"id":1}, {"id":2}]', [{ id: 1 }, { id: 2 }]],
    ['an empty page', '{"projects":{"numberFound":0}}', []],
    ['no list', '{"projects":{"project":null}}', []],
    [
      'keys of the same name elsewhere',
      '{"x":{"project":[{"id":9}]},"projects":{"y":{"project":[1]},"project":[{"id":1}]}}',
      [{ id: 1 }],
    ],
    ['a byte order mark', '\ufeff[{"id":1}]', [{ id: 1 }]],
    ['brackets and quotes in texts', '[{"t":"]}\\"{["},{"t":"\\\\"}]', [{ t: ']}"{[' }, { t: '\\' }]],
  ])('reads %s', async (_, document, expected) => {
    expect(await values(document)).toEqual(expected)
  })

  it('tells the line on which a record begins', async () => {
    const cuts = await cut('{"projects":\n{"project":[\n\n{"id":\n1},\n{"id":2}]}}')
    expect(cuts.map(({ line }) => line)).toEqual([4, 6])
  })

  it.each([
    ['text after the end', '[] []'],
    ['an early end', '{"projects":{"project":[{"id":1}'],
    ['a missing comma', '[{"id":1}{"id":2}]'],
    ['a comma too many', '[{"id":1},]'],
    ['a missing colon', '{"projects" {}}'],
    ['neither object nor array', '"projects"'],
    ['nothing', ' '],
  ])('refuses %s', async (_, document) => {
    await expect(cut(document)).rejects.toMatchObject({ code: 'input-unusable' })
  })

  it('refuses bytes that are not UTF-8, also at the end', async () => {
    await expect(cut(Buffer.from([0x5b, 0x22, 0xff, 0x22, 0x5d]))).rejects.toMatchObject({ code: 'input-unusable' })
    await expect(cut(Buffer.from([0x5b, 0x5d, 0xc3]))).rejects.toMatchObject({ code: 'input-unusable' })
  })

  it('passes over records that are too long or too deep and goes on', async () => {
    const limits = { characters: 30, depth: 3 }
    const document = `[{"t":"${'x'.repeat(40)}"},{"id":1},{"a":[[[1]]]},{"id":2}]`
    expect(await cut(document, [7], limits)).toEqual([
      { line: 1, tooLarge: 'characters' },
      { line: 1, text: '{"id":1}' },
      { line: 1, tooLarge: 'depth' },
      { line: 1, text: '{"id":2}' },
    ])
  })
})
