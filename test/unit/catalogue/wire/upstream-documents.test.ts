import { setImmediate as nextTurn } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { projectList } from '../../../../src/catalogue/wire/names.js'
import { readReportFeed } from '../../../../src/catalogue/wire/read/report-feeds.js'
import {
  firstCharacter,
  idOf,
  readDownloadLink,
  readList,
  readPage,
} from '../../../../src/catalogue/wire/read/upstream-documents.js'
import type { IsoDate } from '../../../../src/kernel/dates.js'

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
  ])('is read as real servers write it: %s', async (text) => {
    expect(await page(text)).toEqual({ records: [{ id: '1' }], next: 31, numberFound: 5257 })
  })

  test.each([
    '{"projects":{"numberFound":0}}',
    '<projects numberFound="0"></projects>',
    '{"projects":{"project":[],"numberFound":0}}',
  ])('may be empty: %s', async (text) => expect(await page(text)).toEqual({ records: [], numberFound: 0 }))

  test('is the last one without a cursor, or where it says so', async () => {
    expect((await page('{"projects":{"project":[{"id":1}]}}')).next).toBeUndefined()
    expect((await page('{"projects":{"hasNext":false,"nextProjectId":31,"project":[{"id":1}]}}')).next).toBeUndefined()
    expect(await page('<projects/>')).toEqual({ records: [] })
  })

  test.each([
    ['', 'nothing'],
    ['  \n', 'nothing'],
    ['[]', 'text that begins with "["'],
    ['true', 'text that begins with "t"'],
    ['<html/>', 'a document without projects'],
    ['{"projects":[1]}', 'a document without projects'],
    ['{"projects":true}', 'a document without projects'],
    ['{"x":1}', 'a document without projects'],
    ['{"projects":', 'line 1 of the JSON document: it ends too early'],
    ['{"__proto__":{"projects":{}}}', 'JSON that is not accepted: no key of this name'],
    ['<projects>', 'the document is not readable XML: unclosed tag: projects (line 1, column 11)'],
    ['<projects>text</projects>', 'a document without projects'],
    ['{"projects":{"hasNext":true}}', 'a page that has a next one but no nextProjectId'],
    ['{"projects":{"hasNext":"true","nextProjectId":"x"}}', 'a page that has a next one but no nextProjectId'],
  ])('is refused when it is something else: %s', async (text, got) => {
    await expect(page(text)).rejects.toThrow(
      expect.objectContaining({
        code: 'upstream-unusable',
        message: `expected an answer in the wire format, got ${got}`,
      }),
    )
  })

  test.each<[string, object]>([
    ['{"projects":""}', { records: [] }],
    ['{"projects":null}', { records: [] }],
    ['{"projects":{"project":null}}', { records: [] }],
    ['{"projects":{"project":""}}', { records: [] }],
    ['{"projects":{"project":["1",{"id":1}]}}', { records: ['1', { id: '1' }] }],
    ['{"projects":{"project":"1"}}', { records: ['1'] }],
    ['{"projects":{"nextProjectId":5}}', { records: [], next: 5 }],
    ['{"projects":{"hasNext":" true ","nextProjectId":5}}', { records: [], next: 5 }],
    ['{"projects":{"hasNext":"","nextProjectId":5}}', { records: [] }],
    ['{"projects":{"nextProjectId":"5x"}}', { records: [] }],
    ['{"projects":{"nextProjectId":"x5"}}', { records: [] }],
    ['{"projects":{"nextProjectId":{"a":"5"}}}', { records: [] }],
    ['{"projects":{"numberFound":"123456789012345"}}', { records: [], numberFound: 123456789012345 }],
    ['{"projects":{"numberFound":"1234567890123456"}}', { records: [] }],
  ])('%s is %j', async (text, expected) => {
    const found = await page(text)
    expect(found).toEqual(expected)
    expect(Object.keys(found)).toEqual(Object.keys(expected))
  })
})

describe('a page of hostile size', () => {
  const many = (count: number, one: (index: number) => string, between = '') =>
    Array.from({ length: count }, (_, index) => one(index)).join(between)

  test.each([
    ['740,000 attributes', `<projects>${many(7400, () => `<p${many(100, (n) => ` a${n}="1234567"`)}/>`)}</projects>`],
    ['1.2 million keys', `{"projects":{${many(1_200_000, (index) => `"k${index}":1`, ',')}}}`],
    ['300,000 small projects', `{"projects":{"project":[${many(300_000, () => '{}', ',')}]}}`],
    ['300,000 small elements', `<projects>${'<a/>'.repeat(300_000)}</projects>`],
    ['one project of 30,000 elements', `<projects><project>${'<a/>'.repeat(30_000)}</project></projects>`],
  ])('is refused: %s', async (_what, text) => {
    await expect(page(text)).rejects.toMatchObject({
      code: 'upstream-unusable',
      message: expect.stringMatching(/200000|20000/),
    })
  })

  test('is read in turns with other work', async () => {
    const record = `<project><id>1</id><title>${'x'.repeat(60_000)}</title></project>`
    const text = `<projects>${record.repeat(50)}</projects>`
    let turns = 0
    let isReading = true
    const otherWork = (async () => {
      for (; isReading; turns++) await nextTurn()
    })()
    const { records } = await page(text)
    isReading = false
    await otherWork
    expect(records).toHaveLength(50)
    expect(turns).toBeGreaterThan(20)
  })
})

describe('other documents', () => {
  test('begin at the first character that is not blank', () => {
    expect(firstCharacter(Buffer.from('\ufeff \n<a/>'))).toBe('<')
    expect(firstCharacter(Buffer.from(`${' '.repeat(1023)}{`))).toBe('{')
    expect(firstCharacter(Buffer.from(`${' '.repeat(1024)}{`))).toBeUndefined()
  })

  test('have records with an id, readable or not', () => {
    expect(idOf({ id: ' 7 ', title: ['x'] })).toBe(7)
    for (const none of ['7', null, ['7'], {}, { id: 'x' }, { id: true }]) expect(idOf(none)).toBeUndefined()
  })

  test('a bulk link is read from both formats', async () => {
    expect(await readDownloadLink(Buffer.from('{"download":{"url":"https://a.example/x"}}'))).toBe(
      'https://a.example/x',
    )
    expect(await readDownloadLink(Buffer.from('<download><url> https://a.example/x </url></download>'))).toBe(
      'https://a.example/x',
    )
    for (const none of [
      '{"download":{}}',
      '{"download":"x"}',
      '{"download":{"url":" "}}',
      '{"download":{"url":["x"]}}',
      '{}',
    ]) {
      expect(await readDownloadLink(Buffer.from(none))).toBeUndefined()
    }
  })

  test('an empty gallery is no picture', async () => {
    expect(await readList(Buffer.from('{"images":{}}'), 'images', 'image')).toEqual([])
    expect(await readList(Buffer.from('<images></images>'), 'images', 'image')).toEqual([])
    expect(await readList(Buffer.from('<images><image id="1"/></images>'), 'images', 'image')).toEqual([{ id: '1' }])
    await expect(readList(Buffer.from('<x/>'), 'images', 'image')).rejects.toThrow('got a document without images')
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

const today = '2026-11-23' as IsoDate

describe('a report feed', () => {
  test.each([
    ['Atom', atom],
    ['JSON', JSON.stringify(json)],
    ['JSON in a feed key', JSON.stringify({ feed: json })],
  ])('is read as %s', async (_, text) => {
    expect(await readReportFeed(Buffer.from(text), today)).toEqual({
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

  test('keeps its good entries and names the others', async () => {
    const entries = [
      ...json.entries,
      { id: 'tag:no,2026:1', published: '2026-10-02T08:00:00Z' },
      { id: 'https://a.example/2' },
    ]
    const { reports, problems } = await readReportFeed(Buffer.from(JSON.stringify({ ...json, entries })), today)
    expect(reports).toHaveLength(1)
    expect(problems.map(({ field }) => field)).toEqual(['entry 2/id', 'entry 3/published'])
  })

  test.each([
    ['too long', `<p>${'x'.repeat(131_072)}</p>`, 'HTML of at most 131072 characters'],
    ['nested too deeply', '<b>'.repeat(40_000), 'HTML of at most 100 levels'],
  ])('refuses a report by its name that is %s', async (_what, content, expected) => {
    const entries = [{ ...json.entries[0], content }, ...json.entries]
    const { reports, problems } = await readReportFeed(Buffer.from(JSON.stringify({ ...json, entries })), today)
    expect(reports).toHaveLength(1)
    expect(problems).toMatchObject([{ field: 'entry 1/content', expected }])
  })

  test('without entries has no reports', async () => {
    expect((await readReportFeed(Buffer.from('<feed xmlns="http://www.w3.org/2005/Atom"/>'), today)).reports).toEqual(
      [],
    )
    expect((await readReportFeed(Buffer.from('{"id":"https://a.example/"}'), today)).reports).toEqual([])
  })

  test.each(['<rss/>', '{"projects":{}}', 'nothing'])('is refused when it is something else: %s', async (text) => {
    await expect(readReportFeed(Buffer.from(text), today)).rejects.toThrow(
      expect.objectContaining({ code: 'upstream-unusable' }),
    )
  })
})
