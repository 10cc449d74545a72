import { describe, expect, it } from 'vitest'
import { atomEntries } from '../../../../src/catalogue/wire/read/atom-entries.js'
import { readReportFeed, toWebAddress } from '../../../../src/catalogue/wire/read/report-feeds.js'
import type { IsoDate } from '../../../../src/kernel/dates.js'

const opened = '<feed xmlns="http://www.w3.org/2005/Atom" xml:base="https://a.example/x/">'
const times = '<published>2026-10-02T08:00:00Z</published><updated>2026-10-03T08:00:00Z</updated>'
const entry = (inside: string) => `${opened}<entry><id>https://a.example/1</id>${times}${inside}</entry></feed>`
const read = (text: string) => readReportFeed(Buffer.from(text), '2026-11-23' as IsoDate)
const reportOf = async (text: string) => (await read(text)).reports[0]

describe('an address in a feed', () => {
  it.each<[string | undefined, string | undefined, string | undefined]>([
    [undefined, 'https://a.example/', undefined],
    ['', 'https://a.example/', undefined],
    [' ', 'https://a.example/', undefined],
    [' HTTP://b.example/A?b#c ', undefined, 'HTTP://b.example/A?b#c'],
    ['https://b example/', 'https://a.example/', undefined],
    ['/p', 'https://a.example/x/', 'https://a.example/p'],
    ['p', 'https://a.example/x/', 'https://a.example/x/p'],
    ['p', undefined, undefined],
    ['p', 'no base', undefined],
    ['p', 'http://a.example/', 'http://a.example/p'],
    ['see https://b.example/', undefined, undefined],
    ['mailto:a@b.example', 'https://a.example/', undefined],
    ['ftp://b.example/', 'https://a.example/', undefined],
  ])('%j on %j is %j', (text, base, expected) => {
    expect(toWebAddress(text, base)).toBe(expected)
  })
})

describe('a report in Atom', () => {
  it.each([
    ['<content type="html">&lt;p&gt;a&lt;/p&gt;</content>', '<p>a</p>'],
    ['<content type="text/html">&lt;p&gt;a&lt;/p&gt;</content>', '<p>a</p>'],
    ['<content type="text">a &lt;b&gt; c</content>', 'a &lt;b&gt; c'],
    ['<content>a &lt;b&gt; c</content>', 'a &lt;b&gt; c'],
    ['<content type="xhtml"><div><p>a</p></div><p>b</p></content>', '<div><p>a</p></div><p>b</p>'],
    [
      '<content type="xhtml"><div><p>a <b>b</b> c</p> d<br/>&lt;e</div></content>',
      '<div><p>a <b>b</b> c</p> d<br />&lt;e</div>',
    ],
    ['<summary>short</summary>', 'short'],
    ['<summary>short</summary><content>long</content>', 'long'],
    ['', ''],
  ])('has the HTML of %s', async (content, html) => {
    expect((await reportOf(entry(content)))?.contentHtml).toBe(html)
  })

  it.each([
    ['<title> Wells </title>', 'Wells'],
    ['<title>a &lt; b &amp;amp; c</title>', 'a < b &amp; c'],
    ['<title type="html"><![CDATA[Wells &#038; <em>tanks</em> &#8211; done]]></title>', 'Wells & tanks – done'],
    ['<title type="xhtml"><div>Wells <b>and</b> tanks</div></title>', 'Wells and tanks'],
    ['<title> </title>', 'https://a.example/1'],
    ['', 'https://a.example/1'],
  ])('has the title of %j, else its address', async (title, expected) => {
    expect((await reportOf(entry(title)))?.title).toBe(expected)
  })

  it.each([
    ['<author><name> Amina </name></author>', 'Amina'],
    ['<author><name> </name></author>', undefined],
    ['<author/>', undefined],
    ['', undefined],
  ])('has the author of %j', async (author, name) => {
    const report = await reportOf(entry(author))
    expect(report?.authorName).toBe(name)
    expect(Object.hasOwn(report ?? {}, 'authorName')).toBe(name !== undefined)
  })

  it('has addresses relative to xml:base of its entry and of the link, in any encoding', async () => {
    const inside = `<link href="Pump"/><link rel="enclosure" xml:base="/img/" href="1.jpg" type="image/jpeg"/>`
    const feed = `<?xml version="1.0" encoding="ISO-8859-1"?>${opened}<entry xml:base="When/2026/"><id>tag:a.example,2026:1</id><title>\u00c9t\u00e9</title>${times}${inside}</entry></feed>`
    async function* bytes() {
      yield Buffer.from(feed, 'latin1')
    }
    const found = []
    for await (const { value } of atomEntries(bytes())) found.push(value)
    expect(found).toMatchObject([
      {
        ...{ url: 'https://a.example/x/When/2026/Pump', title: '\u00c9t\u00e9' },
        images: [{ url: 'https://a.example/img/1.jpg', mediaType: 'image/jpeg' }],
      },
    ])
    const relative = feed.replace('tag:a.example,2026:1', 'Pump')
    expect((await readReportFeed(Buffer.from(relative, 'latin1'), '2026-11-23' as IsoDate)).reports[0]).toMatchObject({
      ...{ url: 'https://a.example/x/When/2026/Pump', title: '\u00c9t\u00e9' },
    })
  })

  it('has links and pictures of its text that lead somewhere, by the nearest base or the address of the feed', async () => {
    const html = '&lt;p&gt;&lt;a href="more"&gt;m&lt;/a&gt;&lt;img src="/2.jpg"&gt;&lt;/p&gt;'
    const textOf = async (start: string, entryBase: string, contentBase: string) => {
      const inside = `<id>https://a.example/1</id>${times}<content type="html"${contentBase}>${html}</content>`
      return (await reportOf(`${start}<entry${entryBase}>${inside}</entry></feed>`))?.contentHtml
    }
    const at = (more: string, picture: string) => `<p><a href="${more}">m</a><img src="${picture}" /></p>`
    expect(await textOf(opened, '', '')).toBe(at('https://a.example/x/more', 'https://a.example/2.jpg'))
    expect(await textOf(opened, ' xml:base="y/"', '')).toBe(at('https://a.example/x/y/more', 'https://a.example/2.jpg'))
    const deep = [' xml:base="y/"', ' xml:base="https://b.example/z/"'] as const
    expect(await textOf(opened, ...deep)).toBe(at('https://b.example/z/more', 'https://b.example/2.jpg'))
    const atom = '<feed xmlns="http://www.w3.org/2005/Atom">'
    const self = `${atom}<link rel="self" href="https://c.example/feeds/all.atom"/>`
    expect(await textOf(self, '', '')).toBe(at('https://c.example/feeds/more', 'https://c.example/2.jpg'))
  })

  it('has the pictures of its links, without pages', async () => {
    const links = [
      '<link href="/self" rel="self"/><link href="/page" rel="alternate"/><link href="mailto:a@b.example"/><link/>',
      '<link href="/1.jpg" rel="enclosure" type="image/jpeg"/><link href="/2.jpg"/>',
    ]
    expect((await reportOf(entry(links.join(''))))?.images).toEqual([
      { url: 'https://a.example/1.jpg', mediaType: 'image/jpeg' },
      { url: 'https://a.example/2.jpg' },
    ])
  })

  it.each([
    ['<published> 2026-10-02T08:00:00Z </published><updated> 2026-10-03T08:00:00Z </updated>', '02', '03'],
    ['<published>2026-10-02T08:00:00Z</published>', '02', '02'],
    ['<updated>2026-10-03T08:00:00Z</updated>', '03', '03'],
    ['<published>soon</published><updated>2026-10-03T08:00:00Z</updated>', '03', '03'],
  ])('has the times of %s', async (given, published, updated) => {
    const report = await reportOf(`${opened}<entry><id>https://a.example/1</id>${given}</entry></feed>`)
    expect(report?.publishedAt).toEqual(new Date(`2026-10-${published}T08:00:00Z`))
    expect(report?.updatedAt).toEqual(new Date(`2026-10-${updated}T08:00:00Z`))
  })

  it('is each entry, and nothing else of the feed', async () => {
    const text = `${opened}<id>x</id><title>All</title><entry><id>https://a.example/1</id>${times}</entry></feed>`
    expect(await read(text)).toMatchObject({ reports: [{ url: 'https://a.example/1' }], problems: [] })
  })

  it('drops what no database can store as text', async () => {
    const own = '<title>a\u{1F331}b</title><link href="/1.jpg" type="image/&#x1F331;"/>'
    expect(await reportOf(entry(own))).toMatchObject({
      title: 'a\u{1F331}b',
      images: [{ mediaType: 'image/\u{1F331}' }],
    })
  })
})

describe('a report in JSON', () => {
  const first = { id: 'https://a.example/1', published: '2026-10-02T08:00:00Z' }
  const readEntry = async (changes: object) =>
    (await read(JSON.stringify({ entries: [{ ...first, ...changes }] }))).reports[0]

  it.each<[object, object]>([
    [{ title: { type: 'text', value: 'Wells' } }, { title: 'Wells' }],
    [{ title: { content: 'Wells' } }, { title: 'Wells' }],
    [{ title: ['Wells'] }, { title: first.id }],
    [{ author: { name: 'Amina' } }, { authorName: 'Amina' }],
    [{ authors: [{ name: 'Amina' }, { name: 'Bo' }] }, { authorName: 'Amina' }],
    [{ content: { value: '<p>a</p>' } }, { contentHtml: '<p>a</p>' }],
    [{}, { contentHtml: '', images: [] }],
    [{ link: { href: 'https://a.example/1.jpg' } }, { images: [{ url: 'https://a.example/1.jpg' }] }],
    [
      { links: [{ href: 'https://a.example/1.jpg', rel: '', type: 'image/jpeg' }, { rel: 'enclosure' }] },
      { images: [{ url: 'https://a.example/1.jpg', mediaType: 'image/jpeg' }] },
    ],
    [{ links: [{ href: 'https://a.example/1', rel: 'self' }] }, { images: [] }],
    [{ updated: '2026-10-04T08:00:00Z' }, { updatedAt: new Date('2026-10-04T08:00:00Z') }],
  ])('of %j has %j', async (changes, expected) => {
    expect(await readEntry(changes)).toMatchObject(expected)
  })

  it.each([
    [{ entries: [first] }],
    [{ entry: first }],
    [{ feed: { entry: [first] } }],
    [{ attributes: { 'xml:base': 'https://a.example/' }, entries: [{ ...first, id: '/1' }] }],
  ])('is found in %j', async (feed) => {
    expect(await reportOf(JSON.stringify(feed))).toMatchObject({ url: 'https://a.example/1' })
  })

  it.each([
    [{ id: 'tag:no' }, { field: 'entry 1/id', expected: "the web address of the report's page", got: 'tag:no' }],
    [{ id: null }, { field: 'entry 1/id', expected: "the web address of the report's page" }],
    [{ published: 'soon' }, { field: 'entry 1/published', expected: 'a date and time with offset', got: 'soon' }],
    [{ published: null }, { field: 'entry 1/published', expected: 'a date and time with offset' }],
    [
      { published: 'x'.repeat(121) },
      { field: 'entry 1/published', expected: 'a date and time with offset', got: 'x'.repeat(120) },
    ],
  ])('is refused for %j', async (changes, problem) => {
    const { reports, problems } = await read(JSON.stringify({ entries: [{ ...first, ...changes }] }))
    expect([reports, problems]).toEqual([[], [problem]])
  })

  it('is refused beyond four million characters of HTML in all', async () => {
    const long = { ...first, content: 'x'.repeat(100_000) }
    const { reports, problems } = await read(
      JSON.stringify({ entries: [...Array(41).fill(long), { ...first, content: 'x' }] }),
    )
    expect(reports).toHaveLength(40)
    const expected = 'at most 4000000 characters of HTML in all reports of a project'
    expect(problems).toEqual([41, 42].map((nth) => ({ field: `entry ${nth}/content`, expected, got: 'more' })))
  })

  it.each([
    ['<rss/>', 'an XML document whose root is rss, not an Atom feed'],
    ['{"projects":{}}', 'JSON that is not a feed'],
  ])('is not looked for in %s', async (text, got) => {
    await expect(read(text)).rejects.toThrow(`expected an answer in the wire format, got ${got}`)
  })
})

describe('the entries of an Atom feed', () => {
  const entries = async (text: string) => {
    const found: unknown[] = []
    async function* chunks() {
      yield Buffer.from(text)
    }
    for await (const one of atomEntries(chunks())) found.push(one)
    return found
  }

  it('are reports, each with the links of the feed', async () => {
    const feed = `<a:feed xmlns:a="http://www.w3.org/2005/Atom" xml:base="https://a.example/">
<a:id>/id</a:id><a:link href="/project"/><a:link rel="next" href="/next"/><a:link rel="self" href="/self"/>
<a:title>All</a:title><a:entry><a:id> /1 </a:id><a:title> Wells </a:title><a:author><a:name>Amina</a:name></a:author>
<a:published>p</a:published><a:updated>u</a:updated><a:content type="html">h</a:content>
<a:link rel="enclosure" href="/1.jpg" type="image/jpeg"/><a:link rel="enclosure" href="2.jpg"/>
<a:link rel="enclosure" href="mailto:a@b.example"/><a:link rel="self" href="/3.jpg"/></a:entry></a:feed>`
    expect(await entries(feed)).toEqual([
      {
        line: 3,
        value: {
          ...{ url: 'https://a.example/1', title: 'Wells', author: 'Amina', published: 'p', updated: 'u', html: 'h' },
          images: [
            { url: 'https://a.example/1.jpg', mediaType: 'image/jpeg' },
            { url: 'https://a.example/2.jpg', mediaType: '' },
          ],
          projectLinks: ['https://a.example/id', 'https://a.example/project', 'https://a.example/self'],
        },
      },
    ])
  })

  it.each([
    ['', '', ''],
    ['<id>tag:1</id>', 'tag:1', 'tag:1'],
    ['<id>tag:1</id><link href="https://a.example/1"/>', 'https://a.example/1', 'https://a.example/1'],
    [
      '<link href="https://a.example/0" rel="self"/><link rel="alternate" href="https://a.example/1"/>',
      'https://a.example/1',
      'https://a.example/1',
    ],
    ['<id>tag:1</id><title> </title>', 'tag:1', 'tag:1'],
  ])('have the address and title of %j', async (inside, url, title) => {
    const [found] = await entries(`<feed><entry>${inside}<updated>u</updated></entry></feed>`)
    expect(found).toEqual({
      line: 1,
      value: { url, title, author: '', published: 'u', updated: 'u', html: '', images: [], projectLinks: [] },
    })
  })

  it('are not looked for in another document', async () => {
    await expect(entries('<rss/>')).rejects.toThrow(
      expect.objectContaining({ code: 'input-unusable', message: 'expected an Atom feed, got rss' }),
    )
  })
})
