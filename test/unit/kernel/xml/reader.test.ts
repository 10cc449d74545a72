import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ServiceError } from '../../../../src/kernel/errors.js'
import { type Element, element, textElement } from '../../../../src/kernel/xml/element.js'
import { parseElement, type StreamOptions, streamElements } from '../../../../src/kernel/xml/reader.js'
import { writeElement } from '../../../../src/kernel/xml/writer.js'

type OversizeElement = Parameters<NonNullable<StreamOptions['onOversize']>>[0]

async function* from<T>(...chunks: T[]): AsyncGenerator<T> {
  yield* chunks
}

async function collect(chunks: AsyncIterable<Buffer | string>, options = {}): Promise<Element[]> {
  const found: Element[] = []
  for await (const one of streamElements(chunks, options)) found.push(one)
  return found
}

function refusal(read: () => unknown): ServiceError {
  try {
    read()
  } catch (error) {
    if (error instanceof ServiceError) return error
    throw error
  }
  throw new Error('nothing was refused')
}

function withoutLines({ name, attributes, children, text }: Element): Element {
  return { name, attributes, children: children.map(withoutLines), text }
}

describe('a document', () => {
  it('becomes elements with attributes, text and lines', () => {
    expect(
      parseElement(
        '<?xml version="1.0" encoding="utf-8"?>\n<a x="1">\n  <b>t &amp; &#65;<![CDATA[<c>]]></b>\n  <d/></a>',
      ),
    ).toEqual({
      name: 'a',
      attributes: { x: '1' },
      text: '',
      line: 2,
      children: [
        { name: 'b', attributes: {}, children: [], text: 't & A<c>', line: 3 },
        { name: 'd', attributes: {}, children: [], text: '', line: 4 },
      ],
    })
  })

  it('keeps white space in a text and drops it between elements', () => {
    expect(parseElement('<a> <b> 7 </b> </a>')).toMatchObject({ text: '', children: [{ text: ' 7 ' }] })
  })

  it('keeps text beside children, for a validator to complain about', () => {
    expect(parseElement('<a>x<b/>y</a>')).toMatchObject({ text: 'xy', children: [{ name: 'b' }] })
  })

  it('keeps an attribute that is called __proto__', () => {
    expect(Object.entries(parseElement('<a __proto__="x"/>').attributes)).toEqual([['__proto__', 'x']])
  })

  it('may begin with a byte order mark', () => {
    expect(parseElement(Buffer.from('\uFEFF<a/>')).name).toBe('a')
    expect(parseElement('\uFEFF<a/>').name).toBe('a')
    for (const twice of ['\uFEFF\uFEFF<a/>', Buffer.from('\uFEFF\uFEFF<a/>')]) {
      expect(refusal(() => parseElement(twice)).code).toBe('request-malformed')
    }
  })

  const anElement: fc.Arbitrary<Element> = fc.letrec<{ element: Element }>((tie) => ({
    element: fc.oneof(
      { depthSize: 'small' },
      fc
        .tuple(fc.string({ unit: 'grapheme' }), fc.string({ unit: 'binary' }))
        .map(([text, x]) => textElement('t', text, { x })),
      fc.array(tie('element'), { minLength: 1, maxLength: 4 }).map((children) => element('e', {}, children)),
    ),
  })).element

  it('that the writer made is read back as it was, less what XML cannot hold', () => {
    fc.assert(
      fc.property(anElement, (made) => {
        const text = writeElement(made)
        expect(writeElement(parseElement(text, { depth: 64, elements: 1000, attributes: 10, characters: 1e6 }))).toBe(
          text,
        )
      }),
    )
  })
})

describe('a document is refused as malformed', () => {
  it.each([
    ['a DOCTYPE', '<!DOCTYPE a><a/>', 'a DOCTYPE is not accepted'],
    ['a DOCTYPE with entities', '<!DOCTYPE a [<!ENTITY x "y">]><a>&x;</a>', 'a DOCTYPE is not accepted'],
    ['an undefined entity', '<a>&nbsp;</a>', 'undefined entity'],
    ['an entity named like a property of objects', '<a>&constructor;</a>', 'undefined entity'],
    ['two roots', '<a/><b/>', 'documents may contain only one root (line 1, column 8)'],
    ['crossed tags', '<a><b></a></b>', 'unexpected close tag (line 1, column 11)'],
    ['an open end', '<a><b>', 'unclosed tag: b (line 1, column 7)'],
    ['an attribute twice', '<a x="1" x="2"/>', 'duplicate attribute'],
    ['an unbound prefix', '<a><x:b/></a>', 'unbound namespace prefix: "x"'],
    ['U+0000', '<a>\u0000</a>', 'disallowed character'],
    ['a reference to U+0000', '<a>&#0;</a>', 'malformed character entity'],
    ['a reference to U+FFFE', '<a>&#xFFFE;</a>', 'malformed character entity'],
    ['a lone surrogate', '<a>\uDC00</a>', 'disallowed character'],
    ['text before the root', 'x<a/>', 'text data outside of root node (line 1, column 3)'],
    [
      'another declared encoding',
      '<?xml version="1.0" encoding="ISO-8859-1"?><a/>',
      'the declared encoding is ISO-8859-1; only UTF-8 is read',
    ],
    ['another version', '<?xml version="1.1"?><a/>', 'the XML version is 1.1; only 1.0 is read'],
    ['nothing', '', 'document must contain a root element'],
  ])('for %s', (_what, text, reason) => {
    const error = refusal(() => parseElement(text))
    expect(error.code).toBe('request-malformed')
    expect(error.message).toContain(`the document is not readable XML: ${reason}`)
  })

  it('with line and column', () => {
    expect(refusal(() => parseElement(`${'\n'.repeat(9)}<a>\n  <b x="1234"></c>\n</a>`)).message).toBe(
      'the document is not readable XML: unexpected close tag (line 11, column 19)',
    )
  })

  it('for bytes that are not UTF-8, with their offset', () => {
    const latin1 = Buffer.concat([Buffer.from('<a>é'), Buffer.from([0xe9]), Buffer.from('</a>')])
    expect(refusal(() => parseElement(latin1)).message).toContain('offset 5')
    expect(refusal(() => parseElement(Buffer.from([0x3c, 0x61, 0x2f, 0x3e, 0xe2, 0x82]))).message).toContain('offset 4')
  })

  it.each(['utf16le', 'latin1'] as const)('for %s bytes', (encoding) => {
    const error = refusal(() => parseElement(Buffer.from('<a>é</a>', encoding)))
    expect(error.code).toBe('request-malformed')
    expect(error.message).toMatch(encoding === 'latin1' ? /not UTF-8/ : /UTF-16/)
  })
})

describe('a document is refused as too large', () => {
  const limits = { depth: 3, elements: 4, attributes: 2, characters: 60 }

  it.each([
    ['<a><b><c><d/></c></b></a>', 'nests deeper than 3 elements (line 1, column 13)'],
    ['<a><b/><b/><b/><b/></a>', 'has more than 4 elements (line 1, column 19)'],
    ['<a x="1" y="2" z="3"/>', 'has an element with more than 2 attributes (line 1, column 23)'],
    ['<a x="1" y="2"><b x="3" y="4"/><c x="5"/></a>', 'has more than 4 attributes (line 1, column 42)'],
    [`<a>${'x'.repeat(54)}</a>`, 'is longer than 60 characters'],
  ])('for one thing too many: %s', (text, reason) => {
    const { code, message } = refusal(() => parseElement(text, limits))
    expect([code, message]).toEqual(['request-too-large', `the document ${reason}`])
  })

  it('but not at the limit', () => {
    for (const text of [
      '<a><b><c/></b></a>',
      '<a><b/><b/><b/></a>',
      '<a x="1" y="2"><b x="3" y="4"/></a>',
      `<a>${'x'.repeat(53)}</a>`,
    ]) {
      expect(parseElement(text, limits).name).toBe('a')
    }
  })
})

describe('a stream', () => {
  const text = '<list own="1">\n<item id="1">one €</item>\n<item id="2"><part>𝄞</part></item>\n</list>'

  it('gives each child of the root with its line, and the root first', async () => {
    const seen: unknown[] = []
    const onRoot = (name: string, attributes: object, line: number) => seen.push([name, attributes, line])
    for await (const { name, line } of streamElements(from(Buffer.from(text)), { onRoot })) seen.push([name, line])
    expect(seen).toEqual([
      ['list', { own: '1' }, 1],
      ['item', 2],
      ['item', 3],
    ])
  })

  it('gives the same wherever its chunks are cut', async () => {
    const bytes = Buffer.from(`\uFEFF${text}`)
    const whole = await collect(from(bytes))
    expect(whole).toHaveLength(2)
    for (let cut = 1; cut < bytes.length; cut += 1) {
      expect(await collect(from(bytes.subarray(0, cut), bytes.subarray(cut)))).toEqual(whole)
    }
    expect(await collect(from(...[...bytes].map((byte) => Buffer.from([byte]))))).toEqual(whole)
    expect(await collect(from(...text))).toEqual(whole)
  })

  it('tells the text of each element as it stands in the document, wherever its chunks are cut', async () => {
    const sources = [
      '<item\r\nid="1">one €<!-- <item> --></item >',
      '<item/>',
      '<p:𝄞 xmlns:p="p"><part>\r\n𝄞 &amp;<![CDATA[</item>]]></part></p:𝄞>',
      '<item><item a="&lt;"/></item>',
    ]
    const long = `<long>${'<a>x</a>'.repeat(9)}</long>`
    const document = `\uFEFF<?xml version="1.0"?>\r\n<list own="1"> <!-- \r\n --> ${sources.join(`\r\n 𝄞<?p <item> ?>${long}`)}</list>`
    const limits = { depth: 9, elements: 9, attributes: 9, characters: 900 }
    const bytes = Buffer.from(document)
    for (let size = 1; size <= bytes.length; size += 1) {
      const chunks = Array.from({ length: Math.ceil(bytes.length / size) }, (_, index) =>
        bytes.subarray(index * size, (index + 1) * size),
      )
      const told: string[] = []
      const onSource = (source: string) => told.push(source)
      const found = await collect(from(...chunks), { limits, onSource, onOversize: () => told.push('long') })
      expect(told).toEqual(sources.flatMap((source, index) => (index === 0 ? [source] : ['long', source])))
      expect(found).toHaveLength(sources.length)
    }
  })

  it('gives the text of elements after one that was dropped between two pieces', async () => {
    const limits = { depth: 9, elements: 9, attributes: 9, characters: 20_000 }
    const [told, dropped]: string[][] = [[], []]
    const text = `<a><b>${'long '.repeat(14_000)}</b><b>good<c/></b><b>two</b></a>`
    const onOversize = ({ reason }: OversizeElement) => dropped?.push(reason)
    await collect(from(text), { limits, onOversize, onSource: (source: string) => told?.push(source) })
    expect([dropped, told]).toEqual([['is longer than 20000 characters'], ['<b>good<c/></b>', '<b>two</b>']])
  })

  it('gives elements of a greater depth', async () => {
    const found = await collect(from('<a><b><c>1</c></b><b><c>2</c><d/></b></a>'), { depth: 2 })
    expect(found.map((one) => `${one.name}${one.text}`)).toEqual(['c1', 'c2', 'd'])
  })

  it('gives what came before an error, then the error', async () => {
    const found: string[] = []
    const reading = (async () => {
      for await (const one of streamElements(from('<a><b>1</b><b>2</b><b></a>'))) found.push(one.text)
    })()
    await expect(reading).rejects.toMatchObject({ code: 'request-malformed' })
    expect(found).toEqual(['1', '2'])
  })

  it('tells of text between the elements', async () => {
    const text = '<a>\n<b/>stray\n<b>own</b>\n\n<![CDATA[more]]></a>\n'
    const lines: number[] = []
    expect(await collect(from(text), { onStrayText: (line: number) => lines.push(line) })).toHaveLength(2)
    expect(lines).toEqual([3, 5])
    expect(await collect(from(text))).toHaveLength(2)
  })

  it('tells of prefixes that are not declared, where the consumer wants to go on', async () => {
    let unbound = 0
    const onUnboundPrefix = () => {
      unbound += 1
    }
    const declared = '<a xmlns:z="urn:z" z:q="1"><b/></a>'
    expect(await collect(from(declared), { onUnboundPrefix })).toHaveLength(1)
    expect(unbound).toBe(0)
    // Two unknown prefixes are two, so that attributes of one local name are no repetition.
    const [found] = await collect(from('<a><x:b x:id="1" y:id="2"/></a>'), { onUnboundPrefix })
    expect(found).toMatchObject({ name: 'x:b', attributes: { 'x:id': '1', 'y:id': '2' } })
    expect(unbound).toBe(3)
  })

  it('reads comments and texts that are longer than a tag may be', async () => {
    const long = 'x'.repeat(300_000)
    expect(await collect(from(`<!--${long}-->`, '<a>', '<b>', long, '</b><b x="', '1"/></a>'))).toHaveLength(2)
    await expect(collect(from('<a><b x="', long, '"/></a>'))).rejects.toThrow(
      'the document has a tag longer than 262144 characters (line 1, column',
    )
  })

  it('counts nothing above the depth of its elements', async () => {
    const limits = { depth: 3, elements: 2, attributes: 1, characters: 100 }
    const text = `<a>${'<b x="" y=""/>'.repeat(5)}<b x="" y=""><c x=""/></b></a>`
    expect(await collect(from(text), { depth: 2, limits })).toMatchObject([{ name: 'c' }])
  })

  it('may be refused at its root', async () => {
    const onRoot = () => {
      throw new ServiceError('input-unusable', 'not this root')
    }
    await expect(collect(from('<a/>'), { onRoot })).rejects.toMatchObject({ code: 'input-unusable' })
  })

  it.each([new Error('boom'), new Error('in 1:2: boom'), new ServiceError('input-unusable', '1:2: not this root')])(
    'passes on what its consumer throws: %s',
    async (error) => {
      const onRoot = () => {
        throw error
      }
      await expect(collect(from('<a/>'), { onRoot })).rejects.toBe(error)
    },
  )

  it('reads no further than its consumer has got', async () => {
    let given = 0
    async function* endless(): AsyncGenerator<string> {
      yield '<a>'
      for (;;) {
        given += 1
        yield '<b/>'
      }
    }
    for await (const one of streamElements(endless())) {
      expect(one.name).toBe('b')
      if (given === 3) break
    }
    expect(given).toBe(3)
  })

  it.each([
    ['an element without end', ['<a><b>', 'x'], 'is longer'],
    ['an attribute without end', ['<a><b c="', 'x'], 'has a part longer'],
    ['a comment without end', ['<a><!--', 'x'], 'has a part longer'],
    ['text without end between the elements', ['<a>', ' '], 'has a part longer'],
    ['a document type without end', ['<!DOCTYPE a [', ' '], 'has a part longer'],
  ])('stops at %s', async (_what, [start = '', more = ''], what) => {
    async function* endless(): AsyncGenerator<string> {
      yield start
      for (;;) yield more.repeat(1000)
    }
    const limits = { depth: 5, elements: 5, attributes: 5, characters: 10_000 }
    await expect(collect(endless(), { limits })).rejects.toMatchObject({
      code: 'request-too-large',
      message: expect.stringContaining(`the document ${what} than 10000 characters (line 1, column 1`),
    })
  })

  it('goes on after an element that exceeds a limit, where the consumer wants to', async () => {
    const limits = { depth: 3, elements: 4, attributes: 1, characters: 100 }
    const good = '<b><c>1</c></b>'
    const text = [
      good,
      '<b><id>wide</id><c/><c/><c/></b>',
      good,
      '<b><id>deep</id><c><d><e/></d></c><f/></b>',
      '<b x="" y=""><c/></b>',
      good,
      '<b><id>often</id><c x="" y=""/></b>',
      '<b><c x=""/><c x=""/><c x=""/></b>',
      good,
      `<b><id>long</id>${'<c/>'.repeat(2)}${' '.repeat(100)}</b>`,
      good,
    ].join('')
    const seen: string[] = []
    const onOversize = ({ element, reason }: OversizeElement) => {
      seen.push(`${element.line} ${element.children[0]?.text ?? ''}: ${reason}`)
    }
    // One character at a time: a limit of characters is noticed between the pieces.
    for await (const one of streamElements(from(...`<a>${text}</a>`), { limits, onOversize })) seen.push(one.name)
    expect(seen).toEqual([
      'b',
      '1 wide: has more than 4 elements',
      'b',
      '1 deep: nests deeper than 3 elements',
      '1 : has an element with more than 1 attributes',
      'b',
      '1 often: has an element with more than 1 attributes',
      'b',
      'b',
      '1 long: is longer than 100 characters',
      'b',
    ])
  })

  it('keeps the first children of an element that exceeds a limit, and none of its text', async () => {
    const limits = { depth: 3, elements: 12, attributes: 1, characters: 1_000 }
    const kept: OversizeElement[] = []
    const lines: number[] = []
    const text = `<a><b>${'<c/>'.repeat(20)}text</b></a>`
    const onOversize = (one: OversizeElement) => kept.push(one)
    expect(await collect(from(text), { limits, onOversize, onStrayText: (line: number) => lines.push(line) })).toEqual(
      [],
    )
    expect(kept.map(({ element, reason }) => [element.children.length, reason])).toEqual([
      [8, 'has more than 12 elements'],
    ])
    expect(lines).toEqual([])
    const endless = collect(from('<a><b>', '<c/>'.repeat(20), `<!--${'x'.repeat(2_000)}`), { limits, onOversize })
    await expect(endless).rejects.toThrow('the document has a part longer than 1000 characters')
  })

  it('stops where an element that exceeds a limit nests without end', async () => {
    const limits = { depth: 3, elements: 12, attributes: 1, characters: 10_000 }
    const nested = (levels: number) => `<a>${'<b>'.repeat(levels)}${'</b>'.repeat(levels)}<c/></a>`
    const read = (levels: number) => collect(from(nested(levels)), { limits, onOversize: () => undefined })
    expect(await read(999)).toMatchObject([{ name: 'c' }])
    await expect(read(1_000)).rejects.toThrow('the document nests deeper than 1000 elements')
  })

  it('counts its limits for each element anew', async () => {
    const limits = { depth: 3, elements: 2, attributes: 1, characters: 40 }
    const items = '<b><c/></b>'.repeat(100)
    expect(await collect(from(`<a>${items}</a>`), { limits })).toHaveLength(100)
  })
})

it('the lines do not change what a document says', () => {
  expect(withoutLines(parseElement('<a>\n\n<b/>\n</a>'))).toEqual(withoutLines(parseElement('<a><b/></a>')))
})
