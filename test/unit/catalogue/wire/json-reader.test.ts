import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type JsonItem, jsonRecords, parseJson } from '../../../../src/catalogue/wire/read/json-reader.js'
import { valueLimits } from '../../../../src/catalogue/wire/read/parsed-value.js'

async function read(
  document: string | Buffer,
  sizes: readonly number[] = [],
  limits = valueLimits,
): Promise<JsonItem[]> {
  const bytes = Buffer.from(document)
  async function* chunks() {
    let at = 0
    for (let turn = 0; at < bytes.length; turn++) {
      const size = sizes.length === 0 ? bytes.length : (sizes[turn % sizes.length] ?? 1)
      yield bytes.subarray(at, at + size)
      at += size
    }
  }
  const items: JsonItem[] = []
  for await (const item of jsonRecords(chunks(), limits)) items.push(item)
  return items
}

/** A value as records have it: numbers are texts, and texts are storable. */
function asRecord(value: unknown): unknown {
  if (typeof value === 'number') return JSON.stringify(value)
  if (typeof value === 'string') return value.replaceAll('\u0000', '').replace(/[\uD800-\uDFFF]/gu, '\uFFFD')
  if (Array.isArray(value)) return value.map(asRecord)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [asRecord(name), asRecord(inner)]))
}

const unusable = expect.objectContaining({ code: 'input-unusable' })

describe('the records of a JSON document', () => {
  it('are the same however the bytes are chunked', async () => {
    const record = fc.dictionary(fc.string({ unit: 'grapheme' }), fc.jsonValue({ maxDepth: 4 }), { maxKeys: 5 })
    const spacing = fc.constantFrom(undefined, 1, '\t')
    const sizes = fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 5 })
    await fc.assert(
      fc.asyncProperty(
        // A key of this name is refused, which another test is about.
        fc.array(record, { maxLength: 6 }).filter((records) => !JSON.stringify(records).includes('__proto__')),
        fc.jsonValue(),
        spacing,
        sizes,
        async (records, other, space, sizes) => {
          const page = JSON.stringify(
            { a: other, projects: { hasNext: true, x: other, project: records, n: 1 } },
            null,
            space,
          )
          fc.pre(!page.includes('__proto__'))
          const items = await read(page, sizes)
          expect(items.map((item) => 'value' in item && item.value)).toEqual(
            (JSON.parse(JSON.stringify(records)) as unknown[]).map(asRecord),
          )
          expect(items).toEqual(await read(page))
        },
      ),
      { numRuns: 200 },
    )
  })

  it.each<[string, string, unknown[]]>([
    ['a page', '{"projects":{"project":[{"id":1},{"id":2}],"numberFound":2}}', [{ id: 1 }, { id: 2 }]],
    ['a bare object for a list', '{"projects":{"project":{"id":1}}}', [{ id: 1 }]],
    ['a single project', ' {"project":{"id":1}} ', [{ id: 1 }]],
    ['a top-level array', '[{"id":1}, {"id":2}]', [{ id: 1 }, { id: 2 }]],
    ['an empty page', '{"projects":{"numberFound":0}}', []],
    ['no list', '{"projects":{"project":null}}', []],
    ['no page', '{"projects":null}', []],
    ['a value in place of a list', '{"projects":{"project":7,"numberFound":1},"project":[{"id":1}]}', [7, { id: 1 }]],
    ['a value in place of a page', '{"a":1,"projects":"none","b":{"project":true}}', ['none']],
    [
      'keys of the same name elsewhere',
      '{"x":{"project":[{"id":9}]},"projects":{"y":{"project":[1]},"project":[{"id":1}]}}',
      [{ id: 1 }],
    ],
    ['a byte order mark', '\ufeff[{"id":1}]', [{ id: 1 }]],
    ['brackets and quotes in texts', '[{"t":"]}\\"{["},{"t":"\\\\"}]', [{ t: ']}"{[' }, { t: '\\' }]],
    ['a list without its wrapper', '{"projects":[{"id":1}]}', [{ id: 1 }]],
    ['what is no object in a list', '[1,[2],null]', [1, [2], null]],
    ['keys that look like places', '{"[":[{"id":1}],"0":[{"id":2}],"projects":[]}', []],
  ])('are found in %s', async (_, document, expected) => {
    expect((await read(document)).map((item) => 'value' in item && item.value)).toEqual(expected.map(asRecord))
  })

  it('are given with the line on which they begin', async () => {
    const text = '"\u00e9\u{1f600} \\u00e9\\ud83d\\ude00\\ud83d\\n\\\\"'
    const document = `\ufeff{"a":[${text},-1.5e3,true],"projects":\n{"project":[\n\n{"id":\n1,"b":${text}},\n{"id":2}]}}`
    for (const sizes of [[], [1], [5]]) expect((await read(document, sizes)).map(({ line }) => line)).toEqual([4, 6])
  })

  it.each([
    ['text after the end', '[] []', /^Non-whitespace|line 1/],
    [
      'nothing that could hold records',
      '{"auth_request":{"project":[{"id":1}]}}',
      /: expected the member project or projects$/,
    ],
    ['an early end', '{"projects":{"project":[{"id":1}', /: it ends too early$/],
    ['a missing comma', '[{"id":1}{"id":2}]', /: Unexpected/],
    ['a comma too many', '[{"id":1},]', /: Unexpected/],
    ['a missing colon', '{"projects" {}}', /: Unexpected/],
    ['neither object nor array', '"projects"', /: expected a JSON object or array of projects, got "projects"$/],
    ['nothing', ' ', /: it ends too early$/],
    ['an endless nesting outside of records', `{"x":${'['.repeat(100)}`, /: it nests deeper than 64 levels$/],
    ['a number with a leading zero', '[{"id":01}]', /: Unexpected/],
    ['a key that is no text', '[{1:2}]', /: Unexpected/],
    ['a line break in a text', '[{"a":"\n"}]', /: Unexpected/],
  ])('are not read on after %s', async (_, document, message) => {
    for (const sizes of [[], [1]]) {
      const error = await read(document, sizes).catch((thrown: unknown) => thrown as Error)
      expect(error).toEqual(unusable)
      expect((error as Error).message).toMatch(/^line 1 of the JSON document: /)
      expect((error as Error).message).toMatch(message)
    }
  })

  it('that come before damage are found, and the error names its line', async () => {
    const found: JsonItem[] = []
    async function* chunks() {
      yield Buffer.from('[{"id":1},\n{"id":2},\n')
      yield Buffer.from('{"id":}]')
    }
    const reading = async () => {
      for await (const item of jsonRecords(chunks())) found.push(item)
    }
    await expect(reading()).rejects.toThrow('line 3 of the JSON document: Unexpected')
    expect(found).toHaveLength(2)
  })

  it.each([
    [[0x5b, 0x22, 0xff, 0x22, 0x5d], 'Tokenizer ended in the middle of a token'],
    [[0x5b, 0x5d, 0xc3], 'Unexpected'],
    [[0x5b, 0x22, 0xed, 0xa0, 0x80, 0x22, 0x5d], 'it has bytes that are not UTF-8'],
  ])('are refused in bytes that are not UTF-8, also at the end: %o', async (bytes, reason) => {
    const message = expect.stringContaining(`line 1 of the JSON document: ${reason}`)
    for (const sizes of [[], [1]]) {
      await expect(read(Buffer.from(bytes), sizes)).rejects.toMatchObject({ code: 'input-unusable', message })
    }
  })

  it('that are too long, too deep, too many-membered or use a forbidden key are passed over', async () => {
    const limits = { characters: 30, depth: 3, elements: 4 }
    const document =
      `[{"t":"${'x'.repeat(40)}"},{"id":1},{"a":[[[1]]]},{"id":2},{"a":[1,2,3,4,5]},{"id":3},` +
      '{"\\u005f_proto__":{}},{"id":4},{"a":1,"b":1,"c":1,"ddddd":1},{"id":5}]'
    const refused = (expected: string, got: string, field = 'record') => ({
      line: 1,
      problem: { field, expected, got },
    })
    const expected = [
      refused('at most 30 characters', 'a longer record'),
      { line: 1, value: { id: '1' } },
      refused('at most 3 levels of nesting', 'a deeper record'),
      { line: 1, value: { id: '2' } },
      refused('at most 4 elements', 'a larger record'),
      { line: 1, value: { id: '3' } },
      refused('no key of this name', 'a key of this name', '__proto__'),
      { line: 1, value: { id: '4' } },
      refused('at most 4 elements', 'a larger record'),
      { line: 1, value: { id: '5' } },
    ]
    for (const sizes of [[], [7], [1]]) expect(await read(document, sizes, limits)).toEqual(expected)
  })

  it('end where one text is longer than memory should hold', async () => {
    const limits = { characters: 100, depth: 3, elements: 4 }
    const document = `{"skipped":"${'x'.repeat(1_000)}","project":[{"id":1}]}`
    await expect(read(document, [50], limits)).rejects.toMatchObject({
      code: 'input-unusable',
      message: 'line 1 of the JSON document: one text is longer than 200 bytes',
    })
    const short = { skipped: 'x'.repeat(180), project: [{ id: 1 }] }
    expect(await read(JSON.stringify(short), [50], limits)).toEqual([{ line: 1, value: { id: '1' } }])
  })
})

describe('a small JSON document', () => {
  const accepts = (text: string) => {
    try {
      parseJson(Buffer.from(text), valueLimits)
      return true
    } catch (error) {
      expect(error).toEqual(unusable)
      return false
    }
  }
  const isJson = (text: string) => {
    try {
      JSON.parse(text)
      return true
    } catch {
      return false
    }
  }
  const token = fc.constantFrom(
    ...['{', '}', '[', ']', ':', ',', '"a"', '"\\u00e9"', '"\\ud83d\\ude00"', '"\\x"', '"a', '"\t"'],
    ...[
      '0',
      '01',
      '-1',
      '-',
      '1.5',
      '1.',
      '.5',
      '1e3',
      '1E+',
      'true',
      'tru',
      'null',
      ' ',
      '\n',
      '\f',
      '//',
      "'a'",
      'NaN',
    ],
  )

  it('is accepted exactly where JSON.parse accepts it', () => {
    fc.assert(
      fc.property(fc.array(token, { maxLength: 9 }), (tokens) => {
        const text = tokens.join('')
        expect([text, accepts(text)]).toEqual([text, isJson(text)])
      }),
      { numRuns: 3_000 },
    )
  })

  it('beyond a limit is a problem, at the limit a value', () => {
    const limits = { depth: 2, elements: 3, characters: 20 }
    const parse = (text: string) => parseJson(Buffer.from(text), limits)
    expect(parse('[[1,2,3]]')).toHaveProperty('value')
    expect(parse('[[1,2,3,4]]')).toHaveProperty('value')
    expect(parse(`["${'x'.repeat(16)}"]`)).toHaveProperty('value')
    const beyond = (expected: string, got: string) => ({ line: 1, problem: { field: 'record', expected, got } })
    expect(parse('[[[1]]]')).toEqual(beyond('at most 2 levels of nesting', 'a deeper record'))
    expect(parse('[[1,2,3,4,5]]')).toEqual(beyond('at most 3 elements', 'a larger record'))
    expect(parse(`["${'x'.repeat(40)}"]`)).toEqual(beyond('at most 20 characters', 'a longer record'))
  })

  it('of a record has no text that no database can store', () => {
    const value = { a: 'b\u0000\ud800' }
    expect(parseJson(Buffer.from(JSON.stringify(value)), valueLimits)).toEqual({ line: 1, value: { a: 'b\ufffd' } })
  })

  it('of a record leaves digits in texts alone, and takes the last of equal keys', () => {
    expect(parseJson(Buffer.from('{"a":"1e3 \\" 2","b":-1.50,"c":[0,true,null],"a":"x"}'), valueLimits)).toEqual({
      line: 1,
      value: { a: 'x', b: '-1.50', c: ['0', true, null] },
    })
  })
})
