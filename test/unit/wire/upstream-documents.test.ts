import { describe, expect, test } from 'vitest'
import { projectList } from '../../../src/wire/names.js'
import { readReportFeed } from '../../../src/wire/read/report-feeds.js'
import { readDownloadLink, readList, readPage } from '../../../src/wire/read/upstream-documents.js'

const page = (text: string) => readPage(Buffer.from(text), projectList)

describe('a page', () => {
  test.each([
    ['{"projects":{"hasNext":true,"nextProjectId":31,"project":[{"id":1}],"numberFound":5257}}'],
    ['{"projects":{"hasNext":"true","nextProjectId":"31","project":{"id":1},"numberFound":"5257"}}'],
    [
      '<projects numberFound="5257"><hasNext>true</hasNext><nextProjectId>31</nextProjectId><project><id>1</id></project></projects>',
    ],
    [
      '\ufeff<?xml version="1.0"?>\n<projects numberFound="5257"><project><id>1</id></project><nextProjectId> 31 </nextProjectId></projects>',
    ],
  ])('is read as real servers write it: %s', (text) => {
    expect(page(text)).toEqual({ records: [{ id: '1' }], next: 31, numberFound: 5257 })
  })

  test.each([
    '{"projects":{"numberFound":0}}',
    '<projects numberFound="0"></projects>',
    '{"projects":{"project":[],"numberFound":0}}',
  ])('may be empty: %s', (text) => expect(page(text)).toEqual({ records: [], numberFound: 0 }))

  test('is the last one without a cursor, or where it says so', () => {
    expect(page('{"projects":{"project":[{"id":1}]}}').next).toBeUndefined()
    expect(page('{"projects":{"hasNext":false,"nextProjectId":31,"project":[{"id":1}]}}').next).toBeUndefined()
    expect(page('<projects/>')).toEqual({ records: [] })
  })

  test.each([
    '',
    '[]',
    'true',
    '<html/>',
    '{"projects":[1]}',
    '{"x":1}',
    '{"projects":',
    '{"__proto__":{"projects":{}}}',
    '<projects>',
  ])('is refused when it is something else: %s', (text) =>
    expect(() => page(text)).toThrow(expect.objectContaining({ code: 'upstream-unusable' })),
  )
})

describe('other documents', () => {
  test('a bulk link is read from both formats', () => {
    expect(readDownloadLink(Buffer.from('{"download":{"url":"https://a.example/x"}}'))).toBe('https://a.example/x')
    expect(readDownloadLink(Buffer.from('<download><url> https://a.example/x </url></download>'))).toBe(
      'https://a.example/x',
    )
    expect(readDownloadLink(Buffer.from('{"download":{}}'))).toBeUndefined()
  })

  test('an empty gallery is no picture', () => {
    expect(readList(Buffer.from('{"images":{}}'), 'images', 'image')).toEqual([])
    expect(readList(Buffer.from('<images></images>'), 'images', 'image')).toEqual([])
  })
})

const json = {
  attributes: { 'xml:base': 'https://giving.example/' },
  id: 'https://giving.example/updates/',
  title: 'Project reports',
  entries: [
    {
      id: 'https://giving.example/updates/?subid=9002',
      title: 'Third well finished',
      authors: [{ name: 'Amina Sesay' }],
      published: '2026-10-02T08:00:00+00:00',
      updated: '2026-10-02T09:00:00+00:00',
      content: '<p>The pump <script>x()</script>runs.</p>',
      links: [
        { href: '/img/1.jpg', rel: 'enclosure' },
        { href: 'https://giving.example/', rel: 'alternate' },
      ],
    },
  ],
}

const atom = `<a:feed xmlns:a="http://www.w3.org/2005/Atom" xml:base="https://giving.example/"><a:entry>
  <a:id>https://giving.example/updates/?subid=9002</a:id><a:title>Third well finished</a:title>
  <a:author><a:name>Amina Sesay</a:name></a:author><a:published>2026-10-02T08:00:00Z</a:published>
  <a:updated>2026-10-02T09:00:00Z</a:updated>
  <a:content type="html">&lt;p&gt;The pump &lt;script&gt;x()&lt;/script&gt;runs.&lt;/p&gt;</a:content>
  <a:link rel="enclosure" href="/img/1.jpg"/><a:link rel="alternate" href="https://giving.example/"/></a:entry></a:feed>`

describe('a report feed', () => {
  test.each([
    ['Atom', atom],
    ['JSON', JSON.stringify(json)],
    ['JSON in a feed key', JSON.stringify({ feed: json })],
  ])('is read as %s', (_, text) => {
    expect(readReportFeed(Buffer.from(text))).toEqual({
      problems: [],
      reports: [
        {
          url: 'https://giving.example/updates/?subid=9002',
          title: 'Third well finished',
          authorName: 'Amina Sesay',
          publishedAt: new Date('2026-10-02T08:00:00Z'),
          updatedAt: new Date('2026-10-02T09:00:00Z'),
          contentHtml: '<p>The pump runs.</p>',
          images: [{ url: 'https://giving.example/img/1.jpg' }],
        },
      ],
    })
  })

  test('keeps its good entries and tells the others', () => {
    const entries = [
      ...json.entries,
      { id: 'tag:no,2026:1', published: '2026-10-02T08:00:00Z' },
      { id: 'https://a.example/2' },
    ]
    const { reports, problems } = readReportFeed(Buffer.from(JSON.stringify({ ...json, entries })))
    expect(reports).toHaveLength(1)
    expect(problems.map(({ field }) => field)).toEqual(['entry 2/id', 'entry 3/published'])
  })

  test('without entries has no reports', () => {
    expect(readReportFeed(Buffer.from('<feed xmlns="http://www.w3.org/2005/Atom"/>')).reports).toEqual([])
    expect(readReportFeed(Buffer.from('{"id":"https://a.example/"}')).reports).toEqual([])
  })

  test.each(['<rss/>', '{"projects":{}}', 'nothing'])('is refused when it is something else: %s', (text) => {
    expect(() => readReportFeed(Buffer.from(text))).toThrow(expect.objectContaining({ code: 'upstream-unusable' }))
  })
})
