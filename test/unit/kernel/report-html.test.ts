import { describe, expect, it } from 'vitest'
import { reportHtmlProblem, safeHtmlOf, sanitizeReportHtml, sanitizeReports } from '../../../src/kernel/report-html.js'
import { randomFrom } from '../../support/values/random.js'

describe('the HTML of a report', () => {
  it.each([
    ['a script', '<p>a</p><script>alert(1)</script>', '<p>a</p>'],
    [
      'an event handler',
      '<img src="https://x.example/a.jpg" onerror="alert(1)">',
      '<img src="https://x.example/a.jpg" />',
    ],
    ['a javascript address', '<a href=" java\tscript:alert(1)">x</a>', '<a>x</a>'],
    ['a data address', '<img src="data:image/svg+xml;base64,AAAA">', '<img />'],
    ['an address without scheme', '<img src="//evil.example/p.gif">', '<img />'],
    ['a style', '<p style="position:fixed">a</p><style>p{}</style>', '<p>a</p>'],
    ['a frame', '<iframe src="https://x.example"></iframe>b', 'b'],
    ['a form', '<form action="https://x.example"><input name="q">c</form>', 'c'],
    ['an image that is not one', '<svg><g onload="alert(1)"></g></svg>d', 'd'],
    ['a comment', 'e<!-- f -->', 'e'],
    ['a tag that is never closed', '<p>g<script', '<p>gscript</p>'],
  ])('loses %s', (_what, html, clean) => {
    expect(sanitizeReportHtml(html)).toBe(clean)
  })

  it.each([
    '<p>Two <strong>wells</strong> &amp; a half<br />done.</p>',
    '<p dir="rtl" lang="ar">شكراً لكم جميعاً</p>',
    '<ul><li>Tools</li></ul><table><tr><td colspan="2">1</td></tr></table>',
    '<a href="https://x.example/?a=1&amp;b=2">more</a> <a href="mailto:a@x.example">write</a>',
    '<img src="/img/1.jpg" alt="a well" width="40" />',
    'plain text &lt;b&gt;',
  ])('keeps %s, and is the same when it is cleaned again', (html) => {
    expect(sanitizeReportHtml(html)).toBe(html)
    expect(sanitizeReportHtml(sanitizeReportHtml(html))).toBe(html)
  })
})

it('plain HTML is not parsed, and is what the sanitizer makes of it', () => {
  const random = randomFrom(64)
  const one = (parts: readonly string[]) => parts[Math.floor(random() * parts.length)] ?? ''
  const some = (part: () => string) => Array.from({ length: Math.floor(random() * 4) }, part).join('')
  const signs = [
    ...[' ', '\n', '\t', '\r', '\0', '"', "'", '=', '/', 'é', '\u00a0', '\u2028', '😀', '\ud800', 'amp;'],
    '&lt;',
    '&amp;',
  ]
  const text = () => some(() => one([...signs, 'words', '&gt;', '&nbsp;', '&', '&#60;', '>']))
  const inLine = (): string => {
    const name = one(['b', 'strong', 'i', 'em', 'u', 'B', 'b ', 'script'])
    return one([text(), '<br />', '<br/>', '<br>', '<br  >', `<${name}>${text()}</${name.trim()}>`])
  }
  const words = () => some(inLine)
  const block = (): string => {
    const list = one(['ul', 'ol'])
    const items = some(() => one([' ', '\n', `<li>${words()}</li>`, words()]))
    return one([
      words(),
      `<p>${words()}</p>`,
      `<${list}>${items}</${list}>`,
      `<p>${words()}<ul></ul></p>`,
      `<h2>${text()}</h2>`,
    ])
  }
  for (let tried = 0; tried < 3_000; tried++) {
    const html = some(block)
    // The last element is none of plain HTML.
    expect(`${sanitizeReportHtml(html)}<hr />`, JSON.stringify(html)).toBe(sanitizeReportHtml(`${html}<hr>`))
  }
})

const [characters, depth] = [131_072, 100]
const nested = (levels: number) => `${'<b>'.repeat(levels)}x${'</b>'.repeat(levels)}`

describe('the HTML of a report is limited', () => {
  it.each([
    ['in characters', 'x'.repeat(characters), 'x'.repeat(characters + 1), 'at most 131072 characters'],
    ['in levels', nested(depth), nested(depth + 1), 'at most 100 levels'],
  ])('%s', (_what, most, more, expected) => {
    expect(reportHtmlProblem(most)).toBeUndefined()
    expect(reportHtmlProblem(more)?.expected).toContain(expected)
  })

  it('to what open tags nest: paragraphs that are not closed do not', () => {
    expect(reportHtmlProblem('<p>one<br>'.repeat(1000))).toBeUndefined()
  })

  // Sanitizing this takes a minute.
  it('and beyond becomes text', () => {
    const html = '<b>'.repeat(250_000)
    expect(sanitizeReportHtml(html)).toBe('&lt;b&gt;'.repeat(250_000))
    expect(sanitizeReportHtml(`<b>&${'<b>'.repeat(43_000)}`)).toMatch(/^&lt;b&gt;&amp;&lt;b&gt;/)
  })
})

it('reports are sanitized once', async () => {
  const [report] = await sanitizeReports([{ contentHtml: '<p>a</p><script>x()</script>', title: 'A' }])
  expect(report).toEqual({ contentHtml: '<p>a</p>', title: 'A' })
  expect(safeHtmlOf(report ?? { contentHtml: '' })).toBe('<p>a</p>')
  expect(safeHtmlOf({ contentHtml: '<script>x()</script>b' })).toBe('b')
})
